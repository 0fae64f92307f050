"""Staff change users in Django admin through the audited service; rights are a superuser's to give (I01, T03)."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Permission
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from accounts.models import Organization, User
from accounts.services import NotSuperuser, update_user
from audit.models import AuditEvent
from tests.factories import make_user

pytestmark = pytest.mark.django_db
type ClientFor = Callable[..., Client]


@pytest.fixture
def staff(db: None) -> User:
    user = make_user("staff@acme.example", staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=["change_user", "view_user"]))
    return user


@pytest.fixture
def root(db: None) -> User:
    return User.objects.create_superuser("root@acme.example", "only-for-trying-out")


def edit(client: Client, user: User, **changes: str) -> HttpResponse:
    form = {"email": user.email, "name": user.name, "time_zone": "UTC", "language": "en", "is_active": "on", **changes}
    answer: HttpResponse = client.post(reverse("admin:accounts_user_change", args=[user.pk]), form)  # type: ignore[assignment]
    return answer


@pytest.mark.parametrize(
    ("field", "value"), [("name", "Ana\u202egpj"), ("name", "Ana\x01"), ("email", "ana@ac\u202eme.example")]
)
def test_a_text_that_may_not_enter_is_refused_in_words(
    staff: User, owner: User, client_for: ClientFor, field: str, value: str
) -> None:
    assert edit(client_for(staff), owner, **{field: value}).status_code == 200
    User.objects.filter(pk=owner.pk).update(name="Ana\u202egpj")  # from before there was the rule
    owner.refresh_from_db()
    assert edit(client_for(staff), owner, time_zone="Europe/Lisbon").status_code == 302


def test_an_organization_s_name_is_one_line(organization: Organization, client_for: ClientFor) -> None:
    client = client_for(User.objects.create_superuser("root@acme.example", "x"))
    address = reverse("admin:accounts_organization_change", args=[organization.pk])
    for name, status in (("x\u2028y", 200), ("Ana\u202egpj", 200), ("Acme two", 302)):
        assert client.post(address, {"name": name}).status_code == status
    organization.refresh_from_db()
    assert organization.name == "Acme two"


def updates() -> list[AuditEvent]:
    return list(AuditEvent.objects.filter(action="user.update"))


def test_a_change_is_made_and_audited_without_its_text(owner: User, staff: User, client_for: ClientFor) -> None:
    assert edit(client_for(staff), owner, name="Anna", time_zone="Europe/Lisbon").status_code == 302
    owner.refresh_from_db()
    assert (owner.name, owner.time_zone) == ("Anna", "Europe/Lisbon")
    (event,) = updates()
    assert (event.actor_id, event.subject_user_id) == (staff.pk, owner.pk)
    assert event.details == {"changed": "name, time_zone"}


def test_staff_give_nobody_rights_and_leave_superusers_alone(
    owner: User, staff: User, root: User, client_for: ClientFor
) -> None:
    for user in (owner, staff):
        assert edit(client_for(staff), user, is_staff="on", is_superuser="on").status_code == 302
        user.refresh_from_db()
        assert not user.is_superuser
    assert not owner.is_staff
    assert edit(client_for(staff), root, email="mine@acme.example").status_code == 403
    with pytest.raises(NotSuperuser):
        update_user(user=owner, changes={"is_superuser": True}, actor=staff)
    with pytest.raises(NotSuperuser):
        update_user(user=root, changes={"email": "mine@acme.example"}, actor=staff)
    assert updates() == []


def test_a_superuser_gives_rights_and_it_is_audited(owner: User, root: User, client_for: ClientFor) -> None:
    assert edit(client_for(root), owner, is_staff="on").status_code == 302
    owner.refresh_from_db()
    assert owner.is_staff
    (event,) = updates()
    assert event.details == {"changed": "is_staff", "is_staff": True}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"email": "BEN@acme.example"}, "Another account has this e-mail address."),
        ({"email": "no address"}, "valid email address"),
        ({"time_zone": "Berlin"}, "is no time zone"),
    ],
)
def test_what_cannot_be_is_refused_in_the_form(
    owner: User, colleague: User, root: User, client_for: ClientFor, changes: dict[str, str], said: str
) -> None:
    answer = edit(client_for(root), owner, **changes)
    assert answer.status_code == 200
    assert said in answer.content.decode()
    assert updates() == []


def test_the_same_address_in_another_case_is_one_s_own(owner: User, root: User, client_for: ClientFor) -> None:
    assert edit(client_for(root), owner, email="ANA@acme.example").status_code == 302
    assert User.objects.with_email("ana@acme.example").get() == owner
