"""I06: failed sign-ins pause one address on one network for an hour, and nothing of the form is kept."""

import logging
from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.http import HttpResponse
from django.test import Client, override_settings
from django.urls import reverse
from django.utils import timezone

from accounts.models import User
from tests.factories import PASSWORD

pytestmark = pytest.mark.django_db
LIMIT = 10


@pytest.fixture(autouse=True)
def _counted(db: None):  # type: ignore[no-untyped-def]
    with override_settings(AXES_ENABLED=True):
        yield


def sign_in(email: str, password: str = PASSWORD, *, ip: str = "192.0.2.7", door: str = "login") -> HttpResponse:
    answer: HttpResponse = Client(REMOTE_ADDR=ip).post(  # type: ignore[assignment]
        reverse(door), {"username": email, "password": password, "csrfmiddlewaretoken": "token-of-a-form"}
    )
    return answer


def fail(email: str, times: int = LIMIT) -> HttpResponse:
    answers = [sign_in(email, "wrong password") for _ in range(times)]
    return answers[-1]


def test_after_ten_failures_the_right_password_is_refused_until_the_pause_is_over(owner: User) -> None:
    assert fail(owner.email, LIMIT - 1).status_code == 200
    assert fail(owner.email, 1).status_code == 429
    paused = sign_in(owner.email)
    assert paused.status_code == 429
    assert "with this e-mail address from your network" in paused.content.decode()
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=61))
    assert sign_in(owner.email).status_code == 302


def test_tries_during_the_pause_do_not_prolong_it(owner: User) -> None:
    fail(owner.email)
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=50))
    before = AccessAttempt.objects.get().attempt_time
    assert fail(owner.email, 1).status_code == 429
    assert AccessAttempt.objects.get().attempt_time == before


def test_another_address_and_another_network_still_sign_in(owner: User, colleague: User) -> None:
    fail(owner.email)
    assert sign_in(colleague.email).status_code == 302
    assert sign_in(owner.email, ip="192.0.2.8").status_code == 302
    assert sign_in(owner.email).status_code == 429


def from_behind_a_proxy(email: str, password: str, address: str) -> int:
    """Sign in from an address through the proxy; a client's own header comes first in what it passes on."""
    client = Client(REMOTE_ADDR="10.0.0.1", headers={"X-Forwarded-For": f"192.0.2.99, {address}"})
    return client.post(reverse("login"), {"username": email, "password": password}).status_code


def test_behind_a_proxy_one_network_cannot_pause_the_sign_in_of_all_others(owner: User, settings: Any) -> None:
    settings.BEHIND_PROXY = True
    tries = [from_behind_a_proxy(owner.email, "wrong password", "198.51.100.1") for _ in range(LIMIT)]
    assert tries[-1] == from_behind_a_proxy(owner.email, PASSWORD, "198.51.100.1") == 429
    assert from_behind_a_proxy(owner.email, PASSWORD, "192.0.2.7") == 302


def test_all_addresses_of_one_ipv6_line_count_together(owner: User) -> None:
    answers = [sign_in(owner.email, "wrong password", ip=f"2001:db8::{host:x}") for host in range(LIMIT)]
    assert answers[-1].status_code == 429
    assert sign_in(owner.email, ip="2001:db8:0:1::1").status_code == 302


def test_spellings_of_one_address_count_together_and_at_both_doors(owner: User) -> None:
    for spelling in (owner.email, owner.email.upper(), f" {owner.email} ", "Ana@Acme.example", owner.email) * 2:
        answer = sign_in(spelling, "wrong password")
    assert answer.status_code == 429
    assert sign_in(owner.email.title()).status_code == 429
    assert sign_in(owner.email, door="admin:login").status_code == 429


def test_a_success_starts_the_count_anew(owner: User) -> None:
    fail(owner.email, LIMIT - 1)
    assert sign_in(owner.email.upper()).status_code == 302
    assert not AccessAttempt.objects.exists()
    assert fail(owner.email, LIMIT - 1).status_code == 200


def test_an_attempt_keeps_the_address_and_nothing_of_the_form(owner: User, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        fail(owner.email, 2)
    kept = AccessAttempt.objects.values().get()
    assert kept["username"] == owner.email
    assert not [value for value in kept.values() if "token-of-a-form" in str(value) or "wrong password" in str(value)]
    assert owner.email not in caplog.text
