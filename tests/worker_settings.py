"""The settings of real worker processes in tests: a scratch database and short waits; tests/worker_app.py does more."""

import os

from tests.settings import *  # noqa: F403
from tests.settings import DATABASES, INSTALLED_APPS, Q_CLUSTER

DATABASES["default"]["NAME"] = os.environ["TEST_DATABASE"]
EXTRACTION_LEASE_SECONDS = int(os.environ.get("TEST_LEASE", "2"))
WORKERS = int(os.environ.get("TEST_WORKERS", "2"))
Q_CLUSTER = {**Q_CLUSTER, "workers": WORKERS, "queue_limit": WORKERS, "poll": 0.05, "guard_cycle": 0.2}
INSTALLED_APPS = [*INSTALLED_APPS, "tests.worker_app.WorkerApp"]
