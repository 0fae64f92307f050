"""Opens every record there is and says which do not open; changes nothing and shows nothing of what they say (F04)."""

from collections.abc import Iterator

from consent.scope import Scope
from encryption.envelope import BadRecord, Opened, record_version
from encryption.services import KeyUnavailable, ScopeKeys, forget_keys
from facts.models import Fact
from facts.sealing import scope_keys

BATCH = 500
type Inspected = tuple[Fact, ScopeKeys, Opened] | tuple[Fact, None, str]


def inspect_records() -> Iterator[Inspected]:
    """Yield each row of every status, scope by scope, with its keys and what it opens to, or with None and a code.

    Codes: those of BadRecord, `key_` and that of KeyUnavailable, and `version` when the row names another data key than
    its record does.
    """
    forget_keys()  # what counts is what the keyring opens now
    current: Scope | None = None
    keys: ScopeKeys | str = ""
    for row in Fact.objects.order_by("organization_id", "user_id", "agent_id", "pk").iterator(chunk_size=BATCH):
        scope = Scope(row.organization_id, row.user_id, row.agent_id)
        if scope != current:
            current, keys = scope, _keys(scope)
        if isinstance(keys, str):
            yield row, None, keys
            continue
        try:
            opened = keys.open(row.pk, row.memory_type, bytes(row.sealed))
        except BadRecord as error:
            yield row, None, error.code
            continue
        if record_version(bytes(row.sealed)) != row.dek_version:
            yield row, None, "version"
        else:
            yield row, keys, opened


def _keys(scope: Scope) -> ScopeKeys | str:
    try:
        return scope_keys(scope)
    except KeyUnavailable as error:
        return f"key_{error.code}"
