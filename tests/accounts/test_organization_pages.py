"""The organization's pages through HTTP: members, invitations and the link behind them, ownership (I02, I04, I07)."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.core import mail
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from accounts.models import Invitation, Membership, Organization, User
from facts.models import Fact
from tests import factories

pytestmark = pytest.mark.django_db
type ClientFor = Callable[..., Client]
PASSWORD = "a rather long new one"


@pytest.fixture
def olga(organization: Organization) -> User:
    return factories.make_member(organization, None, "olga@acme.example", name="Olga", role="owner")


@pytest.fixture
def ada(organization: Organization, olga: User) -> User:
    return factories.make_member(organization, None, "ada@acme.example", name="Ada", role="admin")


def text(response: Any) -> str:
    return str(response.content.decode())


def url(name: str, *more: object) -> str:
    return reverse(name, args=["acme", *more])


def link_in(message: Any) -> str:
    return "/invitations/" + str(message.body).split("/invitations/")[1].split()[0]


def invite(client: Client, email: str = "eva@new.example", role: str = "member") -> HttpResponse:
    answer: HttpResponse = client.post(  # type: ignore[assignment]
        url("organization-invitations"), {"email": email, "role": role}, follow=True
    )
    return answer


def sign_up(client: Client, link: str, **changes: str) -> HttpResponse:
    typed = {"name": "Eva", "password1": PASSWORD, "password2": PASSWORD, "time_zone": "Europe/Berlin"}
    answer: HttpResponse = client.post(link, typed | changes)  # type: ignore[assignment]
    return answer


# --- organizations and members ----------------------------------------------------------------------------------------


def test_the_list_shows_the_organizations_of_a_member_and_to_others_what_to_do(
    olga: User, stranger: User, client_for: ClientFor
) -> None:
    page = text(client_for(olga).get(reverse("organizations")))
    assert "Acme" in page
    assert "Other" not in page
    assert "New organization" not in page
    nobody = factories.make_user("nobody@acme.example")
    assert "You belong to no organization yet" in text(client_for(nobody).get(reverse("organizations")))


def test_operators_found_organizations_and_everybody_where_the_deployment_says_so(
    olga: User, client_for: ClientFor, settings: Any
) -> None:
    operator = factories.make_user("op@support.example", staff=True)
    staff = factories.make_user("staff@support.example", staff=True)
    operator.user_permissions.add(Permission.objects.get(codename="operate"))
    typed = {"name": "Fresh", "slug": "fresh"}
    for other in (olga, staff):
        assert client_for(other).post(reverse("organization-new"), typed).status_code == 403
    response = client_for(operator).post(reverse("organization-new"), typed)
    assert response["Location"] == reverse("organization", args=["fresh"])
    assert Membership.objects.get(user=operator).role == "owner"
    settings.ORGANIZATION_FOUNDERS = "everyone"
    assert client_for(olga).post(reverse("organization-new"), {"name": "Hers", "slug": "hers"}).status_code == 303


def test_a_bad_name_or_short_name_is_refused_in_words_and_what_was_typed_stays(client_for: ClientFor) -> None:
    root = User.objects.create_superuser("root@support.example", "x")
    factories.make_organization("taken")
    client = client_for(root)
    for slug, said in (("Acme Two", "Use lower-case letters"), ("taken", "is taken"), ("new", "is taken")):
        response = client.post(reverse("organization-new"), {"name": "Ünïque", "slug": slug})
        assert response.status_code == 400
        assert said in text(response)
        assert 'value="Ünïque"' in text(response)
        assert f'value="{slug}"' in text(response)
    response = client.post(reverse("organization-new"), {"name": "a\x07b", "slug": "fine"})
    assert "control character at position 1" in text(response)


def test_the_members_page_shows_addresses_and_acts_to_administrators_only(
    olga: User, ada: User, owner: User, client_for: ClientFor
) -> None:
    page = text(client_for(ada).get(url("organization")))
    assert owner.email in page
    assert url("organization-remove", owner.pk) in page
    assert url("organization-remove", olga.pk) not in page
    assert url("organization-remove", ada.pk) not in page
    page = text(client_for(owner).get(url("organization")))
    assert "Olga" in page
    assert olga.email not in page
    assert url("organization-remove", ada.pk) not in page
    assert url("organization-invitations") not in page


def test_i02_the_confirm_page_says_what_is_kept_and_removing_keeps_it(
    olga: User, owner: User, consented: Any, client_for: ClientFor
) -> None:
    factories.make_fact(consented)
    address, client = url("organization-remove", owner.pk), client_for(olga)
    page = text(client.get(address))
    assert "Nothing is erased: facts, consent, permissions and conversations stay" in page
    assert Membership.objects.filter(user=owner).exists()
    assert "No fact was erased" in text(client.post(address, follow=True))
    assert not Membership.objects.filter(user=owner).exists()
    assert Fact.objects.filter(status="active").count() == 1
    assert client_for(owner).get(url("organization")).status_code == 404
    assert client.post(address).status_code == 404


def test_a_role_is_changed_and_an_administrator_is_offered_no_owner(
    olga: User, ada: User, owner: User, client_for: ClientFor
) -> None:
    address = url("organization-role", owner.pk)
    client = client_for(ada)
    assert 'value="owner"' not in text(client.get(address))
    assert client.post(address, {"role": "owner"}).status_code == 400
    assert client.get(url("organization-role", olga.pk)).status_code == 403
    assert client.post(url("organization-remove", olga.pk)).status_code == 403
    assert 'value="owner"' in text(client_for(olga).get(address))
    assert client_for(olga).post(address, {"role": "admin"}).status_code == 303
    assert Membership.objects.get(user=owner).role == "admin"


def test_i02_the_last_owner_is_told_why_she_cannot_leave_or_step_down(olga: User, client_for: ClientFor) -> None:
    client = client_for(olga)
    for address, data in ((url("organization-leave"), {}), (url("organization-role", olga.pk), {"role": "admin"})):
        response = client.post(address, data)
        assert response.status_code in (400, 409)
        assert "keeps at least one owner" in text(response)
    assert Membership.objects.get(user=olga).role == "owner"


def test_a_member_leaves(olga: User, owner: User, client_for: ClientFor) -> None:
    client = client_for(owner)
    assert "Your facts are not erased" in text(client.get(url("organization-leave")))
    assert "You left Acme" in text(client.post(url("organization-leave"), follow=True))
    assert not Membership.objects.filter(user=owner).exists()


def test_i07_ownership_is_handed_over_after_the_name_was_typed(
    olga: User, ada: User, owner: User, client_for: ClientFor
) -> None:
    client = client_for(olga)
    wrong = client.post(url("organization-transfer"), {"heir": str(owner.pk), "typed": "Acne"})
    assert wrong.status_code == 400
    assert "is not the organization&#x27;s name" in text(wrong)
    assert 'value="Acne"' in text(wrong)
    assert client.post(url("organization-transfer"), {"heir": "x", "typed": "Acme"}).status_code == 400
    assert client_for(ada).post(url("organization-transfer")).status_code == 403
    assert client.post(url("organization-transfer"), {"heir": str(owner.pk), "typed": " acme "}).status_code == 303
    roles = dict(Membership.objects.values_list("user__name", "role"))
    assert (roles["Ana"], roles["Olga"]) == ("owner", "admin")


def test_whoever_owns_alone_is_told_to_invite_somebody_first(olga: User, client_for: ClientFor) -> None:
    assert "There is nobody to hand it to yet" in text(client_for(olga).get(url("organization-transfer")))


# --- invitations ------------------------------------------------------------------------------------------------------


def test_i07_the_invited_person_signs_up_through_the_link_and_is_signed_in(olga: User, client_for: ClientFor) -> None:
    page = text(invite(client_for(olga)))
    assert "The invitation for eva@new.example is on its way" in page
    link, eva = link_in(mail.outbox[-1]), Client()
    page = text(eva.get(link))
    assert "Olga invited eva@new.example" in page
    session = eva.session  # an anonymous visitor's, kept under its key
    session["before"] = True
    session.save()
    before = eva.cookies["sessionid"].value
    response = sign_up(eva, link)
    assert response["Location"] == reverse("agents")
    assert eva.cookies["sessionid"].value != before  # I06
    assert "Welcome. You are a member of Acme now." in text(eva.get(reverse("agents")))
    assert User.objects.get(email="eva@new.example").time_zone == "Europe/Berlin"
    again = Client().get(link)
    assert again.status_code == 404
    assert "This invitation does not work" in text(again)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"password2": "something else"}, "password fields didn"),
        ({"password1": "short", "password2": "short"}, "too short"),
        ({"password1": "eva@new.example", "password2": "eva@new.example"}, "too similar"),
        ({"name": "Eva\x00"}, "ull character"),
        ({"name": "  "}, "required"),
        ({"time_zone": "Mars/Olympus"}, "not one of the available choices"),
    ],
)
def test_a_bad_name_or_password_is_refused_and_the_name_stays(
    olga: User, client_for: ClientFor, changes: dict[str, str], said: str
) -> None:
    invite(client_for(olga))
    response = sign_up(Client(), link_in(mail.outbox[-1]), **changes)
    assert response.status_code == 400
    assert said in text(response)
    if "name" not in changes:
        assert 'value="Eva"' in text(response)
    assert PASSWORD not in text(response)
    assert not User.objects.with_email("eva@new.example").exists()


def test_whoever_has_an_account_signs_in_and_accepts(olga: User, client_for: ClientFor) -> None:
    eva = factories.make_user("eva@new.example")
    invite(client_for(olga))
    link = link_in(mail.outbox[-1])
    page = text(Client().get(link))
    assert "This address has an account" in page
    assert f"{reverse('login')}?next={link}" in page
    assert sign_up(Client(), link).status_code == 200
    assert User.objects.with_email("eva@new.example").get() == eva
    wrong = client_for(factories.make_user("sam@other.example")).post(link)
    assert wrong.status_code == 403
    assert "You are signed in as sam@other.example" in text(wrong)
    client = client_for(eva)
    assert "Accept the invitation" in text(client.get(link))
    assert not Membership.objects.filter(user=eva).exists()
    assert client.post(link)["Location"] == reverse("agents")
    assert Membership.objects.get(user=eva).role == "member"


def test_the_inviter_sees_the_same_for_an_address_with_and_without_an_account(
    olga: User, client_for: ClientFor
) -> None:
    factories.make_user("eva@new.example")
    pages = []
    for email in ("eva@new.example", "bob@new.example"):
        page = text(invite(client_for(olga), email))
        pages.append(page.count(email))
        assert "no account" not in page
    assert pages[0] == pages[1]


@pytest.mark.parametrize(
    ("email", "said"),
    [("nonsense", "valid email address"), ("OLGA@acme.example", "A member has this address"), ("", "required")],
)
def test_an_address_that_cannot_be_invited_is_refused_in_words(
    olga: User, client_for: ClientFor, email: str, said: str
) -> None:
    response = invite(client_for(olga), email)
    assert response.status_code == 400
    assert said in text(response)
    assert not Invitation.objects.exists()
    assert mail.outbox == []


def test_an_invitation_is_sent_again_and_revoked(olga: User, ada: User, client_for: ClientFor) -> None:
    client = client_for(ada)
    invite(client)
    assert "is invited already" in text(invite(client))
    row = Invitation.objects.get()
    old = link_in(mail.outbox[-1])
    page = text(client.post(url("organization-invitation-resend", row.pk), follow=True))
    assert "is on its way" in page
    assert Client().get(old).status_code == 404
    new = link_in(mail.outbox[-1])
    assert Client().get(new).status_code == 200
    page = text(client.post(url("organization-invitation-revoke", row.pk), follow=True))
    assert "The invitation is revoked" in page
    assert "Nobody is invited at the moment" in page
    assert Client().get(new).status_code == 404
    assert "no longer open" in text(client.post(url("organization-invitation-resend", row.pk), follow=True))


def test_a_newcomer_is_told_in_which_folder_the_mail_lies(
    olga: User, client_for: ClientFor, settings: Any, tmp_path: Any
) -> None:
    backend, folder = "accounts.mail_folder.FolderBackend", tmp_path / "mail"
    settings.MAILERS = {"default": {"BACKEND": backend, "OPTIONS": {"file_path": folder}}}
    assert str(folder) in text(invite(client_for(olga)))
    (written,) = folder.iterdir()
    assert (folder.stat().st_mode & 0o777, written.stat().st_mode & 0o777) == (0o700, 0o600)
    lines = written.read_text().splitlines()
    assert lines[:3] == ["To: eva@new.example", "Subject: Invitation to Acme", ""]
    (link,) = [line for line in lines if "/invitations/" in line]  # whole, to be copied
    assert Client().get(link.removeprefix("http://testserver")).status_code == 200
    settings.PRODUCTION = True
    assert str(tmp_path) not in text(client_for(olga).get(url("organization-invitations")))


def test_names_are_shown_as_text(olga: User, client_for: ClientFor) -> None:
    User.objects.filter(pk=olga.pk).update(name="<b>Olga</b>")
    olga.refresh_from_db()
    page = text(invite(client_for(olga)))
    assert "<b>Olga</b>" not in page
    assert "<b>Olga</b> invites you" in mail.outbox[-1].body  # a mail is plain text
    assert "<b>Olga</b>" not in text(Client().get(link_in(mail.outbox[-1])))


def test_an_owner_with_another_owner_beside_her_may_step_down(olga: User, owner: User, client_for: ClientFor) -> None:
    Membership.objects.filter(user=owner).update(role="owner")
    client = client_for(olga)
    page = text(client.get(url("organization")))
    assert url("organization-role", olga.pk) in page
    assert url("organization-remove", olga.pk) not in page
    assert client.post(url("organization-role", olga.pk), {"role": "member"}).status_code == 303
    assert Membership.objects.get(user=olga).role == "member"
    assert client.get(url("organization")).status_code == 200
