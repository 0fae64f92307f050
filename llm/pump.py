"""Reads a stream of chunks in a thread, so that whoever passes them on can do something else while none comes."""

import contextlib
import queue
import threading
from collections.abc import Generator, Iterator
from typing import Final

from llm.client import Abortable, Chunk

_END: Final = object()


def pumped(chunks: Iterator[Chunk], *, every: float) -> Generator[Chunk | None]:
    """Yield what `chunks` yields, and None whenever nothing has come for `every` seconds. Raises what `chunks` raises.

    Closing the generator ends the call at once, also while the other side is silent. The thread must not use the
    database: it would hold a connection that nobody gives back.
    """
    arrived: queue.SimpleQueue[object] = queue.SimpleQueue()
    closed = threading.Event()

    def read() -> None:
        last: object = _END
        try:
            for chunk in chunks:
                if closed.is_set():
                    break
                arrived.put(chunk)
        except BaseException as error:  # handed to whoever reads
            last = error
        finally:
            arrived.put(last)
            close = getattr(chunks, "close", None)
            with contextlib.suppress(Exception):
                if close is not None:
                    close()

    threading.Thread(target=read, name="model-stream", daemon=True).start()
    try:
        while True:
            try:
                item = arrived.get(timeout=every)
            except queue.Empty:
                yield None
                continue
            if isinstance(item, BaseException):
                raise item
            if not isinstance(item, Chunk):
                return
            yield item
    finally:
        closed.set()
        if isinstance(chunks, Abortable):
            chunks.abort()
