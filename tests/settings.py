"""The settings of the test run: a cluster of its own, cheap password hashes, a fixed keyring."""

import atexit
import os

from lifecycle import postgres

LEASE = postgres.lease_for_tests()
os.environ.setdefault("MEMORYPROJECT_DATA_DIR", str(postgres.cache_dir() / "tests-data"))
os.environ.setdefault("DATABASE_URL", LEASE.url)
os.environ["MEMORYPROJECT_MODE"] = "local"
os.environ["MEMORYPROJECT_SECRET_KEY"] = "a fixed key for tests, long enough to be accepted by all that look at it"
os.environ["MEMORYPROJECT_ALLOW_PRIVATE_PROVIDERS"] = "1"
os.environ["MEMORYPROJECT_LOG_LEVEL"] = "INFO"
os.environ.pop("AGENT_MEMORY_KILL_SWITCH", None)
os.environ["MEMORYPROJECT_KEYRING"] = (
    '{"primary": "kek-test", "keys": {"kek-test": '
    '{"key": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", "check": "%s"}}}'
)
from encryption.keys import check_value  # noqa: E402

os.environ["MEMORYPROJECT_KEYRING"] %= check_value(bytes(range(32)))

from memoryproject.settings import *  # noqa: E402, F403

# Several runs may share the cluster; conftest.py drops what killed runs left.
DATABASES["default"]["TEST"] = {"NAME": f"test_memoryproject_{os.getpid()}"}  # noqa: F405
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
ERASURE_LEDGER = DATA_DIR / f"erasures-{os.getpid()}.jsonl"  # noqa: F405  # of tests that name none of their own
atexit.register(ERASURE_LEDGER.unlink, missing_ok=True)
AXES_ENABLED = False
RATE_KEY = RATE_ORGANIZATION = RATE_FAILED_KEYS = 0
