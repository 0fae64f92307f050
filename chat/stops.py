"""Looks whether somebody asked a turn to stop, for all turns that this process answers in one statement (C03)."""

import threading
import uuid
from datetime import datetime
from typing import Final

from conversations.access import replies_to_end

STOP_CHECK_SECONDS: Final = 0.5


class Stops:
    """The turns whose replies this process awaits. With a look of its own each, hundreds would fill the database."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._awaited: set[uuid.UUID] = set()
        self._asked: set[uuid.UUID] = set()
        self._looked_at: datetime | None = None

    def watch(self, turn_id: uuid.UUID, *, now: datetime) -> None:
        with self._lock:
            if not self._awaited:
                self._looked_at = now
            self._awaited.add(turn_id)

    def forget(self, turn_id: uuid.UUID) -> None:
        with self._lock:
            self._awaited.discard(turn_id)
            self._asked.discard(turn_id)

    def asked(self, turn_id: uuid.UUID, *, now: datetime) -> bool:
        """Whether a watched turn shall stop: it was asked to, or its session's owner has no access any more.

        The first one to ask after a while looks for all.
        """
        with self._lock:
            last = self._looked_at
            due = last is None or abs((now - last).total_seconds()) >= STOP_CHECK_SECONDS
            if due:
                self._looked_at = now
            awaited = list(self._awaited) if due else []
        if due:
            found = replies_to_end(awaited, now=now)
            with self._lock:
                self._asked |= found & self._awaited
        return turn_id in self._asked


STOPS: Final = Stops()
