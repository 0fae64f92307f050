"""F04: a sealed record opens only with its key and only as the row that it was sealed for."""

import copy
import pickle
import uuid
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from encryption.envelope import (
    AES_256_GCM,
    HEADER,
    MAGIC,
    PAD_BYTES,
    SHORTEST,
    BadRecord,
    Opened,
    ScopeCipher,
    join,
    new_key,
    record_version,
    unwrap_key,
    wrap_key,
)

DEK = bytes(range(32))
ORGANIZATION, USER, AGENT, ROW = (uuid.UUID(int=number) for number in range(1, 5))
SCOPE = (ORGANIZATION, USER, AGENT)


def cipher(
    dek: bytes = DEK, *, version: int = 1, purpose: str = "fact", scope: tuple[uuid.UUID, ...] = SCOPE
) -> ScopeCipher:
    return ScopeCipher.derive(dek, dek_version=version, purpose=purpose, scope=scope)


def sealed(body: str = "Lives in Porto.") -> bytes:
    return cipher().seal(ROW, "profile", "home.city", body)


def refusal(opener: ScopeCipher, record: bytes, *, row: uuid.UUID = ROW, row_type: str = "profile") -> str:
    with pytest.raises(BadRecord) as refused:
        opener.open(row, row_type, record)
    return refused.value.code


@given(label=st.text(max_size=130), body=st.text(max_size=4_100), row=st.uuids(), row_type=st.text(max_size=20))
def test_f04_what_was_sealed_comes_back_as_it_was(label: str, body: str, row: uuid.UUID, row_type: str) -> None:
    scope_cipher = cipher()
    record = scope_cipher.seal(row, row_type, label, body)
    assert scope_cipher.open(row, row_type, record) == Opened(row, label, body)
    assert cipher().open(row, row_type, record) == Opened(row, label, body)  # derived anew, as on the next request


def test_f04_every_single_bit_flip_is_refused() -> None:
    record, opener = sealed(), cipher()
    for bit in range(len(record) * 8):
        flipped = bytearray(record)
        flipped[bit // 8] ^= 1 << bit % 8
        assert refusal(opener, bytes(flipped)) in {"unknown_format", "wrong_key", "tampered"}, bit


def test_f04_every_truncation_and_every_addition_is_refused() -> None:
    record, opener = sealed(), cipher()
    for length in range(len(record)):
        expected = "truncated" if length < SHORTEST else "tampered"
        assert refusal(opener, record[:length]) == expected, length
    assert refusal(opener, record + b"\x00") == "tampered"
    assert refusal(opener, b"\x00" + record) == "unknown_format"


@pytest.mark.parametrize("row_type", ["semantic", "profil", "profile ", ""])
def test_f04_a_record_does_not_open_as_another_type(row_type: str) -> None:
    assert refusal(cipher(), sealed(), row_type=row_type) == "tampered"


def test_f04_a_record_does_not_open_as_another_row() -> None:
    assert refusal(cipher(), sealed(), row=uuid.UUID(int=99)) == "tampered"


@pytest.mark.parametrize(
    "scope",
    [
        (uuid.UUID(int=9), USER, AGENT),
        (ORGANIZATION, uuid.UUID(int=9), AGENT),
        (ORGANIZATION, USER, uuid.UUID(int=9)),
        (ORGANIZATION, AGENT, USER),
        (ORGANIZATION, USER),
    ],
    ids=["organization", "user", "agent", "user and agent swapped", "shorter scope"],
)
def test_f04_a_record_does_not_open_in_another_scope(scope: tuple[uuid.UUID, ...]) -> None:
    assert refusal(cipher(scope=scope), sealed()) == "wrong_key"


def test_f04_a_record_does_not_open_for_another_purpose_key_or_version() -> None:
    assert refusal(cipher(purpose="preference"), sealed()) == "wrong_key"
    assert refusal(cipher(new_key()), sealed()) == "wrong_key"
    assert refusal(cipher(version=2), sealed()) == "unknown_format"


def test_f04_a_record_with_the_commitment_of_another_key_is_still_refused() -> None:
    other = cipher(new_key())
    record, foreign = sealed(), other.seal(ROW, "profile", "home.city", "Lives in Porto.")
    commitment = slice(HEADER.size + 12, HEADER.size + 28)
    grafted = record[: commitment.start] + foreign[commitment] + record[commitment.stop :]
    assert refusal(cipher(), grafted) == "wrong_key"
    assert refusal(other, grafted) == "tampered"


@pytest.mark.parametrize("header", [HEADER.pack(b"F2", AES_256_GCM, 1), HEADER.pack(MAGIC, 2, 1), b"\x00" * 7])
def test_f04_an_unknown_format_is_refused(header: bytes) -> None:
    record = header + sealed()[HEADER.size :]
    assert refusal(cipher(), record) == "unknown_format"
    with pytest.raises(BadRecord, match="unknown_format"):
        record_version(record)


def test_f04_the_version_of_a_record_is_read_without_a_key() -> None:
    assert record_version(cipher(version=7).seal(ROW, "profile", "a", "b")) == 7
    with pytest.raises(BadRecord, match="truncated"):
        record_version(sealed()[: SHORTEST - 1])


def test_f04_equal_texts_give_different_records_of_a_padded_length() -> None:
    assert sealed() != sealed()
    assert len(sealed("a")) == len(sealed("a" * 30))
    assert (len(sealed("a" * 999)) - SHORTEST) % PAD_BYTES == 0


def test_f04_a_record_holds_neither_label_nor_body() -> None:
    record = sealed("Lives in Porto.")
    assert b"Porto" not in record
    assert b"home.city" not in record


def test_f04_a_lone_surrogate_is_never_sealed() -> None:
    with pytest.raises(UnicodeEncodeError):
        sealed("\ud800")


def test_f04_an_opened_record_prints_only_its_id_and_length() -> None:
    opened = cipher().open(ROW, "profile", sealed())
    for shown in (repr(opened), str(opened), f"{opened}", repr([opened])):
        assert "15 characters" in shown
        assert "Porto" not in shown
        assert "home.city" not in shown


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_f04_an_opened_record_refuses_to_be_pickled(protocol: int) -> None:
    opened = cipher().open(ROW, "profile", sealed())
    with pytest.raises(TypeError, match="never pickled"):
        pickle.dumps(opened, protocol)
    with pytest.raises(TypeError, match="never pickled"):
        copy.deepcopy([opened])


def test_f04_an_opened_record_cannot_be_changed() -> None:
    opened = cipher().open(ROW, "profile", sealed())
    with pytest.raises(FrozenInstanceError):
        opened.body = "Lives in Faro."  # type: ignore[misc]


def test_f04_a_cipher_shows_no_key() -> None:
    assert DEK.hex() not in repr(cipher())
    assert "AESGCM" not in repr(cipher())


@given(st.lists(st.binary(max_size=6), max_size=4), st.lists(st.binary(max_size=6), max_size=4))
def test_f04_two_lists_of_parts_never_join_to_the_same_bytes(one: list[bytes], other: list[bytes]) -> None:
    assert (join(*one) == join(*other)) == (one == other)


def test_f04_a_wrapped_key_opens_only_under_its_kek_and_for_its_place() -> None:
    kek, key = new_key(), new_key()
    wrapped = wrap_key(kek, key, b"place")
    assert unwrap_key(kek, wrapped, b"place") == key
    assert key not in wrapped
    for other_kek, other_place in ((new_key(), b"place"), (kek, b"elsewhere")):
        with pytest.raises(BadRecord, match="wrong_key"):
            unwrap_key(other_kek, wrapped, other_place)
    for cut in (wrapped[:-1], wrapped + b"\x00", b""):
        with pytest.raises(BadRecord, match="truncated"):
            unwrap_key(kek, cut, b"place")
    for bit in range(len(wrapped) * 8):
        flipped = bytearray(wrapped)
        flipped[bit // 8] ^= 1 << bit % 8
        with pytest.raises(BadRecord, match="wrong_key"):
            unwrap_key(kek, bytes(flipped), b"place")
