"""What this process keeps for a while, by organization; knows neither keys nor how they are unwrapped."""

import uuid
from dataclasses import dataclass, field
from threading import Lock
from typing import Any


@dataclass(slots=True)
class Kept:
    """Values with the instant (of the caller's clock, in seconds) at which they end. Safe between threads."""

    _values: dict[uuid.UUID, tuple[float, Any]] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def get(self, organization_id: uuid.UUID, now: float) -> Any:
        """Return what is kept, or None."""
        with self._lock:
            until, value = self._values.get(organization_id, (now, None))
        return value if until > now else None

    def put(self, organization_id: uuid.UUID, value: Any, *, until: float) -> None:
        with self._lock:
            self._values[organization_id] = (until, value)

    def forget(self, organization_id: uuid.UUID | None = None) -> None:
        """Drop what is kept of one organization, or everything."""
        with self._lock:
            if organization_id is None:
                self._values.clear()
            else:
                self._values.pop(organization_id, None)


UNWRAPPED = Kept()  # the unwrapped keys; a module of its own, so that erasure drops them without reaching decryption
