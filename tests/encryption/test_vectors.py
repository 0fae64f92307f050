"""F04: known answers, checked by the application and by a second implementation; golden records open for ever."""

import json
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Organization
from encryption import envelope
from encryption.keys import parse_keyring
from encryption.models import OrganizationKey
from encryption.services import ScopeKeys, organization_keys
from tests.encryption import independent

VECTORS = Path(__file__).parent / "vectors"
RECORDS = json.loads((VECTORS / "records.json").read_text())
WRAPPED = json.loads((VECTORS / "wrapped_keys.json").read_text())
GOLDEN = json.loads((VECTORS / "golden_v1.json").read_text())
Vector = dict[str, Any]


def named(vectors: list[Vector]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("vector", vectors, ids=[vector["name"] for vector in vectors])


def place_of(vector: Vector) -> dict[str, Any]:
    scope = tuple(uuid.UUID(part) for part in vector["scope"])
    return {"dek_version": vector["dek_version"], "purpose": vector["purpose"], "scope": scope}


def ours(vector: Vector) -> tuple[str, str]:
    cipher = envelope.ScopeCipher.derive(bytes.fromhex(vector["dek"]), **place_of(vector))
    opened = cipher.open(uuid.UUID(vector["row_id"]), vector["row_type"], bytes.fromhex(vector["record"]))
    return opened.label, opened.body


def theirs(vector: Vector) -> tuple[str, str]:
    row = {"row_id": uuid.UUID(vector["row_id"]), "row_type": vector["row_type"]}
    record = bytes.fromhex(vector["record"])
    return independent.open_record(bytes.fromhex(vector["dek"]), record, **place_of(vector), **row)


@named(RECORDS["opens"])
def test_f04_both_implementations_open_the_record_and_seal_it_alike(
    vector: Vector, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ours(vector) == theirs(vector) == (vector["label"], vector["body"])
    nonce = bytes.fromhex(vector["nonce"])
    monkeypatch.setattr("os.urandom", lambda count: nonce[:count])
    cipher = envelope.ScopeCipher.derive(bytes.fromhex(vector["dek"]), **place_of(vector))
    row_id, row_type = uuid.UUID(vector["row_id"]), vector["row_type"]
    assert cipher.seal(row_id, row_type, vector["label"], vector["body"]).hex() == vector["record"]
    again = independent.seal(
        bytes.fromhex(vector["dek"]),
        **place_of(vector),
        row_id=row_id,
        row_type=row_type,
        label=vector["label"],
        body=vector["body"],
        nonce=nonce,
    )
    assert again.hex() == vector["record"]


@named(RECORDS["refused"])
def test_f04_both_implementations_refuse_the_record_for_the_same_reason(vector: Vector) -> None:
    with pytest.raises(envelope.BadRecord) as our_refusal:
        ours(vector)
    with pytest.raises(independent.Refused) as their_refusal:
        theirs(vector)
    assert our_refusal.value.code == str(their_refusal.value) == vector["refusal"]


def test_f04_the_vectors_hold_every_kind_of_refusal() -> None:
    kinds = {"truncated", "unknown_format", "wrong_key", "tampered"}
    assert {vector["refusal"] for vector in RECORDS["refused"]} == kinds
    assert {vector["refusal"] for vector in WRAPPED["refused"]} == {"truncated", "wrong_key"}


def where(vector: Vector) -> bytes:
    return independent.place(uuid.UUID(vector["organization"]), vector["purpose"], vector["version"], vector["kek_id"])


@named(WRAPPED["opens"])
def test_f04_both_implementations_unwrap_the_key(vector: Vector) -> None:
    kek, wrapped = bytes.fromhex(vector["kek"]), bytes.fromhex(vector["wrapped"])
    key = envelope.unwrap_key(kek, wrapped, where(vector))
    assert key == independent.unwrap(kek, wrapped, where(vector)) == bytes.fromhex(vector["key"])
    assert independent.unwrap(kek, envelope.wrap_key(kek, key, where(vector)), where(vector)) == key


@named(WRAPPED["refused"])
def test_f04_both_implementations_refuse_the_wrapped_key_for_the_same_reason(vector: Vector) -> None:
    kek, wrapped = bytes.fromhex(vector["kek"]), bytes.fromhex(vector["wrapped"])
    with pytest.raises(envelope.BadRecord) as our_refusal:
        envelope.unwrap_key(kek, wrapped, where(vector))
    with pytest.raises(independent.Refused) as their_refusal:
        independent.unwrap(kek, wrapped, where(vector))
    assert our_refusal.value.code == str(their_refusal.value) == vector["refusal"]


@pytest.mark.parametrize("vector", WRAPPED["hashes"])
def test_f04_both_implementations_give_the_keyed_hash(vector: Vector) -> None:
    scope = tuple(uuid.UUID(part) for part in vector["scope"])
    key, parts = bytes.fromhex(vector["key"]), [part.encode() for part in vector["parts"]]
    ours_ = envelope.keyed_hash(key, vector["purpose"].encode(), *(part.bytes for part in scope), *parts)
    assert ours_ == independent.keyed_hash(key, vector["purpose"], scope, *parts) == bytes.fromhex(vector["hash"])


@pytest.mark.django_db
def test_f04_golden_records_of_version_1_open_from_the_keyring_down(settings: Any) -> None:
    """What was written by version 1 must open for ever: these files are never written anew."""
    settings.KEYRING_JSON = json.dumps(GOLDEN["keyring"])
    assert parse_keyring(settings.KEYRING_JSON).primary_id == GOLDEN["keys"][0]["kek_id"]
    organization = Organization.objects.create(
        pk=GOLDEN["organization"], slug="golden", name="Golden", created_at=timezone.now()
    )
    for key in GOLDEN["keys"]:
        OrganizationKey.objects.create(organization=organization, **(key | {"wrapped": bytes.fromhex(key["wrapped"])}))
    scope = tuple(uuid.UUID(GOLDEN[name]) for name in ("organization", "user", "agent"))
    keys = ScopeKeys(organization_keys(scope[0]), purpose="fact", scope=scope)
    for record in GOLDEN["records"]:
        opened = keys.open(uuid.UUID(record["row_id"]), record["row_type"], bytes.fromhex(record["record"]))
        assert (opened.label, opened.body) == (record["label"], record["body"])
        assert keys.keyed_hash(b"key", record["label"].encode()).hex() == record["key_hash"]
    assert {record["dek_version"] for record in GOLDEN["records"]} == {1, 2}
