"""What operators do with providers (C05); each act in one transaction with its audit row, which holds no secret."""

import hashlib
import json
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from django.contrib.auth.models import Permission
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.models import User
from agents.addresses import BadProvider, check_address
from agents.models import Agent, Provider, ProviderState
from audit.services import record
from encryption.deployment import seal_secret
from encryption.models import Secret
from screening.text import clean_text

SHORTEST_TIMEOUT: Final = 1  # seconds
LONGEST_TIMEOUT: Final = 600  # of one streamed reply
MAX_ADDRESS: Final = 400  # characters; the column
# Only such variables, so that nobody who sets up providers can send this server's other secrets to an address of hers.
KEY_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9_]{0,111}_API_KEY")
SECRET: Final = re.compile(r"[\x21-\x7e]{1,500}")  # what a header carries as it is


class BadField(ValueError):
    """A value cannot be used: `field` names it, the message says what to do."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class ChangedMeanwhile(Exception):
    """The provider is no longer as it was when it was looked at."""


class ProviderInUse(Exception):
    """Live agents use the provider; `agents` are their public names."""

    def __init__(self, agents: list[str]) -> None:
        super().__init__(", ".join(agents))
        self.agents = agents


@dataclass(frozen=True, slots=True)
class Key:
    """Where a key comes from: a variable's name, a secret, or neither where the server asks for none."""

    variable: str = ""
    secret: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Wanted:
    """How a provider shall be; `key` None leaves the key as it is."""

    name: str
    base_url: str
    timeout_seconds: int
    key: Key | None


def agents_of(provider: Provider) -> list[Agent]:
    """Return the live agents that a provider serves."""
    return list(Agent.objects.live().filter(provider=provider).select_related("organization").order_by("name", "id"))


def add_provider(*, wanted: Wanted, actor: User | None) -> Provider:
    """Set up an OpenAI-compatible server. Raises BadField, UnacceptableText, SecretUnavailable.

    Not in a transaction: names are looked up, and a key service may be asked.
    """
    row = Provider(kind=Provider.Kind.OPENAI)
    values, secret = _prepared(row.pk, wanted)
    with transaction.atomic(), _only_once():
        _write(row, values, wanted.key, secret)
        record("provider.create", actor=actor, object_id=row.pk, details={"kind": row.kind, "key": row.key_source})
    return row


def fingerprint(provider: Provider) -> str:
    """Return what tells two set-ups of a provider apart; nothing of a key is in it."""
    parts = [provider.name, provider.base_url, provider.timeout_seconds, provider.api_key_env, str(provider.secret_id)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def change_provider(*, provider: Provider, wanted: Wanted, actor: User | None, seen: str | None = None) -> Provider:
    """Change a server's name, address, time-out or key, as it was looked at (`seen`, a fingerprint).

    Raises ChangedMeanwhile, BadField, UnacceptableText, SecretUnavailable, and Provider.DoesNotExist.

    A new address demands the key again, whichever kind it is: nobody sends a key to an address that it was not
    given for. What was learned of the server at the old address is forgotten.
    """
    values, secret = _prepared(provider.pk, wanted)
    with transaction.atomic(), _only_once():
        row = Provider.objects.select_for_update(no_key=True).get(pk=provider.pk)
        if seen is not None and seen != fingerprint(row):
            raise ChangedMeanwhile
        moved, old = row.base_url != wanted.base_url, row.secret_id
        if moved and wanted.key is None and row.key_source != "none":
            raise BadField("key", _("The address is new, so choose its key again: the old one is not sent to it."))
        changed = [name for name, value in values.items() if getattr(row, name) != value]
        _write(row, values, wanted.key, secret)
        if moved:
            ProviderState.objects.filter(provider=row).delete()
        if changed:
            record("provider.update", actor=actor, object_id=row.pk, details={"changed": ", ".join(changed)})
        if wanted.key is not None:
            if old is not None:
                Secret.objects.filter(pk=old).delete()
            record("provider.rotate_key", actor=actor, object_id=row.pk, details={"key": row.key_source})
    return row


@transaction.atomic
def delete_provider(*, provider: Provider, actor: User | None) -> None:
    """Delete a provider and its secret. Raises ProviderInUse, and Provider.DoesNotExist when somebody was faster."""
    row = Provider.objects.select_for_update().get(pk=provider.pk)  # no agent can be given to it meanwhile
    if agents := agents_of(row):
        raise ProviderInUse([agent.public_name for agent in agents])
    deleted = Agent.objects.filter(provider=row)
    if deleted.exists():  # their rows stay, are never called, and must name some provider
        offline, _made = Provider.objects.get_or_create(kind=Provider.Kind.OFFLINE, base_url="", api_key_env="")
        if offline == row:
            raise ProviderInUse([])
        deleted.update(provider=offline)
    row.delete()  # before what it refers to
    if row.secret is not None:
        row.secret.delete()
    record("provider.delete", actor=actor, object_id=provider.pk, details={"kind": row.kind})


@transaction.atomic
def set_operator(*, user: User, allowed: bool, actor: User | None = None) -> bool:
    """Let a member of staff set up providers, or no longer; return whether that changed anything.

    Needs no superuser flag. Ending it leaves `is_staff` as it is.
    """
    permission = Permission.objects.get(content_type__app_label=Agent._meta.app_label, codename="operate")
    row = User.objects.get_queryset().select_for_update(no_key=True).get(pk=user.pk)
    held = row.user_permissions.filter(pk=permission.pk).exists()
    if held == allowed and (row.is_staff or not allowed):
        return False
    if allowed:
        row.user_permissions.add(permission)
        row.is_staff = True
        row.save(update_fields=["is_staff"])
    else:
        row.user_permissions.remove(permission)
    record("operator.grant" if allowed else "operator.revoke", actor=actor, subject_user_id=row.pk)
    return True


def _prepared(provider_id: uuid.UUID, wanted: Wanted) -> tuple[dict[str, str | int], Secret | None]:
    """Return the columns that are wanted, checked, and the sealed secret where one was given. Raises BadField."""
    name = clean_text(wanted.name, max_length=80, single_line=True, allow_empty=True)
    if not SHORTEST_TIMEOUT <= wanted.timeout_seconds <= LONGEST_TIMEOUT:
        message = _("The time-out must be a whole number of seconds from %(least)s to %(most)s.")
        raise BadField("timeout_seconds", message % {"least": SHORTEST_TIMEOUT, "most": LONGEST_TIMEOUT})
    if len(wanted.base_url) > MAX_ADDRESS:
        raise BadField("base_url", _("The address has more than %(most)s characters.") % {"most": MAX_ADDRESS})
    try:
        check_address(wanted.base_url)
    except BadProvider as error:
        raise BadField("base_url", str(error)) from None
    key, secret = wanted.key or Key(), None
    if key.variable and not KEY_VARIABLE.fullmatch(key.variable):
        message = _("The name of the variable must be in capitals and end with _API_KEY, for example MODELS_API_KEY.")
        raise BadField("variable", message)
    if key.secret and not SECRET.fullmatch(key.secret):
        message = _("A key has 1 to 500 letters, digits and signs, without spaces. Paste it again.")
        raise BadField("secret", message)
    if key.secret:
        place = Provider(pk=provider_id, kind=Provider.Kind.OPENAI, base_url=wanted.base_url).secret_place
        secret = seal_secret(key.secret, sealed_for=place)
    return {"name": name, "base_url": wanted.base_url, "timeout_seconds": wanted.timeout_seconds}, secret


def _write(row: Provider, values: dict[str, str | int], key: Key | None, secret: Secret | None) -> None:
    for name, value in values.items():
        setattr(row, name, value)
    if secret is not None:
        secret.save(force_insert=True)
    if key is not None:
        row.secret, row.api_key_env = secret, key.variable
    row.save()


@contextmanager
def _only_once() -> Iterator[None]:
    """Turn the database's refusal of a twin into a sentence."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        if "provider_once" not in str(error):
            raise
        message = _("There is a provider with this address and the same kind of key. Change that one.")
        raise BadField("base_url", message) from None
