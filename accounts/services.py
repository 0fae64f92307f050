"""Writes to users, organizations, memberships and keys; each in one transaction with its audit row."""

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import available_timezones

from django.conf import global_settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import Permission
from django.contrib.sessions.models import Session
from django.db import transaction

from accounts.mail import compose, send_once_committed
from accounts.models import MAX_TRANSCRIPT_DAYS, ApiKey, Membership, Organization, User
from audit.services import record
from screening.text import clean_text

KEY_PREFIX = "mp_"
RIGHTS = frozenset({"is_staff", "is_superuser"})
FLAGS = RIGHTS | {"is_active"}
NOTICES = frozenset({"mail_on_invitation", "mail_on_key"})
LANGUAGES = frozenset(code for code, _name in global_settings.LANGUAGES)  # those that Django itself translates
TEXTS = {"email": 254, "name": 120, "time_zone": 64, "language": 16}  # columns of text and their characters


class LastOwner(Exception):
    """An organization keeps at least one owner (I02)."""


class UnknownTimeZone(ValueError):
    """The name is in no IANA time zone database."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name!r} is no time zone; use a name like Europe/Berlin, America/New_York or UTC.")


class UnknownLanguage(ValueError):
    """The code is none of the languages that Django translates."""

    def __init__(self, code: str) -> None:
        super().__init__(f"{code!r} is no language here; use a code like de, pt-br or zh-hans.")


class NotSuperuser(Exception):
    """Only a superuser gives or takes staff rights, or changes a superuser."""


class TranscriptDays(ValueError):
    """Conversations are kept for at least one day and at most ten years, or for good."""


@dataclass(frozen=True, slots=True)
class NewKey:
    """A fresh API key; `secret` is shown once and stored nowhere."""

    row: ApiKey
    secret: str


def hash_key(secret: str) -> bytes:
    """Return the stored hash of a key. The key has 256 random bits, so a slow hash would add nothing."""
    return hashlib.sha256(secret.encode()).digest()


@transaction.atomic
def create_organization(*, slug: str, name: str, actor: User | None = None) -> Organization:
    organization = Organization.objects.create(slug=slug, name=clean_text(name, max_length=120, single_line=True))
    record("organization.create", actor=actor, organization_id=organization.id)
    return organization


@transaction.atomic
def create_user(
    *,
    email: str,
    name: str,
    password: str | None,
    staff: bool = False,
    time_zone: str = "UTC",
    language: str = "en",
    actor: User | None = None,
) -> User:
    """Create a user. Raises UnknownTimeZone, UnknownLanguage, or IntegrityError when a live account has the address."""
    if time_zone not in available_timezones():
        raise UnknownTimeZone(time_zone)
    if language not in LANGUAGES:
        raise UnknownLanguage(language)
    clean_name = clean_text(name, max_length=120, single_line=True, allow_empty=True)
    user = User.objects.create_user(
        email, password, name=clean_name, is_staff=staff, time_zone=time_zone, language=language
    )
    record("user.create", actor=actor, subject_user_id=user.id)
    return user


@transaction.atomic
def update_user(*, user: User, changes: Mapping[str, str | bool], actor: User) -> User:
    """Change columns of a user; the audit names them, and of flags the new value, never a text.

    Raises NotSuperuser, UnknownTimeZone, UnknownLanguage, UnacceptableText, or IntegrityError when a live account has
    the address.
    """
    row = User.objects.get_queryset().select_for_update(no_key=True).get(pk=user.pk)
    clean = {name: _clean(name, value) for name, value in changes.items() if getattr(row, name) != value}
    changed = {name: value for name, value in clean.items() if getattr(row, name) != value}
    if not actor.is_superuser and (row.is_superuser or RIGHTS & changed.keys()):
        raise NotSuperuser
    if not changed:
        return row
    for name, value in changed.items():
        setattr(row, name, value)
    row.save(update_fields=list(changed))
    flags = {name: value for name, value in changed.items() if isinstance(value, bool)}
    record("user.update", actor=actor, subject_user_id=row.id, details={"changed": ", ".join(sorted(changed)), **flags})
    return row


def _clean(name: str, value: str | bool) -> str | bool:
    if name in FLAGS | NOTICES:
        return bool(value)
    text = clean_text(str(value), max_length=TEXTS[name], single_line=True, allow_empty=name == "name")
    if name == "time_zone" and text not in available_timezones():
        raise UnknownTimeZone(text)
    if name == "language" and text not in LANGUAGES:
        raise UnknownLanguage(text)
    return User.objects.normalize_email(text.strip()) if name == "email" else text


@transaction.atomic
def set_password(*, user: User, password: str, reset: bool = False) -> User:
    """Give a user the password that she chose, checked by the door; each of her other sign-ins ends with it (I07).

    Returns the row as it is now. A deleted user's password stays unusable.
    """
    row = User.objects.live().select_for_update(no_key=True).get(pk=user.pk)
    row.set_password(password)
    row.save(update_fields=["password"])
    record("user.password", actor=row, subject_user_id=row.pk, details={"reset": reset})
    send_once_committed(compose("password_changed", to=row.email, language=row.language))
    return row


def _lock(organization: Organization) -> None:
    Organization.objects.select_for_update(no_key=True).get(pk=organization.pk)


def _refuse_to_lose_the_last_owner(membership: Membership) -> None:
    owners = Membership.objects.filter(
        organization=membership.organization_id,
        role=Membership.Role.OWNER,
        user__deleted_at__isnull=True,
        user__is_active=True,  # one who cannot sign in runs nothing
    )
    if membership.role == Membership.Role.OWNER and not owners.exclude(pk=membership.pk).exists():
        raise LastOwner


@transaction.atomic
def set_membership(*, organization: Organization, user: User, role: str, actor: User | None = None) -> Membership:
    """Add a member or change her role. Raises LastOwner when the only owner would stop being one."""
    _lock(organization)
    membership = Membership.objects.filter(organization=organization, user=user).first()
    if membership is None:
        membership = Membership.objects.create(organization=organization, user=user, role=role)
    elif membership.role != role:
        if role != Membership.Role.OWNER:
            _refuse_to_lose_the_last_owner(membership)
        membership.role = role
        membership.save(update_fields=["role"])
    else:
        return membership
    record("member.set", actor=actor, organization_id=organization.id, subject_user_id=user.id, details={"role": role})
    return membership


@transaction.atomic
def remove_member(*, organization: Organization, user: User, actor: User | None = None) -> None:
    """End a membership at once; facts, consent and grants stay as they are (I02). Raises LastOwner."""
    _lock(organization)
    membership = Membership.objects.filter(organization=organization, user=user).first()
    if membership is None:
        return
    _refuse_to_lose_the_last_owner(membership)
    membership.delete()
    record("member.remove", actor=actor, organization_id=organization.id, subject_user_id=user.id)


@transaction.atomic
def create_api_key(
    *,
    organization: Organization,
    user: User,
    name: str,
    memory_enabled: bool = True,
    scope: str = ApiKey.Scope.CHAT,
    expires_at: datetime | None = None,
    actor: User | None = None,
) -> NewKey:
    """Create a key: `mp_` + public prefix (8) + `_` + 43 random characters. `scope` says what it opens (C04)."""
    prefix = f"{KEY_PREFIX}{secrets.token_hex(4)}"
    secret = f"{prefix}_{secrets.token_urlsafe(32)}"
    row = ApiKey.objects.create(
        organization=organization,
        user=user,
        name=clean_text(name, max_length=120, single_line=True),
        prefix=prefix,
        key_hash=hash_key(secret),
        memory_enabled=memory_enabled,
        scope=scope,
        expires_at=expires_at,
    )
    record(
        "api_key.create",
        actor=actor or user,
        organization_id=organization.id,
        subject_user_id=user.id,
        object_id=row.id,
        details={"memory_enabled": memory_enabled, "scope": scope},
    )
    if user.mail_on_key:
        send_once_committed(compose("key", to=user.email, language=user.language, key=row, organization=organization))
    return NewKey(row, secret)


@transaction.atomic
def revoke_api_key(*, key: ApiKey, now: datetime, actor: User | None = None) -> None:
    if ApiKey.objects.filter(pk=key.pk, revoked_at__isnull=True).update(revoked_at=now):
        record(
            "api_key.revoke",
            actor=actor,
            organization_id=key.organization_id,
            subject_user_id=key.user_id,
            object_id=key.id,
        )


@dataclass(frozen=True, slots=True)
class Ended:
    """What a soft delete ended: API keys revoked, and sign-ins (sessions of the web pages)."""

    api_keys: int = 0
    sessions: int = 0


@transaction.atomic
def soft_delete_user(*, user: User, now: datetime, actor: User | None, reason: str = "", surface: str = "") -> Ended:
    """Mark a user as deleted, revoke her API keys and end her sign-ins. A deleted one is left as she is.

    The row stays, so that conversations keep a speaker; her address is free again (I01). Memory is the business of
    `lifecycle`.
    """
    row = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if row.deleted_at is not None:
        return Ended()
    row.deleted_at = now
    row.set_unusable_password()  # ends every sign-in, also one that is just being made
    row.save(update_fields=["deleted_at", "password"])
    ended = Ended(
        ApiKey.objects.filter(user=row, revoked_at__isnull=True).update(revoked_at=now), _end_sessions(row, now=now)
    )
    record(
        "user.delete",
        actor=actor,
        subject_user_id=row.pk,
        reason=reason,
        surface=surface,
        details={"api_keys": ended.api_keys, "sessions": ended.sessions},
    )
    return ended


def _end_sessions(user: User, *, now: datetime) -> int:
    """Delete the stored sessions of a user. They are opaque, so all that have not expired are read."""
    ended = 0
    for session in Session.objects.filter(expire_date__gt=now).iterator(chunk_size=500):
        if session.get_decoded().get(SESSION_KEY) == str(user.pk):
            session.delete()
            ended += 1
    return ended


@transaction.atomic
def soft_delete_organization(
    *, organization: Organization, now: datetime, actor: User | None, reason: str = "", surface: str = ""
) -> Ended:
    """Mark an organization as deleted and revoke its API keys; memberships stay, and open nothing."""
    row = Organization.objects.select_for_update(no_key=True).get(pk=organization.pk)
    if row.deleted_at is not None:
        return Ended()
    row.deleted_at = now
    row.save(update_fields=["deleted_at"])
    ended = Ended(ApiKey.objects.filter(organization=row, revoked_at__isnull=True).update(revoked_at=now))
    record(
        "organization.delete",
        actor=actor,
        organization_id=row.pk,
        reason=reason,
        surface=surface,
        details={"api_keys": ended.api_keys},
    )
    return ended


@transaction.atomic
def set_transcript_days(*, organization: Organization, days: int | None, actor: User | None) -> bool:
    """Let conversations be deleted `days` after the last thing said in them, or keep them (None); T04.

    Returns whether that changed anything. Raises TranscriptDays below one day and above ten years.
    """
    if days is not None and not 1 <= days <= MAX_TRANSCRIPT_DAYS:
        raise TranscriptDays
    row = Organization.objects.select_for_update(no_key=True).get(pk=organization.pk)
    if row.transcript_days == days:
        return False
    details = {"days": days, "before": row.transcript_days}  # null: kept
    row.transcript_days = days
    row.save(update_fields=["transcript_days"])
    record("organization.set_transcripts", actor=actor, organization_id=row.pk, details=details)
    return True


@transaction.atomic
def set_support(*, user: User, allowed: bool, actor: User | None = None) -> bool:
    """Let a member of staff delete subjects in the admin, or no longer; return whether that changed anything (R04).

    Needs no superuser flag. Ending it leaves `is_staff` as it is.
    """
    permission = Permission.objects.get(content_type__app_label=User._meta.app_label, codename="delete_subject")
    row = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    held = row.user_permissions.filter(pk=permission.pk).exists()
    if held == allowed and (row.is_staff or not allowed):
        return False
    if allowed:
        row.user_permissions.add(permission)
        row.is_staff = True
        row.save(update_fields=["is_staff"])
    else:
        row.user_permissions.remove(permission)
    record("support.grant" if allowed else "support.revoke", actor=actor, subject_user_id=row.pk)
    return True
