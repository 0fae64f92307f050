"""Opening a whole scope (F04, P05, P06): the same checks as one by one, bad records left out and counted."""

import pickle
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from encryption.envelope import BadRecord, ScopeCipher, new_key
from encryption.services import OrganizationKeys, ScopeKeys

DEKS = {1: new_key(), 2: new_key()}
SCOPE = (uuid.uuid4(), uuid.uuid4(), uuid.uuid4())
type Row = tuple[uuid.UUID, str, bytes]
texts = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=200)


def scope_keys(active: int = 1, *, scope: tuple[uuid.UUID, ...] = SCOPE, purpose: str = "fact") -> ScopeKeys:
    return ScopeKeys(OrganizationKeys(active, DEKS, new_key()), purpose=purpose, scope=scope)


def row(label: str = "home.city", body: str = "Lives in Porto.", *, kind: str = "profile", version: int = 1) -> Row:
    row_id = uuid.uuid4()
    return row_id, kind, scope_keys(version).seal(row_id, kind, label, body)


@given(st.lists(st.tuples(texts, texts, st.sampled_from(["profile", "semantic", "episodic"]), st.sampled_from([1, 2]))))
def test_p06_a_scope_opens_as_its_records_do_one_by_one(facts: list[tuple[str, str, str, int]]) -> None:
    rows = [row(label, body, kind=kind, version=version) for label, body, kind, version in facts]
    opened = scope_keys().open_all(rows)
    assert opened.bad == 0
    assert opened.ids == [row_id for row_id, _kind, _record in rows]
    assert opened.texts == [[label, body] for label, body, _kind, _version in facts]


def spoiled(record: bytes, place: int) -> bytes:
    return record[:place] + bytes([record[place] ^ 1]) + record[place + 1 :]


@pytest.mark.parametrize("place", range(0, 120, 3))
def test_f04_a_changed_byte_anywhere_leaves_that_record_out(place: int) -> None:
    good, (row_id, kind, record), last = row(), row(), row()
    bad = (row_id, kind, spoiled(record, place % len(record)))
    with pytest.raises(BadRecord):
        scope_keys().open(*bad)
    opened = scope_keys().open_all([bad, good, bad, last])
    assert opened.ids == [good[0], last[0]]
    assert len(opened.texts) == 2
    assert opened.bad > 0


@pytest.mark.parametrize("length", [0, 1, 6, 7, 34, 35, 36, 50, 51, 60])
def test_a_record_that_was_cut_off_is_left_out(length: int) -> None:
    good, (row_id, kind, record) = row(), row()
    opened = scope_keys().open_all([good, (row_id, kind, record[:length])])
    assert (opened.ids, opened.bad) == ([good[0]], 1)


def test_f04_a_record_opens_only_as_the_row_scope_purpose_and_version_that_it_was_sealed_for() -> None:
    good = row()
    row_id, kind, record = row()
    other_scope = scope_keys(scope=(SCOPE[0], uuid.uuid4(), SCOPE[2])).seal(row_id, kind, "k", "b")
    other_purpose = scope_keys(purpose="preference").seal(row_id, kind, "k", "b")
    unknown = ScopeCipher.derive(new_key(), dek_version=3, purpose="fact", scope=SCOPE).seal(row_id, kind, "k", "b")
    wrong = [
        (uuid.uuid4(), kind, record),
        (uuid.uuid4(), "semantic", record),
        (uuid.uuid4(), kind, other_scope),
        (uuid.uuid4(), kind, other_purpose),
        (uuid.uuid4(), kind, unknown),
    ]
    opened = scope_keys().open_all([*wrong, good, *wrong])
    assert opened.ids == [good[0]]
    assert opened.bad == len(wrong)


def test_an_empty_scope_opens_as_nothing() -> None:
    opened = scope_keys().open_all([])
    assert (opened.ids, opened.texts, opened.bad) == ([], [], 0)


def test_opened_rows_show_no_text_and_are_never_pickled() -> None:
    opened = scope_keys().open_all([row()])
    assert "Porto" not in repr(opened)
    with pytest.raises(TypeError):
        pickle.dumps(opened)
