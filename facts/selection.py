"""The views of the fact list, by status, type and order, read from an address and written to one; no search (F12)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Self
from urllib.parse import urlencode

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from facts.models import Fact

STATUSES: Final[dict[str, Promise | str]] = {
    "active": Fact.Status.ACTIVE.label,
    "conflict": Fact.Status.CONFLICT.label,
    "pending": Fact.Status.PENDING.label,
    "expired": _("Expired"),
}
TYPES: Final[dict[str, Promise | str]] = {kind.value: kind.label for kind in Fact.Type}
ORDERS: Final[dict[str, Promise | str]] = {"newest": _("Newest first"), "key": _("By key")}


@dataclass(frozen=True, slots=True)
class Choice:
    """One link of a row of filters; `count` is how many facts it would show, None for an order."""

    label: Promise | str
    query: str
    current: bool
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Selection:
    """What the member chose to see; empty means all. Unknown words in an address count as no choice."""

    status: str = ""
    memory_type: str = ""
    order: str = "newest"

    @classmethod
    def read(cls, query: Mapping[str, str]) -> Self:
        status, kind, order = query.get("status", ""), query.get("type", ""), query.get("order", "")
        return cls(
            status if status in STATUSES else "",
            kind if kind in TYPES else "",
            order if order in ORDERS else "newest",
        )

    @property
    def narrows(self) -> bool:
        return bool(self.status or self.memory_type)

    @property
    def query(self) -> str:
        """The end of an address, with its question mark; empty for the plain list."""
        parts = {
            "status": self.status,
            "type": self.memory_type,
            "order": "" if self.order == "newest" else self.order,
        }
        text = urlencode({name: value for name, value in parts.items() if value})
        return f"?{text}" if text else ""

    def matches(self, status: str, memory_type: str) -> bool:
        return self.status in ("", status) and self.memory_type in ("", memory_type)

    def statuses(self, facts: Iterable[tuple[str, str]]) -> tuple[Choice, ...]:
        """Return the filters by status for facts given as (status, type); each counts within the chosen type."""
        found = [status for status, kind in facts if self.memory_type in ("", kind)]
        return self._filters(STATUSES, found, self.status, lambda value: replace(self, status=value))

    def types(self, facts: Iterable[tuple[str, str]]) -> tuple[Choice, ...]:
        """Return the filters by type for facts given as (status, type); each counts within the chosen status."""
        found = [kind for status, kind in facts if self.status in ("", status)]
        return self._filters(TYPES, found, self.memory_type, lambda value: replace(self, memory_type=value))

    def orders(self) -> tuple[Choice, ...]:
        return tuple(
            Choice(label, replace(self, order=order).query, current=order == self.order)
            for order, label in ORDERS.items()
        )

    def _filters(
        self,
        labels: Mapping[str, Promise | str],
        found: list[str],
        chosen: str,
        choose: Callable[[str], "Selection"],
    ) -> tuple[Choice, ...]:
        every = Choice(_("All"), choose("").query, current=not chosen, count=len(found))
        return (
            every,
            *(
                Choice(label, choose(value).query, current=value == chosen, count=found.count(value))
                for value, label in labels.items()
            ),
        )
