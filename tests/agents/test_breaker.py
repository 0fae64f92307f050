"""C05: the breaker of a provider, shared by all processes: opens, lets one probe pass, closes, and forgives answers."""

from datetime import datetime, timedelta
from functools import partial

import pytest
from django.utils import timezone

from accounts.models import Organization
from agents import breaker
from agents.models import Provider, ProviderState
from llm.client import ModelError
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def provider(organization: Organization) -> Provider:
    return factories.make_agent(organization, "remote", base_url="http://127.0.0.1:9/v1").provider


def call(provider: Provider, now: datetime, error: ModelError | None = None) -> str:
    """Make a call that ends so; return the code it ended with."""
    try:
        with breaker.guarded(provider, clock=partial(max, now, now)):
            if error is not None:
                raise error
    except ModelError as raised:
        return raised.code
    return "ok"


def trouble(retry_after: float | None = None) -> ModelError:
    return ModelError("server_error", retryable=True, retry_after=retry_after)


def open_it(provider: Provider, now: datetime, retry_after: float | None = None) -> datetime:
    for _ in range(breaker.ALLOWED):
        assert call(provider, now, trouble(retry_after)) == "server_error"
    until = ProviderState.objects.get().open_until
    assert until is not None
    return until


def test_a_provider_that_never_failed_has_no_row(provider: Provider) -> None:
    assert call(provider, timezone.now()) == "ok"
    assert not ProviderState.objects.exists()


def test_after_failures_in_a_row_calls_are_refused_at_once_and_say_for_how_long(provider: Provider) -> None:
    now = timezone.now()
    until = open_it(provider, now)
    with pytest.raises(ModelError) as refused, breaker.guarded(provider, clock=partial(max, now, now)):
        pytest.fail("the provider was called")
    assert (refused.value.code, refused.value.retryable) == ("unavailable", True)
    assert refused.value.retry_after == pytest.approx((until - now).total_seconds())


def test_a_success_in_between_starts_the_count_anew(provider: Provider) -> None:
    now = timezone.now()
    for _ in range(3):
        for _ in range(breaker.ALLOWED - 1):
            call(provider, now, trouble())
        assert call(provider, now) == "ok"


def test_one_probe_passes_and_its_success_closes(provider: Provider) -> None:
    now = timezone.now()
    later = open_it(provider, now) + timedelta(seconds=1)
    with breaker.guarded(provider, clock=partial(max, later, later)):
        assert call(provider, later) == "unavailable"  # everybody else, while the probe is under way
    assert [call(provider, later) for _ in range(3)] == ["ok", "ok", "ok"]
    assert breaker.breaker_state(provider, now=later).word == "closed"


def test_a_failed_probe_opens_for_longer_up_to_a_bound(provider: Provider) -> None:
    now = timezone.now()
    waits: list[timedelta] = []
    for _ in range(10):
        until = open_it(provider, now) if not waits else ProviderState.objects.get().open_until
        assert until is not None
        waits.append(until - now)
        now = until + timedelta(seconds=1)
        assert call(provider, now, trouble()) == "server_error"
    assert waits[3] > waits[0]
    assert max(waits) <= breaker.LONGEST_OPEN * 1.2


def test_a_probe_that_was_killed_blocks_the_next_for_a_bounded_time(provider: Provider) -> None:
    now = timezone.now()
    later = open_it(provider, now) + timedelta(seconds=1)
    guarded = breaker.guarded(provider, clock=partial(max, later, later))
    guarded.__enter__()  # and never left
    assert call(provider, later + timedelta(seconds=30)) == "unavailable"
    assert call(provider, later + breaker.PROBE + timedelta(seconds=1)) == "ok"


def test_retry_after_holds_the_breaker_open_for_that_long(provider: Provider) -> None:
    now = timezone.now()
    assert open_it(provider, now, retry_after=120) - now >= timedelta(seconds=120)


def test_a_probe_that_was_given_up_before_anything_came_closes_nothing(provider: Provider) -> None:
    now = timezone.now()
    later = open_it(provider, now) + timedelta(seconds=1)
    with breaker.guarded(provider, clock=partial(max, later, later)) as given_up:
        given_up.given_up = True
    assert call(provider, later) == "unavailable"


@pytest.mark.parametrize("code", ["refused_request", "unauthorized", "misconfigured"])
def test_an_answer_that_refuses_is_no_trouble(provider: Provider, code: str) -> None:
    now = timezone.now()
    for _ in range(breaker.ALLOWED * 2):
        assert call(provider, now, ModelError(code, retryable=False)) == code
    assert call(provider, now) == "ok"
