"""I02, I07: who may give and take which role, founding and handing over, and one owner at least, under a lock."""

from threading import Event

import pytest
from django.db import transaction

from accounts.members import (
    NoSuchMember,
    NotAllowed,
    SlugTaken,
    change_role,
    dismiss,
    found_organization,
    transfer_ownership,
)
from accounts.models import Membership, Organization, User
from accounts.services import LastOwner
from audit.models import AuditEvent
from tests.factories import make_member, make_organization, make_user
from tests.threads import together

pytestmark = pytest.mark.django_db
ROLES = ("owner", "admin", "member")


@pytest.fixture
def people(organization: Organization) -> dict[str, User]:
    """One member of each role, and a second owner."""
    made = {role: make_member(organization, None, f"{role}@acme.example", role=role) for role in ROLES}
    return made | {"second": make_member(organization, None, "second@acme.example", role="owner")}


def role_of(organization: Organization, user: User) -> str | None:
    return Membership.objects.filter(organization=organization, user=user).values_list("role", flat=True).first()


@pytest.mark.parametrize(
    ("actor", "target", "role", "allowed"),
    [
        ("owner", "member", "owner", True),
        ("owner", "second", "member", True),
        ("owner", "owner", "admin", True),
        ("admin", "member", "admin", True),
        ("admin", "admin", "member", True),
        ("admin", "member", "owner", False),
        ("admin", "owner", "member", False),
        ("admin", "admin", "owner", False),
        ("member", "member", "admin", False),
        ("member", "admin", "member", False),
    ],
)
def test_an_administrator_neither_makes_nor_unmakes_owners_and_a_member_changes_nobody(
    organization: Organization, people: dict[str, User], actor: str, target: str, role: str, allowed: bool
) -> None:
    change = {"organization": organization, "user_id": people[target].pk, "role": role, "actor": people[actor]}
    before = role_of(organization, people[target])
    events = AuditEvent.objects.count()
    if allowed:
        change_role(**change)  # type: ignore[arg-type]
        assert role_of(organization, people[target]) == role
        event = AuditEvent.objects.latest("id")
        assert (event.action, event.actor_id, event.details) == ("member.set", people[actor].pk, {"role": role})
    else:
        with pytest.raises(NotAllowed):
            change_role(**change)  # type: ignore[arg-type]
        assert role_of(organization, people[target]) == before
        assert AuditEvent.objects.count() == events


@pytest.mark.parametrize(
    ("actor", "target", "allowed"),
    [
        ("owner", "second", True),
        ("admin", "member", True),
        ("admin", "owner", False),
        ("member", "admin", False),
        ("member", "member", True),  # leaves
        ("admin", "admin", True),
    ],
)
def test_an_administrator_removes_no_owner_and_everybody_may_leave(
    organization: Organization, people: dict[str, User], actor: str, target: str, allowed: bool
) -> None:
    if allowed:
        dismiss(organization=organization, user_id=people[target].pk, actor=people[actor])
    else:
        with pytest.raises(NotAllowed):
            dismiss(organization=organization, user_id=people[target].pk, actor=people[actor])
    assert (role_of(organization, people[target]) is None) is allowed


def test_the_last_owner_neither_leaves_nor_steps_down(organization: Organization) -> None:
    olga = make_member(organization, None, "olga@acme.example", role="owner")
    with pytest.raises(LastOwner):
        dismiss(organization=organization, user_id=olga.pk, actor=olga)
    with pytest.raises(LastOwner):
        change_role(organization=organization, user_id=olga.pk, role="admin", actor=olga)
    assert role_of(organization, olga) == "owner"


def test_whoever_is_of_another_organization_changes_nothing(
    organization: Organization, people: dict[str, User]
) -> None:
    stranger = make_member(make_organization("other"), None, "sam@other.example", role="owner")
    with pytest.raises(NotAllowed):
        change_role(organization=organization, user_id=people["member"].pk, role="admin", actor=stranger)
    with pytest.raises(NotAllowed):
        dismiss(organization=organization, user_id=people["member"].pk, actor=stranger)
    with pytest.raises(NoSuchMember):
        dismiss(organization=organization, user_id=stranger.pk, actor=people["owner"])
    with pytest.raises(NoSuchMember):
        transfer_ownership(organization=organization, user_id=stranger.pk, actor=people["owner"])


def test_a_transfer_makes_an_owner_and_an_administrator_in_one_step(
    organization: Organization, people: dict[str, User]
) -> None:
    transfer_ownership(organization=organization, user_id=people["member"].pk, actor=people["owner"])
    assert role_of(organization, people["member"]) == "owner"
    assert role_of(organization, people["owner"]) == "admin"
    event = AuditEvent.objects.get(action="organization.transfer")
    assert (event.actor_id, event.subject_user_id) == (people["owner"].pk, people["member"].pk)
    with pytest.raises(NotAllowed):
        transfer_ownership(organization=organization, user_id=people["owner"].pk, actor=people["admin"])
    with pytest.raises(NoSuchMember):
        transfer_ownership(organization=organization, user_id=people["second"].pk, actor=people["second"])


def test_a_founder_is_the_owner_and_a_taken_or_reserved_slug_is_refused(organization: Organization) -> None:
    fay = make_user("fay@new.example")
    made = found_organization(slug="fresh", name="Fresh", founder=fay)
    assert role_of(made, fay) == "owner"
    actions = AuditEvent.objects.filter(organization_id=made.pk).values_list("action", "actor_id")
    assert set(actions) == {("organization.create", fay.pk), ("member.set", fay.pk)}
    for slug in (organization.slug, "new"):
        with pytest.raises(SlugTaken):
            found_organization(slug=slug, name="Again", founder=fay)


@pytest.mark.django_db(transaction=True)
def test_an_administrator_who_is_demoted_meanwhile_appoints_nobody(organization: Organization) -> None:
    olga = make_member(organization, None, "olga@acme.example", role="owner")
    ada = make_member(organization, None, "ada@acme.example", role="admin")
    max_ = make_member(organization, None, "max@acme.example")
    demoted = Event()

    def demote() -> None:
        with transaction.atomic():
            change_role(organization=organization, user_id=ada.pk, role="member", actor=olga)
            demoted.set()
            Event().wait(timeout=0.2)  # the appointment comes before this is committed, if it can

    def appoint() -> None:
        assert demoted.wait(timeout=10)
        change_role(organization=organization, user_id=max_.pk, role="admin", actor=ada)

    first, second = together(demote, appoint)
    assert first is None
    assert isinstance(second, NotAllowed)
    assert role_of(organization, max_) == "member"
