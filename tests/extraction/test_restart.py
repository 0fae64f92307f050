"""E07: PostgreSQL is stopped hard and started again while a run is under way, on a data folder of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lifecycle import postgres

pytestmark = pytest.mark.processes


def test_e07_a_run_survives_a_restart_of_postgresql(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("restart")
    with postgres.lease(folder) as url:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("DJANGO_")}
        own = {"DATABASE_URL": url, "MEMORYPROJECT_DATA_DIR": str(folder), "TEST_DATABASE": "memoryproject"}
        done = subprocess.run(
            [sys.executable, "-m", "tests.extraction.restarter", str(folder)],
            cwd=Path(__file__).parents[2],
            env=kept | own | {"DJANGO_SETTINGS_MODULE": "tests.worker_settings"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-4000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {"state": "done", "facts": 2, "refused": True}
