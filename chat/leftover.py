"""Goes on with replies whose reader has gone, so that a reloaded page finds them whole (C03). Starts no turn."""

import inspect
import threading
from collections.abc import Callable, Generator
from typing import Final

import structlog

from chat.services import release_connection
from llm.client import Chunk, ModelError

log = structlog.get_logger(__name__)

MOST: Final = 32  # of one process at a time; beyond that a turn ends with its reader
_room = threading.BoundedSemaphore(MOST)


def carry_on(chunks: Generator[Chunk]) -> None:
    """Read a reply to its end in a thread; a stop request still ends it, as does a failure. One at its end is left."""
    if inspect.getgeneratorstate(chunks) == inspect.GEN_CLOSED:
        return
    if not _room.acquire(blocking=False):
        chunks.close()
        return

    def read() -> None:
        try:
            for _chunk in chunks:
                pass
        except ModelError:
            pass  # the turn says so
        except Exception as error:
            log.error("leftover_crashed", exc_info=error)
        finally:
            release_connection()
            _room.release()

    _start(read)


def _start(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="reply-without-reader", daemon=True).start()
