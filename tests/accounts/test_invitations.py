"""I07: an invitation opens once, for a week, for one address; nothing of its link is stored or logged."""

import logging
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core import mail
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from accounts import invitations
from accounts.invitations import (
    PER_ADDRESS,
    AddressTaken,
    AlreadyInvited,
    AlreadyMember,
    NotOpen,
    OtherAddress,
    TooManyMails,
)
from accounts.mail import wait_for_mail
from accounts.members import NotAllowed, change_role, dismiss, transfer_ownership
from accounts.models import Invitation, Membership, Organization, User
from audit.models import AuditEvent
from jobs.logging import without_links
from tests.factories import PASSWORD, make_invitation, make_member, make_organization, make_user
from tests.threads import together

pytestmark = pytest.mark.django_db
EVA = "eva@new.example"


@pytest.fixture
def olga(organization: Organization) -> User:
    return make_member(organization, None, "olga@acme.example", name="Olga", role="owner")


@pytest.fixture
def ada(organization: Organization, olga: User) -> User:
    return make_member(organization, None, "ada@acme.example", name="Ada", role="admin")


def invite(organization: Organization, actor: User, email: str = EVA, role: str = "member") -> str:
    """Invite and return the token of the link in the mail."""
    offered = invitations.invite(
        organization=organization,
        email=email,
        role=role,
        actor=actor,
        link=lambda token: f"https://memory.example/invitations/{token}/",
        now=timezone.now(),
    )
    assert offered.sent
    return token_in(mail.outbox[-1])


def token_in(message: Any) -> str:
    return str(message.body).split("/invitations/")[1].split("/", 1)[0]


def sign_up(token: str, *, now: datetime | None = None) -> User:
    return invitations.sign_up(
        token=token, name="Eva", password=PASSWORD, time_zone="Europe/Berlin", now=now or timezone.now()
    )


def test_the_invited_person_signs_up_and_is_a_member_with_the_offered_role(
    organization: Organization, olga: User, django_capture_on_commit_callbacks: Any
) -> None:
    token = invite(organization, olga, role="admin")
    message = mail.outbox[-1]
    assert message.to == [EVA]
    assert message.subject == "Invitation to Acme"
    assert "Olga invites you to join Acme" in message.body
    with django_capture_on_commit_callbacks(execute=True):
        eva = sign_up(token)
    assert eva.check_password(PASSWORD)
    assert (eva.email, eva.name, eva.time_zone) == (EVA, "Eva", "Europe/Berlin")
    assert Membership.objects.get(user=eva).role == "admin"
    wait_for_mail()
    assert mail.outbox[-1].to == [olga.email]
    assert "Eva (eva@new.example) accepted your invitation" in mail.outbox[-1].body
    events = AuditEvent.objects.filter(action__startswith="invitation.")
    assert [(event.action, event.actor_id, event.details) for event in events.order_by("id")] == [
        ("invitation.create", olga.pk, {"role": "admin"}),
        ("invitation.accept", eva.pk, {"role": "admin"}),
    ]
    assert EVA not in str(AuditEvent.objects.values())


def test_a_link_opens_once(organization: Organization, olga: User) -> None:
    token = invite(organization, olga)
    eva = sign_up(token)
    with pytest.raises(NotOpen):
        sign_up(token)
    with pytest.raises(NotOpen):
        invitations.accept(token=token, user=eva, now=timezone.now())
    assert not Invitation.objects.exists()  # the address is not kept beyond its use


@pytest.mark.django_db(transaction=True)
def test_a_link_that_is_used_twice_at_once_makes_one_account(organization: Organization, olga: User) -> None:
    token = invite(organization, olga)
    outcomes = together(lambda: sign_up(token), lambda: sign_up(token))
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["NotOpen", "User"]
    assert User.objects.with_email(EVA).count() == 1


def test_a_link_ends_after_a_week_when_revoked_when_replaced_and_with_its_organization(
    organization: Organization, olga: User
) -> None:
    now = timezone.now()
    token = invite(organization, olga)
    row = Invitation.objects.get()
    with pytest.raises(NotOpen):
        sign_up(token, now=now + timedelta(days=7, seconds=5))
    again = invitations.resend(
        organization=organization,
        invitation_id=row.pk,
        actor=olga,
        link=lambda token: f"https://memory.example/invitations/{token}/",
        now=now + timedelta(days=8),
    )
    assert again.sent
    newer = token_in(mail.outbox[-1])
    with pytest.raises(NotOpen):
        sign_up(token)
    assert invitations.invitation_for(newer, now=now + timedelta(days=14)) == row
    with transaction.atomic():
        Organization.objects.filter(pk=organization.pk).update(deleted_at=now)
        with pytest.raises(NotOpen):
            sign_up(newer)
        transaction.set_rollback(True)
    invitations.revoke(organization=organization, invitation_id=row.pk, actor=olga)
    with pytest.raises(NotOpen):
        sign_up(newer)
    with pytest.raises(NotOpen):
        invitations.revoke(organization=organization, invitation_id=row.pk, actor=olga)
    assert not User.objects.with_email(EVA).exists()


def removed(organization: Organization, ada: User, olga: User) -> None:
    dismiss(organization=organization, user_id=ada.pk, actor=olga)


def demoted(organization: Organization, ada: User, olga: User) -> None:
    change_role(organization=organization, user_id=ada.pk, role="member", actor=olga)


def disabled(organization: Organization, ada: User, olga: User) -> None:
    User.objects.get_queryset().filter(pk=ada.pk).update(is_active=False)


@pytest.mark.parametrize("end", [removed, demoted, disabled])
def test_i02_whoever_may_not_invite_any_more_has_left_no_way_in(
    organization: Organization, olga: User, ada: User, client_for: Any, end: Any
) -> None:
    token = invite(organization, ada, role="admin")
    end(organization, ada, olga)
    with pytest.raises(NotOpen):
        sign_up(token)
    assert not User.objects.with_email(EVA).exists()
    page = client_for(olga).get(reverse("organization-invitations", args=["acme"])).content.decode()
    assert "whoever sent it may not invite any more" in page
    invitations.resend(
        organization=organization,
        invitation_id=Invitation.objects.get().pk,
        actor=olga,
        link=lambda token: f"https://memory.example/invitations/{token}/",
        now=timezone.now(),
    )
    assert sign_up(token_in(mail.outbox[-1])).email == EVA  # now it is Olga's invitation


def test_an_owner_who_hands_on_takes_back_the_places_of_owners_that_she_offered(
    organization: Organization, olga: User, ada: User
) -> None:
    owners, members = invite(organization, olga, role="owner"), invite(organization, olga, "mia@new.example")
    transfer_ownership(organization=organization, user_id=ada.pk, actor=olga)
    with pytest.raises(NotOpen):
        sign_up(owners)
    assert sign_up(members).email == "mia@new.example"


def test_a_link_that_was_tampered_with_opens_nothing(organization: Organization, olga: User) -> None:
    token = invite(organization, olga)
    pk, secret, signature = token.split(".")
    other = invite(organization, olga, "other@new.example")
    forged = (
        "",
        "x",
        "\x00",
        "a.b.c",
        token[:-1],
        token + "a",
        f"{pk}.{secret[:-1]}x.{signature}",
        f"{other.split('.')[0]}.{secret}.{signature}",
    )
    for each in forged:
        with pytest.raises(NotOpen):
            invitations.invitation_for(each, now=timezone.now())


def test_only_a_hash_of_the_link_is_stored_and_none_of_it_is_logged(
    organization: Organization, olga: User, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        token = invite(organization, olga)
    secret = token.split(".")[1]
    stored = f"{Invitation.objects.values().get()}{AuditEvent.objects.values()}"
    for kept in (stored, caplog.text):
        assert secret not in kept
    assert EVA not in caplog.text
    for request in (f"GET /invitations/{token}/", f"/login/?next=%2Finvitations%2F{token}%2F"):
        assert secret not in str(without_links(None, "", {"request": request, "count": 1}))
    assert without_links(None, "", {"request": "GET /agents/"}) == {"request": "GET /agents/"}


def test_whoever_has_an_account_accepts_with_it_and_nobody_else_does(organization: Organization, olga: User) -> None:
    eva = make_user("Eva@new.example")
    sam = make_user("sam@other.example")
    token = invite(organization, olga)
    with pytest.raises(AddressTaken):
        sign_up(token)
    with pytest.raises(OtherAddress):
        invitations.accept(token=token, user=sam, now=timezone.now())
    assert invitations.accept(token=token, user=eva, now=timezone.now()) == organization
    assert Membership.objects.get(user=eva).role == "member"


def test_an_address_with_an_account_is_invited_exactly_like_one_without(organization: Organization, olga: User) -> None:
    make_user("known@new.example")
    texts = []
    for email in ("known@new.example", "fresh@new.example"):
        token = invite(organization, olga, email)
        texts.append((mail.outbox[-1].subject, mail.outbox[-1].body.replace(token, "")))
    assert texts[0] == texts[1]


def test_a_member_or_an_invited_address_is_not_invited_again(organization: Organization, olga: User) -> None:
    invite(organization, olga)
    with pytest.raises(AlreadyInvited):
        invite(organization, olga, EVA.upper())
    with pytest.raises(AlreadyMember):
        invite(organization, olga, "OLGA@acme.example")
    with pytest.raises(IntegrityError), transaction.atomic():  # and the database says so, too
        make_invitation(organization, EVA.title())
    other = make_organization("other")
    invite(other, make_member(other, None, "otto@other.example", role="owner"))
    assert Invitation.objects.count() == 2


def test_an_administrator_neither_invites_owners_nor_touches_their_invitations(
    organization: Organization, olga: User, ada: User
) -> None:
    for actor, role in ((ada, "owner"), (make_member(organization, None, "m@acme.example"), "member")):
        with pytest.raises(NotAllowed):
            invite(organization, actor, role=role)
    invite(organization, olga, role="owner")
    row = Invitation.objects.get()
    with pytest.raises(NotAllowed):
        invitations.revoke(organization=organization, invitation_id=row.pk, actor=ada)
    with pytest.raises(NotAllowed):
        invitations.resend(
            organization=organization, invitation_id=row.pk, actor=ada, link=lambda token: token, now=timezone.now()
        )
    other = make_organization("other")
    otto = make_member(other, None, "otto@other.example", role="owner")
    with pytest.raises(NotOpen):
        invitations.revoke(organization=other, invitation_id=row.pk, actor=otto)


def test_nobody_is_flooded_with_invitations(organization: Organization, olga: User) -> None:
    invite(organization, olga)
    row, now = Invitation.objects.get(), timezone.now()
    resend = {"organization": organization, "invitation_id": row.pk, "actor": olga, "link": str}
    for _ in range(PER_ADDRESS - 1):
        invitations.resend(**resend, now=now)  # type: ignore[arg-type]
    with pytest.raises(TooManyMails):
        invitations.resend(**resend, now=now)  # type: ignore[arg-type]
    assert len(mail.outbox) == PER_ADDRESS
    invitations.resend(**resend, now=now + timedelta(minutes=61))  # type: ignore[arg-type]


@pytest.mark.parametrize("sign", ["\u202e", "\u2029", "\ue000"])
def test_an_address_that_no_mail_can_have_is_no_server_error(
    organization: Organization, olga: User, client_for: Any, sign: str
) -> None:
    address = reverse("organization-invitations", args=[organization.slug])
    answer = client_for(olga).post(address, {"email": f"bob@ac{sign}me.example", "role": "member"}, follow=True)
    assert answer.status_code == (200 if sign == "\ue000" else 400)
    assert not mail.outbox
    assert Invitation.objects.exists() == (sign == "\ue000")  # it stands, and can be revoked


def test_an_invitation_whose_mail_was_refused_stands_and_can_be_sent_again(
    organization: Organization, olga: User, settings: Any
) -> None:
    settings.MAILERS = {
        "default": {
            "BACKEND": "django.core.mail.backends.smtp.EmailBackend",
            "OPTIONS": {"host": "127.0.0.1", "port": 9, "timeout": 1},
        }
    }
    offered = invitations.invite(
        organization=organization, email=EVA, role="member", actor=olga, link=str, now=timezone.now()
    )
    assert not offered.sent
    assert Invitation.objects.get() == offered.invitation


def test_a_returning_member_keeps_the_role_that_she_was_given_meanwhile(organization: Organization, olga: User) -> None:
    token = invite(organization, olga, role="admin")
    eva = make_member(organization, None, EVA)
    invitations.accept(token=token, user=eva, now=timezone.now())
    assert Membership.objects.get(user=eva).role == "member"
