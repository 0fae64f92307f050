"""What the Memory tab shows (F09): rows with words, expiry, sources and what disagrees with what. Writes nothing."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from urllib.parse import urlsplit

from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.models import User
from agents.access import AgentAccess
from agents.models import Agent, Provider
from consent.gate import kill_switch_on
from consent.scope import Scope
from consent.services import TEXT_VERSION, consent_of
from conversations.access import sessions_for
from conversations.models import Message
from facts.models import LIFETIME, TOMBSTONE_KEPT
from facts.rows import Calendar, Row, Source, Speaker
from facts.selection import Choice, Selection
from facts.services import MAX_BODY, MAX_LIVE, ListedFact, list_facts


class State(StrEnum):
    """Where the member's consent stands."""

    NEVER = "never"
    GRANTED = "granted"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class Group:
    """Facts shown together: one alone, or all live ones of one key, with the choices the member has."""

    rows: tuple[Row, ...]
    title: str = ""
    choices: str = ""


@dataclass(frozen=True, slots=True)
class Tab:
    """The whole page, for one member and one agent. `rows` are all facts, `groups` those of the chosen view."""

    agent: Agent
    state: State
    since: datetime | None
    text_version: int | None  # of the consent text that she agreed to last
    kill_switch: bool
    may_update: bool
    rows: tuple[Row, ...]
    groups: tuple[Group, ...]
    selection: Selection
    now: datetime
    limit: int = MAX_LIVE
    lifetime_days: int = LIFETIME.days
    kept_days: int = TOMBSTONE_KEPT.days
    max_body: int = MAX_BODY
    current_text_version: int = TEXT_VERSION

    @property
    def granted(self) -> bool:
        return self.state == State.GRANTED

    @property
    def may_edit(self) -> bool:
        return self.may_update and self.granted and not self.kill_switch

    @property
    def closed(self) -> str:
        """Why nothing may be edited, as a code of the gate; empty where that is for want of a permission."""
        if self.kill_switch:
            return "kill_switch"
        return {State.NEVER: "no_consent", State.WITHDRAWN: "withdrawn", State.GRANTED: ""}[self.state]

    @property
    def provider(self) -> str:
        """Where the model is reached, in words for a member; empty when the text never leaves this deployment."""
        if self.agent.provider.kind == Provider.Kind.OFFLINE:
            return ""
        return urlsplit(self.agent.provider.base_url).hostname or ""

    @property
    def shown(self) -> int:
        """How many facts the chosen view shows, those included that stand beside one they disagree with."""
        return sum(len(group.rows) for group in self.groups)

    @property
    def used(self) -> int:
        """How many facts count against the limit; an expired one holds no place (F06)."""
        return sum(not row.listed.expired for row in self.rows)

    @property
    def key_problem(self) -> str:
        """The code of what is wrong with the organization's key, or empty."""
        return next((row.listed.key_problem for row in self.rows if row.listed.key_problem), "")

    @property
    def removed_at(self) -> datetime:
        """From when on the row of a fact that is deleted now may be removed."""
        return self.now + TOMBSTONE_KEPT

    def _kinds(self) -> list[tuple[str, str]]:
        return [(row.status, row.listed.row.memory_type) for row in self.rows]

    @property
    def statuses(self) -> tuple[Choice, ...]:
        return self.selection.statuses(self._kinds())

    @property
    def types(self) -> tuple[Choice, ...]:
        return self.selection.types(self._kinds())

    def row(self, fact_id: uuid.UUID | None) -> Row | None:
        return next((row for row in self.rows if row.id == fact_id), None)


def scope_of(user: User, agent: Agent) -> Scope:
    """Return the scope of the signed-in member herself; there is no other on this page (F02)."""
    return Scope(agent.organization_id, user.pk, agent.pk)


def read_tab(user: User, access: AgentAccess, *, now: datetime, selection: Selection | None = None) -> Tab:
    """Read the page in a constant number of queries; without a selection, the plain list."""
    scope, selection = scope_of(user, access.agent), selection or Selection()
    consent = consent_of(scope)
    state = State.NEVER if consent is None else State.GRANTED if consent.granted else State.WITHDRAWN
    switched_off = kill_switch_on()
    acts = state == State.GRANTED and not switched_off
    may_edit = access.may("agent:update") and acts
    listed = list_facts(scope, now=now)
    sources = _sources(user, access.agent, {source for fact in listed for source in fact.row.source_ids})
    sides = _sides(listed)
    speaker = Speaker.of_request(now=now, acts=acts, may_edit=may_edit)
    gone = Source()
    rows = tuple(
        speaker.row(
            fact, sides.get(_slot(fact), ()), tuple(sources.get(source, gone) for source in fact.row.source_ids)
        )
        for fact in listed
    )
    return Tab(
        agent=access.agent,
        state=state,
        since=None if consent is None else consent.granted_at if consent.granted else consent.withdrawn_at,
        text_version=None if consent is None else consent.text_version,
        kill_switch=switched_off,
        may_update=access.may("agent:update"),
        rows=rows,
        groups=_groups(rows, sides, selection, may_edit=may_edit),
        selection=selection,
        now=now,
    )


def _sources(user: User, agent: Agent, message_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, Source]:
    """Return those messages that still exist in a live session that the member may read."""
    found = Message.objects.filter(pk__in=list(message_ids), session__in=sessions_for(user, agent))
    organization, address, calendar = agent.organization.slug, cache(reverse), Calendar()
    sources = {}
    for message, session, at in found.values_list("pk", "session_id", "at"):
        page = address("chat-session", args=(organization, agent.slug, session))
        sources[message] = Source(f"{page}#message-{message}", calendar.moment(at).exact)
    return sources


# --- what disagrees with what -----------------------------------------------------------------------------------------

type Sides = Mapping[bytes, Sequence[ListedFact]]


def _slot(fact: ListedFact) -> bytes:
    """Return what disagreeing facts share: the key, whatever their types (E05)."""
    return bytes(fact.row.key_hash)


def _sides(listed: Iterable[ListedFact]) -> Sides:
    """Group live, unexpired facts by key: the active one first, then the oldest."""
    sides: dict[bytes, list[ListedFact]] = {}
    for fact in listed:
        if not fact.expired:
            sides.setdefault(_slot(fact), []).append(fact)
    for group in sides.values():
        group.sort(key=lambda fact: (fact.row.status != "active", fact.row.created_at, fact.row.pk))
    return sides


def _groups(rows: Sequence[Row], sides: Sides, selection: Selection, *, may_edit: bool) -> tuple[Group, ...]:
    """Put facts that share a key together, and keep the groups in which one matches the selection."""
    if selection.order == "key":
        rows = sorted(rows, key=lambda row: row.listed.opened.label.casefold() if row.listed.opened else "\U0010ffff")
    by_id = {row.id: row for row in rows}
    groups, placed = [], set[uuid.UUID]()
    for row in rows:
        if row.id in placed:
            continue
        together = () if row.listed.expired else sides[_slot(row.listed)]
        members = tuple(by_id[fact.row.pk] for fact in together) if len(together) > 1 else (row,)
        placed.update(member.id for member in members)
        if any(selection.matches(member.status, member.listed.row.memory_type) for member in members):
            groups.append(_group(members, may_edit=may_edit))
    return tuple(groups)


def _group(rows: tuple[Row, ...], *, may_edit: bool) -> Group:
    if len(rows) == 1:
        return Group(rows)
    statuses = [row.listed.row.status for row in rows]
    if set(statuses) == {"active"}:
        return Group(
            rows,
            _("These facts have the same key, and all of them are active"),
            _("If they cannot all be right, delete what is wrong."),
        )
    title = _("These facts disagree") if "active" in statuses else _("These facts disagree, and none is active")
    delete = _("Deleting one does not make another active.")
    if may_edit:
        edit = _("Edit one: its new text becomes active, beside any other active one. Delete what is wrong.")
        return Group(rows, title, f"{edit} {delete} {_('Or leave it: nothing changes by itself until they expire.')}")
    return Group(rows, title, f"{delete} {_('Editing is possible only while memory is on and you may change it.')}")
