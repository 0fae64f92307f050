"""How a fact's key and body become sealed bytes and keyed hashes (F03, F04, F06)."""

from collections.abc import Iterable
from functools import partial
from uuid import UUID

from consent.scope import Scope
from encryption.services import OrganizationKeys, ScopeKeys, ensure_organization_keys, newer_keys, organization_keys
from screening.text import canonical_key, normalize_for_hash

PURPOSE = "fact"


def _ids(scope: Scope) -> tuple[UUID, ...]:
    return (scope.organization_id, scope.user_id, scope.agent_id)


def _scope_keys(scope: Scope, keys: OrganizationKeys) -> ScopeKeys:
    refetch = partial(newer_keys, scope.organization_id)
    return ScopeKeys(keys, purpose=PURPOSE, scope=_ids(scope), refetch=refetch)


def scope_keys(scope: Scope) -> ScopeKeys:
    """Return the keys of a scope for reading. Raises KeyUnavailable."""
    return _scope_keys(scope, organization_keys(scope.organization_id))


def scope_keys_for_writing(scope: Scope) -> ScopeKeys:
    """Return the keys of a scope and make them at the first seal; not in a transaction. Raises KeyUnavailable."""
    return _scope_keys(scope, ensure_organization_keys(scope.organization_id))


def key_hash(keys: ScopeKeys, key: str) -> bytes:
    """Return the keyed hash by which a key finds its facts, whatever its case, spaces and separators (E05)."""
    return keys.keyed_hash(b"key", canonical_key(key).encode())


def content_hash(keys: ScopeKeys, memory_type: str, key: str, body: str) -> bytes:
    """Return the keyed hash of type, key (as in `key_hash`) and normalized body; no two scopes share it."""
    return content_hashes(keys, (memory_type,), key, body)[memory_type]


def content_hashes(keys: ScopeKeys, memory_types: Iterable[str], key: str, body: str) -> dict[str, bytes]:
    """Return by type what the `content_hash` of a key and a body would be."""
    said = (canonical_key(key).encode(), normalize_for_hash(body).encode())
    return {kind: keys.keyed_hash(b"content", kind.encode(), *said) for kind in memory_types}
