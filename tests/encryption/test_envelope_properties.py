"""F04 over whatever Hypothesis finds: round trips with the second implementation, flips, cuts and swapped rows."""

import uuid

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from encryption.envelope import BadRecord, ScopeCipher
from tests.encryption import independent

keys = st.binary(min_size=32, max_size=32)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
versions = st.integers(0, 2**32 - 1)
scopes = st.tuples(st.uuids(), st.uuids(), st.uuids())
rows = st.tuples(st.uuids(), st.sampled_from(["profile", "semantic", "episodic"]))
places = st.tuples(scopes, rows)
DEK = bytes(range(32))
type Place = tuple[tuple[uuid.UUID, ...], tuple[uuid.UUID, str]]


def cipher(dek: bytes, version: int, scope: tuple[uuid.UUID, ...]) -> ScopeCipher:
    return ScopeCipher.derive(dek, dek_version=version, purpose="fact", scope=scope)


@given(
    dek=keys, version=versions, place=places, said=st.tuples(texts, texts), nonce=st.binary(min_size=12, max_size=12)
)
def test_f04_each_implementation_opens_what_the_other_sealed(
    dek: bytes, version: int, place: Place, said: tuple[str, str], nonce: bytes
) -> None:
    label, body = said
    scope, (row_id, row_type) = place
    where = {"dek_version": version, "purpose": "fact", "scope": scope, "row_id": row_id, "row_type": row_type}
    ours = cipher(dek, version, scope)
    record = independent.seal(dek, label=label, body=body, nonce=nonce, **where)  # type: ignore[arg-type]
    opened = ours.open(row_id, row_type, record)
    assert (opened.label, opened.body) == (label, body)
    sealed = ours.seal(row_id, row_type, label, body)
    assert independent.open_record(dek, sealed, **where) == (label, body)  # type: ignore[arg-type]


@given(body=texts, data=st.data())
def test_f04_any_change_of_any_bits_is_refused(body: str, data: st.DataObject) -> None:
    scope, row = (uuid.UUID(int=1),), uuid.UUID(int=2)
    ours = cipher(DEK, 1, scope)
    record = ours.seal(row, "profile", "key", body)
    mask = data.draw(st.binary(min_size=len(record), max_size=len(record)).filter(any))
    with pytest.raises(BadRecord):
        ours.open(row, "profile", bytes(one ^ other for one, other in zip(record, mask, strict=True)))


@given(body=texts, data=st.data())
def test_f04_any_cut_and_any_joined_tail_is_refused(body: str, data: st.DataObject) -> None:
    scope, row = (uuid.UUID(int=1),), uuid.UUID(int=2)
    ours = cipher(DEK, 1, scope)
    record = ours.seal(row, "profile", "key", body)
    start, end = data.draw(st.integers(0, len(record))), data.draw(st.integers(0, len(record)))
    tail = data.draw(st.binary(max_size=70))
    changed = record[start:end] + tail
    assume(changed != record)
    with pytest.raises(BadRecord):
        ours.open(row, "profile", changed)


@settings(max_examples=200)
@given(st.lists(places, min_size=2, max_size=4, unique=True))
def test_f04_of_any_rows_no_two_can_change_places(
    several: list[Place],
) -> None:
    records = [
        cipher(DEK, 1, scope).seal(row_id, row_type, "key", f"Body {number}.")
        for number, (scope, (row_id, row_type)) in enumerate(several)
    ]
    for number, (scope, (row_id, row_type)) in enumerate(several):
        ours = cipher(DEK, 1, scope)
        for position, record in enumerate(records):
            if position == number:
                assert ours.open(row_id, row_type, record).body == f"Body {number}."
            else:
                with pytest.raises(BadRecord):
                    ours.open(row_id, row_type, record)


@pytest.mark.parametrize("record", [b"", b"F1", b"\x00" * 51, b"F1\x01\x00\x00\x00\x01" + b"\x00" * 44])
def test_f04_what_was_never_sealed_is_refused(record: bytes) -> None:
    with pytest.raises(BadRecord):
        cipher(DEK, 1, (uuid.UUID(int=1),)).open(uuid.UUID(int=2), "profile", record)
