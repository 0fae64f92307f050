"""`manage.py doctor` names whatever breaks an invariant of the store, repairs nothing, and exits 1."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, models
from django.utils import timezone

from accounts.models import Organization, User
from agents.models import Agent
from consent.models import Consent
from consent.scope import Scope
from encryption.models import OrganizationKey
from encryption.services import forget_keys
from facts.models import Fact
from facts.services import edit_fact
from lifecycle.doctor import findings
from tests.factories import fill, grant, make_agent, make_fact, make_member, make_organization

pytestmark = pytest.mark.django_db
NOW = timezone.now()


def wrong() -> dict[str, list[str]]:
    """What is wrong with the rows, by check; sound checks are left out, and that of the constraints themselves."""
    forget_keys()
    return {name: found for name, found in findings() if found and name != "constraints"}


@pytest.fixture
def lax(db: None) -> None:
    """A store whose constraints are gone, as after a restore by hand. The test's rollback puts them back."""
    with connection.cursor() as cursor:
        for constraint in Fact._meta.constraints:
            unique = isinstance(constraint, models.UniqueConstraint)
            statement = (
                f"DROP INDEX {constraint.name}"
                if unique
                else f"ALTER TABLE facts_fact DROP CONSTRAINT {constraint.name}"
            )
            cursor.execute(statement)
        cursor.execute("DROP INDEX organization_key_active")


def test_a_sound_store_with_every_status_has_nothing_wrong(consented: Scope, owner: User) -> None:
    for status in ("active", "pending", "conflict", "superseded", "deleted"):
        make_fact(consented, key=f"key.{status}", status=status)
    for body in ("Lives in Faro.", "Lives in Lagos."):
        fact = Fact.objects.live().first()
        assert fact is not None
        edit_fact(scope=consented, fact_id=fact.pk, body=body, actor=owner, now=timezone.now())
    assert wrong() == {}
    call_command("doctor", stdout=(out := StringIO()))
    assert out.getvalue().count(": ok") == 17


def changed(**values: Any) -> Callable[[Fact], None]:
    def change(fact: Fact) -> None:
        Fact.objects.filter(pk=fact.pk).update(**values)

    return change


@pytest.mark.parametrize(
    ("check", "breaks", "said"),
    [
        ("values", changed(status="zombie"), "no status that there is"),
        ("values", changed(memory_type="weird"), "no type that there is"),
        ("values", changed(confidence=7), "a confidence outside of 0 to 1"),
        ("values", changed(confidence=-0.1), "a confidence outside of 0 to 1"),
        ("values", changed(created_at=NOW + timedelta(days=90)), "written in the future"),
        ("sources", changed(source_ids=[uuid.uuid4() for _ in range(6)]), "more than five sources"),
        ("expiry", changed(expires_at=NOW + timedelta(days=400)), "later than 180 days"),
        ("tombstones", changed(status="deleted"), "without a time"),
        ("tombstones", changed(status="superseded"), "without a time"),
        ("tombstones", changed(deleted_at=NOW - timedelta(days=1)), "is not deleted"),
        ("tombstones", changed(status="deleted", deleted_at=NOW + timedelta(days=1)), "in the future"),
        ("tombstones", changed(status="superseded", superseded_at=NOW + timedelta(days=1)), "in the future"),
        ("decryptability", changed(sealed=b"F1"), "does not open (truncated)"),
        ("decryptability", changed(dek_version=7), "does not open (version)"),
        ("decryptability", changed(key_hash=b"x" * 32), "the hash of its key is another one"),
        ("decryptability", changed(content_hash=b"x" * 32), "the hash of its content is another one"),
    ],
)
def test_a_broken_row_is_named(
    consented: Scope, lax: None, check: str, breaks: Callable[[Fact], None], said: str
) -> None:
    make_fact(consented, key="pet.cat", body="Has a cat.")
    fact = make_fact(consented)
    breaks(fact)
    before = list(Fact.objects.order_by("pk").values())
    found = wrong()
    assert any(str(fact.pk) in sentence and said in sentence for sentence in found.pop(check)), found
    # The row that names another data key, and a changed type, under which the record is sealed, break more than one.
    assert set(found) <= {"data keys", "decryptability"}
    assert list(Fact.objects.order_by("pk").values()) == before


def test_more_than_the_cap_and_two_facts_in_one_slot_are_named(consented: Scope, lax: None) -> None:
    fill(consented, 200)
    row = Fact.objects.first()
    assert row is not None
    make_fact(consented, key="filler.0", body="Filler number 0.")
    found = wrong()
    assert "201 live facts" in found["cap"][0]
    assert "2 live facts in one slot" in found["uniqueness"][0]


def test_broken_chains_are_named(consented: Scope, colleague: User) -> None:
    live, other = make_fact(consented), make_fact(consented, key="pet.cat", body="Has a cat.")
    successor = make_fact(consented, key="a", body="A.")

    def supersedes(predecessor: uuid.UUID, *, row: Fact = successor) -> list[str]:
        Fact.objects.filter(pk=row.pk).update(supersedes_id=predecessor)
        return wrong().get("chains", [])

    assert supersedes(uuid.uuid4()) == []  # retention has removed it
    assert supersedes(live.pk) == [f"fact {successor.pk}: supersedes a fact that is still live"]
    assert f"fact {successor.pk}: supersedes itself" in supersedes(successor.pk)
    foreign_scope = grant(Scope(consented.organization_id, colleague.pk, consented.agent_id), colleague)
    foreign = make_fact(foreign_scope, status="superseded")
    assert supersedes(foreign.pk) == [f"fact {successor.pk}: supersedes a fact of another scope"]
    gone = make_fact(consented, key="b", body="B.", status="superseded")
    assert supersedes(gone.pk) == []
    assert supersedes(gone.pk, row=other) == [f"fact {gone.pk}: superseded by 2 facts"]


def test_facts_without_a_consent_row_are_named_and_withdrawn_consent_is_fine(consented: Scope) -> None:
    make_fact(consented)
    Consent.objects.update(granted=False, withdrawn_at=timezone.now())
    assert wrong() == {}
    Consent.objects.all().delete()
    assert "1 facts without a consent row" in wrong()["consent"][0]


@pytest.mark.parametrize(("model", "name"), [(User, "users"), (Agent, "agents"), (Organization, "organizations")])
def test_facts_of_subjects_that_are_gone_are_counted_tombstones_too(consented: Scope, model: Any, name: str) -> None:
    make_fact(consented)
    make_fact(consented, key="a", body="A.", status="deleted")
    model.objects.update(deleted_at=timezone.now())
    assert wrong()["orphans"] == [f"2 facts of deleted {name} (1 live)"]


def test_facts_whose_subject_is_not_in_the_database_are_counted(consented: Scope) -> None:
    fact = make_fact(consented)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE facts_fact DISABLE TRIGGER ALL")  # foreign keys among them
        cursor.execute("UPDATE facts_fact SET user_id = %s", [uuid.uuid4()])
        assert "1 facts of users that are not in the database" in wrong()["orphans"]
        cursor.execute("UPDATE facts_fact SET user_id = %s", [fact.user_id])
        cursor.execute("ALTER TABLE facts_fact ENABLE TRIGGER ALL")


def test_facts_of_an_agent_of_another_organization_are_counted(consented: Scope) -> None:
    make_fact(consented)
    other = make_organization("elsewhere")
    agent = make_agent(other, "guide")
    member = make_member(other, agent, "eve@elsewhere.example")
    scope = Scope(consented.organization_id, member.pk, agent.pk)
    Consent.objects.create(
        organization_id=scope.organization_id, user=member, agent=agent, granted=True, text_version=1, granted_at=NOW
    )
    make_fact(scope)
    assert wrong()["orphans"] == ["1 facts of an agent of another organization"]


def test_data_keys_that_are_lost_destroyed_or_not_active_are_named(consented: Scope, lax: None) -> None:
    make_fact(consented)
    keys = OrganizationKey.objects.filter(purpose="dek")
    keys.update(state="destroyed")
    found = wrong()
    assert any("1 records under data key 1, which is not there" in sentence for sentence in found["data keys"])
    assert any("still has its bytes" in sentence for sentence in found["data keys"])
    assert "key unavailable (no_keys)" in found["decryptability"][0]
    keys.update(state="decrypt_only")
    assert "0 active keys for purpose dek" in wrong()["data keys"][0]


def test_keys_without_their_kek_are_counted(consented: Scope, settings: Any) -> None:
    make_fact(consented)
    OrganizationKey.objects.update(kek_id="lost")
    assert wrong()["wrapped keys"] == ["2 wrapped keys do not open (unknown_kek)"]
    settings.KEYRING_JSON, settings.KEYRING_FILE = "", None
    assert wrong()["wrapped keys"] == ["2 wrapped keys and no keyring that opens them (missing)"]


def test_a_finding_makes_doctor_exit_1(consented: Scope) -> None:
    make_fact(consented)
    Consent.objects.all().delete()
    with pytest.raises(SystemExit) as exited:
        call_command("doctor", stdout=(out := StringIO()))
    assert exited.value.code == 1
    assert "consent: 1 wrong" in out.getvalue()
