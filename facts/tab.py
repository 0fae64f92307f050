"""What the Memory tab shows (F09): rows with words, expiry and links to their sources. Writes nothing."""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.models import User
from agents.access import AgentAccess
from agents.models import Agent, Provider
from consent.gate import kill_switch_on
from consent.scope import Scope
from consent.services import consent_of
from conversations.access import sessions_for
from conversations.models import Message
from facts.models import LIFETIME
from facts.services import MAX_LIVE, ListedFact, list_facts


class State(StrEnum):
    """Where the member's consent stands."""

    NEVER = "never"
    GRANTED = "granted"
    WITHDRAWN = "withdrawn"


_MEANING: Final[dict[str, Promise]] = {
    "active": gettext_lazy("Used in your next conversations with this agent."),
    "pending": gettext_lazy(
        "Not used: you said things at the same time that disagree with each other. "
        "To use this one, edit it to say what is right; delete what is wrong."
    ),
    "conflict": gettext_lazy(
        "Not used: it disagrees with a fact that was there before. "
        "To use this one, edit it to say what is right; delete what is wrong."
    ),
}


@dataclass(frozen=True, slots=True)
class Source:
    """One cited message; `url` is empty when it was removed or the member may no longer read it."""

    url: str


@dataclass(frozen=True, slots=True)
class Row:
    """One listed fact; `shown_as` is its status, or `expired` or `paused`, for words, icon and color."""

    listed: ListedFact
    shown_as: str
    meaning: str
    percent: int
    expires_in: str
    sources: tuple[Source, ...]
    editable: bool

    @property
    def id(self) -> uuid.UUID:
        return self.listed.row.pk


@dataclass(frozen=True, slots=True)
class Tab:
    """The whole page, for one member and one agent."""

    agent: Agent
    state: State
    since: datetime | None
    kill_switch: bool
    may_update: bool
    rows: tuple[Row, ...]
    limit: int = MAX_LIVE
    lifetime_days: int = LIFETIME.days

    @property
    def granted(self) -> bool:
        return self.state == State.GRANTED

    @property
    def provider(self) -> str:
        """Where the model is reached, in words for a member; empty when the text never leaves this deployment."""
        if self.agent.provider.kind == Provider.Kind.OFFLINE:
            return ""
        return urlsplit(self.agent.provider.base_url).hostname or ""

    def row(self, fact_id: uuid.UUID) -> Row | None:
        return next((row for row in self.rows if row.id == fact_id), None)


def scope_of(user: User, agent: Agent) -> Scope:
    """Return the scope of the signed-in member herself; there is no other on this page (F02)."""
    return Scope(agent.organization_id, user.pk, agent.pk)


def read_tab(user: User, access: AgentAccess, *, now: datetime) -> Tab:
    """Read the page in a constant number of queries."""
    scope = scope_of(user, access.agent)
    consent = consent_of(scope)
    state = State.NEVER if consent is None else State.GRANTED if consent.granted else State.WITHDRAWN
    switched_off = kill_switch_on()
    acts = state == State.GRANTED and not switched_off
    may_update = access.may("agent:update")
    listed = list_facts(scope, now=now)
    urls = _message_urls(user, access.agent, {source for fact in listed for source in fact.row.source_ids})
    return Tab(
        agent=access.agent,
        state=state,
        since=None if consent is None else consent.granted_at if consent.granted else consent.withdrawn_at,
        kill_switch=switched_off,
        may_update=may_update,
        rows=tuple(_row(fact, urls, acts=acts, editable=may_update and acts, now=now) for fact in listed),
    )


def _message_urls(user: User, agent: Agent, message_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, str]:
    """Return the addresses of those messages that still exist in a live session that the member may read."""
    found = Message.objects.filter(pk__in=list(message_ids), session__in=sessions_for(user, agent))
    organization = agent.organization.slug
    return {
        message: f"{reverse('chat-session', args=[organization, agent.slug, session])}#message-{message}"
        for message, session in found.values_list("pk", "session_id")
    }


def _row(fact: ListedFact, urls: Mapping[uuid.UUID, str], *, acts: bool, editable: bool, now: datetime) -> Row:
    row = fact.row
    if fact.expired:
        shown_as, meaning = "expired", _("Not used: it has expired and is removed tonight.")
    elif fact.opened is None and row.status == "active":
        shown_as, meaning = "paused", _("Not used: it cannot be decrypted now.")
    elif row.status == "active" and not acts:
        shown_as, meaning = "paused", _("Not used now: memory is off.")
    else:
        shown_as, meaning = row.status, str(_MEANING[row.status])
    return Row(
        listed=fact,
        shown_as=shown_as,
        meaning=meaning,
        percent=round(row.confidence * 100),
        expires_in=_expires_in(row.expires_at - now),
        sources=tuple(Source(urls.get(source, "")) for source in row.source_ids),
        editable=editable and not fact.expired and fact.opened is not None,
    )


def _expires_in(left: timedelta) -> str:
    if left <= timedelta(0):
        return _("expired, removed tonight")
    if left.days == 0:
        return _("in less than a day")
    return ngettext("in %(days)d day", "in %(days)d days", left.days) % {"days": left.days}
