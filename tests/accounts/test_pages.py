"""Sign-in, sign-out, the agent list and the error pages, through HTTP."""

from collections.abc import Callable
from unittest import mock

import pytest
from django.db import OperationalError
from django.test import Client, override_settings
from django.urls import reverse

from accounts.models import Organization, User
from agents.models import Agent
from tests import factories

pytestmark = pytest.mark.django_db
type ClientFor = Callable[..., Client]


def sign_in(client: Client, email: str, password: str = factories.PASSWORD, **more: str):  # type: ignore[no-untyped-def]
    return client.post(reverse("login"), {"username": email, "password": password, **more})


def test_sign_in_leads_to_the_agents_and_rotates_the_session(owner: User) -> None:
    client = Client()
    session = client.session  # an anonymous visitor's, kept under its key
    session["before"] = True
    session.save()
    before = client.cookies["sessionid"].value
    response = sign_in(client, "ANA@acme.example")
    assert response.status_code == 302
    assert response["Location"] == reverse("agents")
    assert client.cookies["sessionid"].value != before


def test_sign_in_follows_next_within_this_site_only(owner: User) -> None:
    memory = reverse("memory", args=["acme", "guide"])
    assert sign_in(Client(), owner.email, next=memory)["Location"] == memory
    assert sign_in(Client(), owner.email, next="https://evil.example/")["Location"] == reverse("agents")
    assert sign_in(Client(), owner.email, next="//evil.example/")["Location"] == reverse("agents")


def test_a_wrong_password_and_an_unknown_address_answer_alike(owner: User) -> None:
    wrong = sign_in(Client(), owner.email, "wrong password")
    absent = sign_in(Client(), "nobody@acme.example", "wrong password")
    for response in (wrong, absent):
        assert response.status_code == 200
        assert "do not belong together" in response.content.decode()
        assert "wrong password" not in response.content.decode()
    assert wrong.content.count(b"notice-problem") == absent.content.count(b"notice-problem")


@pytest.mark.parametrize("email", ["a\x00b@acme.example", "", "x" * 5000, "�@acme.example"])
def test_sign_in_with_an_impossible_address_is_refused_in_words(db: None, email: str) -> None:
    response = sign_in(Client(), email)
    assert response.status_code == 200
    assert 'role="alert"' in response.content.decode() or "field-problem" in response.content.decode()


def test_sign_in_has_the_standard_fields(db: None) -> None:
    page = Client().get(reverse("login")).content.decode()
    assert 'name="username"' in page
    assert 'type="email"' in page
    assert 'autocomplete="username"' in page
    assert 'autocomplete="current-password"' in page


def test_sign_in_without_the_csrf_token_is_refused(owner: User) -> None:
    response = sign_in(Client(enforce_csrf_checks=True), owner.email)
    assert response.status_code == 403
    assert "This form is out of date" in response.content.decode()


@override_settings(AXES_ENABLED=True, AXES_FAILURE_LIMIT=2)
def test_i06_too_many_failures_pause_sign_in(owner: User) -> None:
    client = Client()
    for _attempt in range(3):
        response = sign_in(client, owner.email, "wrong password")
    assert response.status_code == 429
    assert "Sign-in is paused" in response.content.decode()


def test_sign_out_needs_a_post(owner: User, client_for: ClientFor) -> None:
    client = client_for(owner)
    assert client.get(reverse("logout")).status_code == 405
    assert client.post(reverse("logout"))["Location"] == reverse("login")
    assert client.get(reverse("agents")).status_code == 302


def test_home_leads_to_the_agents_and_anonymous_people_to_sign_in(db: None) -> None:
    assert Client().get("/")["Location"] == reverse("agents")
    assert Client().get(reverse("agents"))["Location"] == f"{reverse('login')}?next={reverse('agents')}"


def test_the_agent_list_shows_only_what_the_member_may_use(
    owner: User, organization: Organization, agent: Agent, client_for: ClientFor
) -> None:
    factories.make_agent(organization, "hidden")
    page = client_for(owner).get(reverse("agents")).content.decode()
    assert "Guide" in page
    assert "Acme" in page
    assert reverse("chat", args=["acme", "guide"]) in page
    assert reverse("memory", args=["acme", "guide"]) in page
    assert "Hidden" not in page
    assert client_for(owner).post(reverse("agents")).status_code == 405


def test_the_agent_list_says_when_there_is_none(organization: Organization, client_for: ClientFor) -> None:
    newcomer = factories.make_member(organization, None, "new@acme.example")
    page = client_for(newcomer).get(reverse("agents")).content.decode()
    assert "no agent that you may use yet" in page


def test_names_are_shown_as_text(organization: Organization, client_for: ClientFor) -> None:
    agent = factories.make_agent(organization, "odd")
    agent.name = "<script>alert(1)</script>"
    agent.save(update_fields=["name"])
    member = factories.make_member(organization, agent, "m@acme.example", name="<b>Bo</b>")
    page = client_for(member).get(reverse("agents")).content.decode()
    assert "<script>alert" not in page
    assert "<b>Bo</b>" not in page


def test_signed_in_pages_carry_the_policy_and_stay_out_of_caches(owner: User, client_for: ClientFor) -> None:
    for name in ("chat", "memory"):
        response = client_for(owner).get(reverse(name, args=["acme", "guide"]))
        page = response.content.decode()
        assert response["Cache-Control"] == "no-store"
        assert "default-src 'self'" in response["Content-Security-Policy"]
        assert " style=" not in page
        assert "<style" not in page
        assert " onclick=" not in page
        assert all("src=" in tag for tag in page.split("<script")[1:])


def test_an_absent_page_and_a_foreign_agent_look_alike(owner: User, stranger: User, client_for: ClientFor) -> None:
    absent = client_for(owner).get(reverse("chat", args=["acme", "nothing"]))
    foreign = client_for(owner).get(reverse("chat", args=["other", "guide"]))
    assert absent.status_code == foreign.status_code == 404
    assert "Nothing here" in absent.content.decode()


@pytest.mark.parametrize(
    ("error", "status"), [(OperationalError("secret detail"), 503), (ValueError("secret detail"), 500)]
)
def test_what_goes_wrong_is_said_without_the_database_and_without_its_text(
    owner: User, client_for: ClientFor, error: Exception, status: int
) -> None:
    client = client_for(owner, raise_request_exception=False)
    with mock.patch("agents.views.agents_for", side_effect=error):
        response = client.get(reverse("agents"))
    assert response.status_code == status
    assert "secret detail" not in response.content.decode()
    assert "<h1>" in response.content.decode()


def test_a_page_that_is_too_large_a_request_is_refused_in_words(owner: User, client_for: ClientFor) -> None:
    address = reverse("chat-send-first", args=["acme", "guide"])
    response = client_for(owner).post(address, b"message=" + b"x" * 5_000_000, "application/x-www-form-urlencoded")
    assert response.status_code == 400


@pytest.mark.parametrize(("wanted", "spoken"), [("de", "en"), ("ar,he;q=0.8", "en"), ("en-GB,de;q=0.9", "en-gb")])
def test_a_page_is_in_the_language_that_it_says(client: Client, wanted: str, spoken: str) -> None:
    answer = client.post("/password/forgotten/", {"email": "nonsense"}, headers={"Accept-Language": wanted})
    page = answer.content.decode()
    assert f'<html lang="{spoken}">' in page
    assert "Enter a valid email address." in page
    assert answer["Content-Language"] == spoken
