"""A member's own settings, her password and her API keys through HTTP (I05, I07)."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.authentication import principal_for
from accounts.mail import wait_for_mail
from accounts.models import ApiKey, Organization, User
from accounts.passwords import PER_ADDRESS_AND_NETWORK, PER_MEMBER
from accounts.services import remove_member
from audit.models import AuditEvent
from tests import factories

pytestmark = pytest.mark.django_db
type ClientFor = Callable[..., Client]
PASSWORD = "a rather long new one"


def text(response: Any) -> str:
    return str(response.content.decode())


def change(client: Client, old: str = factories.PASSWORD, new: str = PASSWORD, again: str = "") -> Any:
    typed = {"old_password": old, "new_password1": new, "new_password2": again or new}
    return client.post(reverse("password"), typed)


def link_in(message: Any) -> str:
    return "/password/reset/" + str(message.body).split("/password/reset/")[1].split()[0]


def forget(email: str, *, ip: str = "192.0.2.7") -> Any:
    return Client(REMOTE_ADDR=ip).post(reverse("password-forgotten"), {"email": email})


# --- about you --------------------------------------------------------------------------------------------------------


def test_a_member_changes_her_name_zone_and_mails(owner: User, client_for: ClientFor) -> None:
    client = client_for(owner)
    page = text(client.get(reverse("settings")))
    assert 'value="Ana"' in page
    assert page.count("checked") == 2
    saved = client.post(
        reverse("settings"), {"name": "Anna", "time_zone": "Europe/Lisbon", "language": "pt", "mail_on_key": "on"}
    )
    assert saved["Location"] == reverse("settings")
    owner.refresh_from_db()
    assert (owner.name, owner.time_zone, owner.language) == ("Anna", "Europe/Lisbon", "pt")
    assert (owner.mail_on_key, owner.mail_on_invitation) == (True, False)
    event = AuditEvent.objects.get(action="user.update")
    assert event.details == {"changed": "language, mail_on_invitation, name, time_zone", "mail_on_invitation": False}
    assert event.actor_id == event.subject_user_id == owner.pk


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"name": "x" * 121}, "at most 120 are allowed"),
        ({"name": "half \ufffd"}, "half of a character"),
        ({"time_zone": "Europe/Atlantis"}, "not one of the available choices"),
        ({"language": "tlh"}, "not one of the available choices"),
    ],
)
def test_bad_settings_are_refused_in_words_and_stay_typed(
    owner: User, client_for: ClientFor, typed: dict[str, str], said: str
) -> None:
    response = client_for(owner).post(
        reverse("settings"), {"name": "Anna", "time_zone": "UTC", "language": "en"} | typed
    )
    assert response.status_code == 400
    assert said in text(response)
    assert f'value="{typed.get("name", "Anna")}"' in text(response)
    owner.refresh_from_db()
    assert owner.name == "Ana"


def test_a_zone_and_a_language_that_the_lists_do_not_offer_are_kept(owner: User, client_for: ClientFor) -> None:
    User.objects.filter(pk=owner.pk).update(time_zone="Etc/GMT-3", language="tlh")
    owner.refresh_from_db()
    client = client_for(owner)
    page = text(client.get(reverse("settings")))
    assert '<option value="Etc/GMT-3" selected>' in page
    assert '<option value="tlh" selected>' in page
    typed = {"name": "Anna", "time_zone": "Etc/GMT-3", "language": "tlh"}
    assert client.post(reverse("settings"), typed).status_code == 303
    owner.refresh_from_db()
    assert (owner.name, owner.language) == ("Anna", "tlh")


def test_languages_are_offered_by_their_own_names_and_the_download_is_at_hand(
    owner: User, client_for: ClientFor
) -> None:
    page = text(client_for(owner).get(reverse("settings")))
    assert '<option value="de">Deutsch (German)</option>' in page
    assert '<option value="en" selected>English</option>' in page
    assert reverse("conversations-download") in page


# --- password ---------------------------------------------------------------------------------------------------------


def test_a_new_password_ends_every_other_sign_in_and_is_mailed(
    owner: User, client_for: ClientFor, django_capture_on_commit_callbacks: Any
) -> None:
    here, elsewhere = client_for(owner), client_for(owner)
    before = here.cookies["sessionid"].value
    with django_capture_on_commit_callbacks(execute=True):
        assert change(here)["Location"] == reverse("settings")
    assert here.get(reverse("settings")).status_code == 200
    assert here.cookies["sessionid"].value != before
    assert elsewhere.get(reverse("settings")).status_code == 302
    owner.refresh_from_db()
    assert owner.check_password(PASSWORD)
    wait_for_mail()
    assert [(message.to, message.subject) for message in mail.outbox] == [([owner.email], "Your password was changed")]
    event = AuditEvent.objects.get(action="user.password")
    assert (event.actor_id, event.details) == (owner.pk, {"reset": False})


def test_a_wrong_or_weak_password_changes_nothing(owner: User, client_for: ClientFor) -> None:
    client = client_for(owner)
    for typed, said in (
        ({"old": "wrong"}, "entered incorrectly"),
        ({"new": "short"}, "too short"),
        ({"again": "another one here"}, "didn"),
        ({"new": owner.email}, "too similar"),
    ):
        response = change(client, **typed)
        assert response.status_code == 400
        assert said in text(response)
    owner.refresh_from_db()
    assert owner.check_password(factories.PASSWORD)


def test_the_old_password_cannot_be_guessed_without_end(owner: User, client_for: ClientFor) -> None:
    client = client_for(owner)
    for _ in range(PER_MEMBER):
        change(client, old="wrong")
    assert "Too many tries within an hour" in text(change(client))
    owner.refresh_from_db()
    assert owner.check_password(factories.PASSWORD)


def test_a_forgotten_password_is_chosen_anew_through_the_link_once(owner: User, client_for: ClientFor) -> None:
    signed_in = client_for(owner)
    assert forget(f" {owner.email.upper()}")["Location"] == reverse("password-forgotten-sent")
    wait_for_mail()
    assert mail.outbox[-1].to == [owner.email]
    link, client = link_in(mail.outbox[-1]), Client()
    form = client.get(link)
    assert form.status_code == 302
    assert link.split("/")[4] not in form["Location"]  # the token has moved into the session
    page = client.get(form["Location"])
    assert "Set the password" in text(page)
    weak = client.post(form["Location"], {"new_password1": "short", "new_password2": "short"})
    assert "too short" in text(weak)
    done = client.post(form["Location"], {"new_password1": PASSWORD, "new_password2": PASSWORD}, follow=True)
    assert "Your new password is set" in text(done)
    owner.refresh_from_db()
    assert owner.check_password(PASSWORD)
    assert signed_in.get(reverse("agents")).status_code == 302
    assert "This link was used" in text(Client().get(link))
    assert AuditEvent.objects.get(action="user.password").details == {"reset": True}


def test_nothing_tells_whether_an_address_has_an_account(owner: User) -> None:
    deleted = factories.make_user("gone@acme.example")
    User.objects.filter(pk=deleted.pk).update(deleted_at=timezone.now())
    answers = [forget(email) for email in (owner.email, "nobody@acme.example", deleted.email)]
    assert {(answer.status_code, answer["Location"]) for answer in answers} == {
        (303, reverse("password-forgotten-sent"))
    }
    wait_for_mail()
    assert [message.to for message in mail.outbox] == [[owner.email]]
    for email in (owner.email, "nobody@acme.example"):
        for _ in range(PER_ADDRESS_AND_NETWORK - 1):
            assert forget(email).status_code == 303
        refused = forget(email)
        assert refused.status_code == 429
        assert "too often" in text(refused)
    assert forget(owner.email, ip="192.0.2.8").status_code == 303


def test_a_link_of_a_deleted_or_changed_account_does_not_work(owner: User) -> None:
    forget(owner.email)
    wait_for_mail()
    link = link_in(mail.outbox[-1])
    User.objects.filter(pk=owner.pk).update(is_active=False)
    assert "This link was used" in text(Client().get(link))
    for odd in ("/password/reset/x/y/", "/password/reset/%00/set-password/", "/password/reset/MQ/set-password/"):
        assert "This link was used" in text(Client().get(odd))


# --- API keys ---------------------------------------------------------------------------------------------------------


def make_key(client: Client, **changes: str) -> Any:
    typed = {"name": "ci", "organization": "acme", "scope": "chat", "memory": "on", "expires": ""}
    return client.post(reverse("keys"), typed | changes)


def test_i05_a_key_is_shown_once_and_says_that_its_users_share_the_memory(
    owner: User, client_for: ClientFor, django_capture_on_commit_callbacks: Any
) -> None:
    client = client_for(owner)
    shared = "Everyone who uses a key shares its owner&#x27;s memory"
    page = text(client.get(reverse("keys")))
    assert "You have no API key" in page
    assert shared in page.replace("'", "&#x27;")
    with django_capture_on_commit_callbacks(execute=True):
        made = make_key(client)
    assert made.status_code == 201
    assert made["Cache-Control"] == "no-store"
    row = ApiKey.objects.get()
    secret = text(made).split(f'value="{row.prefix}_')[1].split('"')[0]
    assert shared in text(made).replace("'", "&#x27;")
    principal = principal_for(f"{row.prefix}_{secret}", now=timezone.now())
    assert principal is not None
    assert principal.user == owner
    later = text(client.get(reverse("keys")))
    assert row.prefix in later
    assert secret not in later
    assert "never used" not in later  # it was, just now
    wait_for_mail()
    assert row.prefix in mail.outbox[-1].body
    assert secret not in mail.outbox[-1].body


def test_no_mail_comes_where_it_was_turned_off(
    organization: Organization, owner: User, django_capture_on_commit_callbacks: Any
) -> None:
    owner.mail_on_key = False
    owner.save(update_fields=["mail_on_key"])
    with django_capture_on_commit_callbacks(execute=True):
        factories.make_key(organization, owner)
    wait_for_mail()
    assert mail.outbox == []


def test_c04_a_key_is_made_for_chat_or_for_triggers_and_the_lists_say_which(
    owner: User, organization: Organization, client_for: ClientFor
) -> None:
    client = client_for(owner)
    page = text(client.get(reverse("keys")))
    assert "a program of yours talks to your agents" in page
    assert "a connector, such as one for Slack or e-mail" in page
    assert make_key(client).status_code == 201
    made = make_key(client, name="slack", scope="triggers")
    assert "where memory never acts" in text(made)
    assert {key.name: key.scope for key in ApiKey.objects.all()} == {"ci": "chat", "slack": "triggers"}
    ada = factories.make_member(organization, None, "ada@acme.example", role="admin")
    for listed in (client.get(reverse("keys")), client_for(ada).get(reverse("organization-keys", args=["acme"]))):
        assert "for triggers" in text(listed)
        assert "for chat, with memory" in text(listed)


def test_a_key_lasts_through_its_last_day_in_the_members_zone(owner: User, client_for: ClientFor) -> None:
    User.objects.filter(pk=owner.pk).update(time_zone="Pacific/Auckland")
    owner.refresh_from_db()
    client = client_for(owner)
    assert make_key(client, expires="2031-03-09", memory="").status_code == 201
    row = ApiKey.objects.get()
    assert not row.memory_enabled
    assert row.expires_at is not None
    assert row.expires_at.isoformat() == "2031-03-09T11:00:00+00:00"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"expires": "2020-01-01"}, "This day is over"),
        ({"expires": "9999-12-31"}, "This day is over"),
        ({"expires": "soon"}, "valid date"),
        ({"name": ""}, "required"),
        ({"organization": "other"}, "not one of the available choices"),
        ({"scope": "everything"}, "not one of the available choices"),
    ],
)
def test_a_bad_key_is_refused_and_none_is_made(
    owner: User, stranger: User, client_for: ClientFor, typed: dict[str, str], said: str
) -> None:
    response = make_key(client_for(owner), **typed)
    assert response.status_code == 400
    assert said in text(response)
    assert not ApiKey.objects.exists()


def test_a_key_is_revoked_by_its_owner_or_by_an_administrator_of_its_organization(
    organization: Organization, owner: User, colleague: User, client_for: ClientFor
) -> None:
    ada = factories.make_member(organization, None, "ada@acme.example", role="admin")
    secrets = [factories.make_key(organization, owner) for _ in range(2)]
    first, second = ApiKey.objects.order_by("created_at")
    mine = reverse("key-revoke", args=[first.pk])
    assert client_for(colleague).post(mine).status_code == 404
    assert client_for(ada).post(mine).status_code == 404
    assert "stops working at once" in text(client_for(owner).get(mine))
    assert "The key is revoked" in text(client_for(owner).post(mine, follow=True))
    theirs = reverse("organization-key-revoke", args=["acme", second.pk])
    assert client_for(colleague).post(theirs).status_code == 403
    page = text(client_for(ada).get(reverse("organization-keys", args=["acme"])))
    assert second.prefix in page
    assert "Ana" in page
    assert client_for(ada).post(theirs).status_code == 303
    assert [principal_for(secret, now=timezone.now()) for secret in secrets] == [None, None]
    actors = AuditEvent.objects.filter(action="api_key.revoke").order_by("id").values_list("actor_id", flat=True)
    assert list(actors) == [owner.pk, ada.pk]


def test_the_list_says_what_became_of_each_key(organization: Organization, owner: User, client_for: ClientFor) -> None:
    factories.make_key(organization, owner)
    ApiKey.objects.update(expires_at=timezone.now() - timedelta(days=1))
    assert "expired" in text(client_for(owner).get(reverse("keys")))
    ApiKey.objects.update(expires_at=None)
    remove_member(organization=organization, user=owner)
    page = text(client_for(owner).get(reverse("keys")))
    assert "no longer a member" in page
    assert "New API key" not in page


def test_the_top_bar_says_where_one_is_on_every_page_of_the_settings(owner: User, client_for: ClientFor) -> None:
    client = client_for(owner)
    for name in ("settings", "password", "keys"):
        page = " ".join(text(client.get(reverse(name))).split())
        assert f'<a href="{reverse("settings")}" aria-current="page">Settings</a>' in page
