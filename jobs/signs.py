"""Signs of life of one cluster's workers, as files beside it: who works on what until when; knows no task and no text.

Files and not rows: they belong to this machine's cluster alone, and a database that is away is no wedged queue.
"""

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

VARIABLE: Final = "MEMORYPROJECT_SIGNS"  # names the folder to the workers
_LIFE: Final = "life"


@contextlib.contextmanager
def at_work(seconds: float) -> Iterator[None]:
    """Show that this worker is busy, for at most so many seconds; without a supervisor it does nothing."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        yield
        return
    busy = Path(folder) / f"busy-{os.getpid()}"
    with contextlib.suppress(OSError):
        busy.write_text(str(time.time() + seconds))
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            (busy.parent / _LIFE).touch()
            busy.unlink()


class Signs:
    """The supervisor's side: a folder that is made anew with each cluster."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="memoryproject-signs-"))
        self._made_at = time.time()

    def begun(self) -> bool:
        """Whether a worker has done anything yet."""
        return (self.folder / _LIFE).exists()

    def quiet_seconds(self) -> float:
        """Return for how long nothing has been done; 0 while a worker is at work on something it may still be at."""
        now = time.time()
        for path in self.folder.glob("busy-*"):
            with contextlib.suppress(OSError, ValueError):
                if float(path.read_text()) > now and _alive(int(path.name.partition("-")[2])):
                    return 0.0
        last = self._made_at
        with contextlib.suppress(FileNotFoundError):
            last = (self.folder / _LIFE).stat().st_mtime
        return max(0.0, now - last)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
