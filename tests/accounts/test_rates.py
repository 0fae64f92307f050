"""I06: as many requests as the limit, not one more, over all processes; and what is told about it."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.test import Client, RequestFactory
from pytest_django import DjangoAssertNumQueries

from accounts import rates
from accounts.models import ApiKey, Organization, Rate, User
from tests import factories
from tests.threads import together

KEY, OTHER, ORGANIZATION = uuid.UUID(int=1), uuid.UUID(int=2), uuid.UUID(int=3)


@pytest.fixture
def limits(settings: Any) -> Any:
    settings.RATE_KEY, settings.RATE_ORGANIZATION, settings.RATE_FAILED_KEYS = 5, 8, 3
    return settings


def take(key_id: uuid.UUID = KEY) -> rates.Taken:
    taken = rates.take_request(key_id=key_id, organization_id=ORGANIZATION)
    assert taken is not None
    return taken


def later(seconds: float) -> None:
    """Let the clock of the buckets go on."""
    Rate.objects.update(full_at=F("full_at") - timedelta(seconds=seconds))


@pytest.mark.django_db
def test_a_key_has_its_limit_at_once_and_then_one_more_for_each_part_of_the_minute(limits: Any) -> None:
    assert [take().remaining for _ in range(5)] == [4, 3, 2, 1, 0]
    refused = take()
    assert (refused.allowed, refused.remaining, refused.wait) == (False, 0, 12)
    later(12)
    assert take().allowed
    assert not take().allowed
    later(3600)
    assert [take().allowed for _ in range(6)] == [True] * 5 + [False]


@pytest.mark.django_db
def test_the_keys_of_an_organization_share_its_limit_and_refusals_cost_nothing(limits: Any) -> None:
    assert all(take().allowed for _ in range(5))
    assert not any(take().allowed for _ in range(20))  # costs the organization nothing
    answers = [take(OTHER) for _ in range(4)]
    assert [answer.allowed for answer in answers] == [True, True, True, False]
    assert answers[-1].limit.of == "this organization"
    limits.RATE_ORGANIZATION = 0
    assert [take(OTHER).allowed for _ in range(3)] == [True, True, False]  # the refusal had cost the key nothing


@pytest.mark.django_db
def test_a_limit_of_nought_is_none_and_asks_nothing(
    settings: Any, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(0):
        assert rates.take_request(key_id=KEY, organization_id=ORGANIZATION) is None
        assert rates.take_failure("192.0.2.1") is None


@pytest.mark.django_db
def test_a_request_costs_one_statement(limits: Any, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    take()
    with django_assert_num_queries(1):
        take()


@pytest.mark.django_db(transaction=True)
def test_eight_connections_at_once_never_get_more_than_the_limit(limits: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "PERIOD", 36_000.0)  # nothing comes back while a busy machine runs this
    limits.RATE_KEY, limits.RATE_ORGANIZATION = 20, 30

    def caller(key_id: uuid.UUID) -> int:
        return sum(take(key_id).allowed for _ in range(15))

    counts = together(*(lambda key_id=key_id: caller(key_id) for key_id in (KEY, OTHER) for _ in range(4)))
    began_full = sum(count for count in counts if isinstance(count, int))
    assert began_full == 30, counts
    by_key = [sum(count for count in counts[at : at + 4] if isinstance(count, int)) for at in (0, 4)]
    assert max(by_key) <= 20


@pytest.mark.django_db
def test_the_table_is_not_logged_so_that_no_request_waits_for_the_disk() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT relpersistence FROM pg_class WHERE relname = %s", [Rate._meta.db_table])
        assert cursor.fetchone()[0] in ("u", b"u")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0ms"), (0.2, "200ms"), (1, "1s"), (7.25, "7.25s"), (59.9999, "1m0s"), (90, "1m30s"), (3600, "60m0s")],
)
def test_durations_are_written_as_openai_writes_them(seconds: float, text: str) -> None:
    assert rates.duration(seconds) == text


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("", "unknown"),
        ("unix:", "unknown"),
    ],
)
def test_a_network_is_an_address_or_what_one_ipv6_line_gets(address: str, network: str) -> None:
    assert rates.network_of(RequestFactory(REMOTE_ADDR=address).get("/")) == network


def test_behind_a_proxy_the_address_that_it_added_counts_and_no_other(settings: Any) -> None:
    request = RequestFactory(REMOTE_ADDR="10.0.0.1").get("/", headers={"X-Forwarded-For": "198.51.100.1, 192.0.2.7"})
    assert rates.network_of(request) == "10.0.0.1"
    settings.BEHIND_PROXY = True
    assert rates.network_of(request) == "192.0.2.7"


@pytest.mark.django_db
def test_buckets_that_are_full_again_are_forgotten(limits: Any) -> None:
    take()
    take(OTHER)
    assert rates.forget_unused() == 0
    later(2 * 3600)
    assert rates.forget_unused() == 3


# --- through HTTP -----------------------------------------------------------------------------------------------------


def ask(secret: str, address: str = "192.0.2.7", path: str = "/v1/models") -> Any:
    return Client(REMOTE_ADDR=address).get(path, headers={"Authorization": f"Bearer {secret}"})


@pytest.mark.django_db
def test_every_answer_tells_what_is_left_and_a_refusal_when_to_come_back(
    limits: Any, organization: Organization, owner: User
) -> None:
    secret = factories.make_key(organization, owner)
    first = ask(secret)
    assert first["x-ratelimit-limit-requests"] == "5"
    assert first["x-ratelimit-remaining-requests"] == "4"
    assert first["x-ratelimit-reset-requests"].endswith("s")
    assert ask(secret, path="/v1/nothing")["x-ratelimit-remaining-requests"] == "3"  # an error counts too
    refused = [ask(secret) for _ in range(4)][-1]
    assert refused.status_code == 429
    wait = int(refused["Retry-After"])
    assert 1 <= wait <= 12  # what has passed since the first request is off
    assert refused["x-ratelimit-remaining-requests"] == "0"
    error = refused.json()["error"]
    assert (error["code"], error["type"], error["param"]) == ("rate_limit_exceeded", "rate_limit_error", None)
    assert f"this API key: 5 requests per minute. Try again in {wait} s." in error["message"]


@pytest.mark.django_db
def test_wrong_keys_of_one_network_are_told_to_wait_and_the_right_ones_there_go_on(
    limits: Any, organization: Organization, owner: User
) -> None:
    secret = factories.make_key(organization, owner)
    assert [ask("mp_00000000_wrong").status_code for _ in range(4)] == [401, 401, 401, 429]
    refused = ask(secret[:-1])
    assert refused.status_code == 429
    assert refused["Retry-After"] == "20"
    assert refused.json()["error"]["code"] == "rate_limit_exceeded"
    assert ask("mp_00000000_wrong", "192.0.2.8").status_code == 401
    assert ask(secret).status_code == 200
    assert ApiKey.objects.get().last_used_at


@pytest.mark.django_db
def test_every_answer_carries_the_id_of_its_lines_in_the_log(
    organization: Organization, owner: User, caplog: pytest.LogCaptureFixture
) -> None:
    secret = factories.make_key(organization, owner)
    with caplog.at_level("INFO"):
        answers = [ask(secret), ask("wrong"), ask(secret, path="/v1/nothing"), Client().get("/login/")]
    ids = [uuid.UUID(answer["X-Request-Id"]) for answer in answers]
    assert len(set(ids)) == 4
    logged = [record.msg.get("request_id") for record in caplog.records if isinstance(record.msg, dict)]
    assert {str(one) for one in ids} <= set(logged)
    mine = Client().get("/v1/models", headers={"X-Request-Id": "what I told my doctor"})
    assert uuid.UUID(mine["X-Request-Id"])
