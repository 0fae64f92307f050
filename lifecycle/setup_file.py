"""Applies a declarative set-up file, idempotently: what is there is changed to match, nothing is removed."""

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction

from accounts.models import MAX_TRANSCRIPT_DAYS, Membership, Organization, User
from accounts.services import (
    LastOwner,
    TranscriptDays,
    UnknownLanguage,
    UnknownTimeZone,
    create_organization,
    create_user,
    set_membership,
    set_transcript_days,
)
from agents.addresses import BadProvider
from agents.models import Agent, Provider
from agents.permissions import CODENAMES, grant
from agents.services import get_or_create_provider, save_agent
from screening.text import UnacceptableText

SLUG_HELP: Final = "lower-case letters, digits and hyphens"


class BadSetup(Exception):
    """The file cannot be applied; the message names the entry and what to do. Nothing was applied."""


@dataclass(frozen=True, slots=True)
class SignIn:
    """A user of the file and the password to show, when the file itself names it."""

    email: str
    password: str | None


@dataclass(slots=True)
class Applied:
    """What the file describes, as rows."""

    organizations: dict[str, Organization] = field(default_factory=dict)
    users: dict[str, User] = field(default_factory=dict)
    agents: list[Agent] = field(default_factory=list)
    sign_ins: list[SignIn] = field(default_factory=list)


def read_setup(path: Path) -> dict[str, Any]:
    """Parse the file. Raises BadSetup."""
    try:
        return tomllib.loads(path.read_text())
    except OSError as error:
        raise BadSetup(f"{path} cannot be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSetup(f"{path} is not valid TOML: {error}.") from None


@transaction.atomic
def apply_setup(data: Mapping[str, Any]) -> Applied:
    """Apply organizations, users, memberships, agents and grants, all or nothing. Raises BadSetup."""
    kinds: dict[str, Callable[[Entry, Applied], None]] = {
        "organization": _organization,
        "user": _user,
        "membership": _membership,
        "agent": _agent,
        "grant": _grant,
    }
    unknown = set(data) - set(kinds)
    if unknown:
        raise BadSetup(f"Unknown table [[{sorted(unknown)[0]}]]; use one of: {', '.join(kinds)}.")
    applied = Applied()
    for kind, apply in kinds.items():
        entries = data.get(kind, [])
        if not isinstance(entries, list):
            raise BadSetup(f"Write [[{kind}]] with two brackets.")
        for number, values in enumerate(entries, start=1):
            entry = Entry(kind, number, dict(values))
            try:
                apply(entry, applied)
            except (BadProvider, UnacceptableText, UnknownLanguage, UnknownTimeZone) as error:
                raise entry.bad(str(error)) from None
            except LastOwner:
                raise entry.bad(
                    "this would leave the organization without an owner; make somebody else owner first."
                ) from None
            entry.check_all_read()
    return applied


class Entry:
    """One table of the file; remembers which names were read, so that a misspelled one is an error."""

    def __init__(self, kind: str, number: int, values: dict[str, Any]) -> None:
        self._kind, self._number, self._values = kind, number, values
        self._read: set[str] = set()

    def bad(self, why: str) -> BadSetup:
        return BadSetup(f"[[{self._kind}]] number {self._number}: {why}")

    def text(self, name: str, default: str | None = None) -> str:
        self._read.add(name)
        value = self._values.get(name, default)
        if value is None:
            raise self.bad(f"'{name}' is missing.")
        if not isinstance(value, str):
            raise self.bad(f"'{name}' must be text.")
        return value

    def flag(self, name: str) -> bool:
        self._read.add(name)
        value = self._values.get(name, False)
        if not isinstance(value, bool):
            raise self.bad(f"'{name}' must be true or false.")
        return value

    def number(self, name: str) -> int:
        self._read.add(name)
        value = self._values[name]
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.bad(f"'{name}' must be a whole number, without quotes.")
        return value

    def texts(self, name: str) -> list[str]:
        self._read.add(name)
        value = self._values.get(name)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.bad(f"'{name}' must be a list of texts.")
        return value

    def slug(self, name: str = "slug") -> str:
        value = self.text(name)
        if not value or len(value) > 63 or not all(c.isascii() and (c.isalnum() or c in "-_") for c in value):
            raise self.bad(f"'{name}' must be 1 to 63 characters: {SLUG_HELP}.")
        return value

    def has(self, name: str) -> bool:
        return name in self._values

    def check_all_read(self) -> None:
        unknown = set(self._values) - self._read
        if unknown:
            raise self.bad(f"'{sorted(unknown)[0]}' is not known here; check the spelling.")


def _organization(entry: Entry, applied: Applied) -> None:
    slug, name = entry.slug(), entry.text("name", "")
    organization = Organization.objects.filter(slug=slug, deleted_at__isnull=True).first()
    organization = organization or create_organization(slug=slug, name=name or slug)
    if entry.has("transcript_days"):
        try:
            set_transcript_days(organization=organization, days=entry.number("transcript_days"), actor=None)
        except TranscriptDays:
            raise entry.bad(
                f"'transcript_days' must be 1 to {MAX_TRANSCRIPT_DAYS}; leave it out to keep conversations."
            ) from None
    applied.organizations[slug] = organization


def _find_organization(entry: Entry, slug: str, applied: Applied) -> Organization:
    organization = (
        applied.organizations.get(slug) or Organization.objects.filter(slug=slug, deleted_at__isnull=True).first()
    )
    if organization is None:
        raise entry.bad(f"there is no organization '{slug}'.")
    return organization


def _find_user(entry: Entry, applied: Applied) -> User:
    email = entry.text("user")
    user = applied.users.get(email.lower()) or User.objects.with_email(email).first()
    if user is None:
        raise entry.bad(f"there is no user '{email}'.")
    return user


def _user(entry: Entry, applied: Applied) -> None:
    email = entry.text("email")
    if "@" not in email:
        raise entry.bad("'email' is no e-mail address.")
    password, shown = _password(entry)
    staff, name, zone = entry.flag("staff"), entry.text("name", ""), entry.text("time_zone", "UTC")
    language = entry.text("language", "en")
    user = User.objects.with_email(email).first()
    if user is None:
        _check_password(entry, password, User(email=email, name=name))
        user = create_user(email=email, name=name, password=password, staff=staff, time_zone=zone, language=language)
    applied.users[email.lower()] = user
    applied.sign_ins.append(SignIn(email, shown))


def _password(entry: Entry) -> tuple[str, str | None]:
    if entry.has("password_env"):
        name = entry.text("password_env")
        value = os.environ.get(name, "")
        if not value:
            raise entry.bad(f"the environment variable {name} is not set.")
        return value, None
    value = entry.text("password")
    if settings.PRODUCTION:
        raise entry.bad("a literal password is refused in production; use password_env.")
    return value, value


def _check_password(entry: Entry, password: str, user: User) -> None:
    """Ask of a new user's password what Django's forms ask of one."""
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise entry.bad(f"the password is not accepted: {' '.join(error.messages)}") from None


def _membership(entry: Entry, applied: Applied) -> None:
    organization = _find_organization(entry, entry.text("organization"), applied)
    role = entry.text("role", Membership.Role.MEMBER)
    if role not in Membership.Role.values:
        raise entry.bad(f"'role' must be one of: {', '.join(Membership.Role.values)}.")
    set_membership(organization=organization, user=_find_user(entry, applied), role=role)


def _agent(entry: Entry, applied: Applied) -> None:
    organization = _find_organization(entry, entry.text("organization"), applied)
    kind = entry.text("provider", Provider.Kind.OFFLINE)
    if kind not in Provider.Kind.values:
        raise entry.bad(f"'provider' must be one of: {', '.join(Provider.Kind.values)}.")
    base_url, key_name = entry.text("base_url", ""), entry.text("api_key_env", "")
    provider = get_or_create_provider(kind=kind, base_url=base_url, api_key_env=key_name, actor=None)
    slug = entry.slug()
    agent = save_agent(
        organization=organization,
        slug=slug,
        name=entry.text("name", slug),
        system_prompt=entry.text("system_prompt", ""),
        provider=provider,
        model=entry.text("model", "offline-rules-1" if kind == Provider.Kind.OFFLINE else None),
        actor=None,
    )
    applied.agents.append(agent)


def _grant(entry: Entry, applied: Applied) -> None:
    organization_slug, _, agent_slug = entry.text("agent").partition("/")
    organization = _find_organization(entry, organization_slug, applied)
    agent = Agent.objects.live().filter(organization=organization, slug=agent_slug).first()
    if agent is None:
        raise entry.bad(f"there is no agent '{organization_slug}/{agent_slug}'.")
    user = _find_user(entry, applied)
    if not Membership.objects.filter(organization=organization, user=user).exists():
        raise entry.bad(f"'{user.email}' is no member of '{organization_slug}'; add a [[membership]].")
    for permission in entry.texts("permissions"):
        if permission not in CODENAMES:
            raise entry.bad(f"'{permission}' is no permission; use: {', '.join(CODENAMES)}.")
        grant(agent=agent, user=user, permission=permission, actor=None)
