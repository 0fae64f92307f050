"""One fact of the Memory tab in words (F09): status, meaning, instants and sources. Reads and writes nothing."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from typing import Final

from django.utils import dateformat, timezone
from django.utils.formats import get_format
from django.utils.functional import Promise
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from facts.models import Fact
from facts.services import ListedFact

_WORDS: Final[Mapping[str, Promise | str]] = {
    **{status.value: status.label for status in Fact.Status},
    "expired": gettext_lazy("Expired"),
    "paused": gettext_lazy("Active, paused"),
}
_ALONE: Final = gettext_lazy(
    "Not used: the fact it disagreed with is no longer there. To use this one, edit it; saving the same text changes "
    "nothing. You can also delete it or leave it."
)


@dataclass(frozen=True, slots=True)
class Moment:
    """An instant in the member's zone and language: for machines, to the minute, the zone's name, and as a day."""

    iso: str
    exact: str
    zone: str
    day: str


@dataclass(frozen=True, slots=True)
class Source:
    """One cited message and when it was sent; both are empty when it was removed or the member may not read it."""

    url: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One listed fact; `shown_as` is its status, or `expired` or `paused`, for words, icon and color.

    `label` and `body` are empty when the fact cannot be decrypted.
    """

    id: uuid.UUID
    listed: ListedFact
    shown_as: str
    readable: bool
    editable: bool
    edited: bool
    kind: str
    label: str
    body: str
    meaning: str
    since: Moment
    expires: Moment
    expires_in: str
    percent: str
    sources: tuple[Source, ...]

    @property
    def id_text(self) -> str:
        return str(self.id)

    @property
    def word(self) -> str:
        return str(_WORDS[self.shown_as])

    @property
    def status(self) -> str:
        """The status by which the list is filtered."""
        return "expired" if self.listed.expired else self.listed.row.status


class Calendar:
    """Says aware instants in the current zone and language; a day, which many instants share, is said once."""

    def __init__(self) -> None:
        self._day, self._exact = str(get_format("DATE_FORMAT")), str(get_format("DATETIME_FORMAT"))
        self._days: dict[date, str] = {}
        self.moment = cache(self._moment)

    def _moment(self, at: datetime) -> Moment:
        local = timezone.localtime(at)
        day = self._days.get(local.date())
        if day is None:
            day = self._days[local.date()] = dateformat.format(local, self._day)
        if self._exact.startswith(self._day):  # as in most languages; only the time is left to say
            exact = day + dateformat.format(local, self._exact.removeprefix(self._day))
        else:
            exact = dateformat.format(local, self._exact)
        return Moment(local.isoformat(timespec="seconds"), exact, local.tzname() or "", day)


@dataclass(frozen=True, slots=True)
class Speaker:
    """Says facts in the language and zone of one request, and what many of them share only once."""

    now: datetime
    acts: bool  # memory is on and can be used
    may_edit: bool
    kinds: Mapping[str, str]
    calendar: Calendar

    @classmethod
    def of_request(cls, *, now: datetime, acts: bool, may_edit: bool) -> "Speaker":
        kinds = {kind.value: str(kind.label) for kind in Fact.Type}
        return cls(now, acts, may_edit, kinds, Calendar())

    def row(self, fact: ListedFact, sides: Sequence[ListedFact], sources: tuple[Source, ...]) -> Row:
        """Return the fact in words; `sides` are the live facts of its key, itself among them."""
        row, opened = fact.row, fact.opened
        shown_as, meaning = self._use(fact, sides)
        return Row(
            id=row.pk,
            listed=fact,
            shown_as=shown_as,
            readable=opened is not None,
            editable=self.may_edit and not fact.expired and opened is not None,
            edited=row.supersedes_id is not None,
            kind=self.kinds[row.memory_type],
            label=opened.label if opened else "",
            body=opened.body if opened else "",
            meaning=meaning,
            since=self.calendar.moment(row.created_at),
            expires=self.calendar.moment(row.expires_at),
            expires_in=_expires_in(row.expires_at - self.now),
            percent=str(round(row.confidence * 100)),
            sources=sources,
        )

    def _use(self, fact: ListedFact, sides: Sequence[ListedFact]) -> tuple[str, str]:
        """Return as what the fact is shown, and whether it is used, in a sentence."""
        if fact.expired:
            return "expired", _("Not used: it has expired and is removed tonight.")
        if fact.row.status != "active":
            return fact.row.status, _disagreement(fact, sides)
        if fact.opened is None:
            return "paused", _unreadable(fact)
        if not self.acts:
            return "paused", _("Not used now: memory is off.")
        return "active", _("Used in your next conversations with this agent.")


def _unreadable(fact: ListedFact) -> str:
    """Tell a missing key, which may come back, from a record that does not open though the key is there."""
    if fact.key_problem:
        return _("Not used: it cannot be decrypted now.")
    return _("Not used: its stored record does not open, though the key is there. Tell the operator.")


def _disagreement(fact: ListedFact, sides: Sequence[ListedFact]) -> str:
    """Say what a fact that was set aside disagrees with, in the words of the others."""
    others = [other for other in sides if other.row.pk != fact.row.pk]
    if not others:
        return str(_ALONE)
    first = others[0].opened
    quoted = f"“{Truncator(first.body).chars(80)}”" if first else _("a fact that cannot be decrypted now")
    more = len(others) - 1
    if not more:
        return _("Not used: it disagrees with %(fact)s") % {"fact": quoted}
    say = ngettext(
        "Not used: it disagrees with %(fact)s and %(n)d other",
        "Not used: it disagrees with %(fact)s and %(n)d others",
        more,
    )
    return say % {"fact": quoted, "n": more}


def _expires_in(left: timedelta) -> str:
    if left <= timedelta(0):
        return _("expired, removed tonight")
    if left.days == 0:
        return _("in less than a day")
    return ngettext("in %(days)d day", "in %(days)d days", left.days) % {"days": left.days}
