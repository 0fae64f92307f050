"""Keeps calls away from a provider that fails again and again, for all processes at once; makes no call itself.

After `ALLOWED` failures in a row the provider is not called for a while that grows with each further failure. When the
while is over one call, the probe, passes; its success closes the breaker, its failure opens it for longer.
"""

import random
import uuid
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import structlog
from django.db.models import F

from agents.models import Provider, ProviderState
from database.compiled import Compiled
from llm.client import ModelError

log = structlog.get_logger(__name__)

ALLOWED: Final = 5  # failed calls in a row; each has already retried by itself
FIRST_OPEN: Final = timedelta(seconds=10)
LONGEST_OPEN: Final = timedelta(minutes=10)
PROBE: Final = timedelta(seconds=90)  # a probe that was killed holds the others off no longer than this
UNAVAILABLE: Final = "unavailable"
_STATE: Final = Compiled(
    lambda *, provider_id: ProviderState.objects.filter(provider=provider_id),
    examples={"provider_id": uuid.UUID(int=1)},
)


@dataclass(frozen=True, slots=True)
class BreakerState:
    """What a page shows: `word` is closed, open or probing."""

    word: str
    failures: int
    open_until: datetime | None
    last_code: str


@dataclass(slots=True)
class Call:
    """A call under way. Whoever gives it up before anything came sets `given_up`: nothing was learned then."""

    given_up: bool = False


@contextmanager
def guarded(provider: Provider, *, clock: Callable[[], datetime]) -> Iterator[Call]:
    """Let one call pass and note how it ended. Raises ModelError(unavailable) with `retry_after` instead of calling.

    Trouble is what may be better later (a time-out, 429, 5xx, garbage); a refused request is an answer. Whoever leaves
    in the middle of a stream has learnt nothing.
    """
    failures, call = _admit(provider, now=clock()), Call()
    try:
        yield call
    except ModelError as error:
        if error.retryable:
            note_failure(provider, error, now=clock())
        elif failures:
            close(provider)
        raise
    else:
        if failures and not call.given_up:
            close(provider)


def _admit(provider: Provider, *, now: datetime) -> int:
    """Return how many failures came before this call, which may be made."""
    state = _STATE.first(provider_id=provider.pk)
    if state is None or state.open_until is None:
        return state.failures if state else 0
    if state.open_until <= now:
        mine = ProviderState.objects.filter(provider=provider, open_until=state.open_until)
        if mine.update(open_until=now + PROBE):
            log.info("breaker_probe", provider_id=str(provider.pk), failures=state.failures)
            return state.failures
        state.open_until = now + FIRST_OPEN  # another process has just sent the probe
    wait = (state.open_until - now).total_seconds()
    raise ModelError(UNAVAILABLE, retryable=True, retry_after=max(1.0, wait))


def note_failure(provider: Provider, error: ModelError, *, now: datetime) -> None:
    """Count a failed call; the one too many opens the breaker, and so does a Retry-After with it."""
    if error.code == UNAVAILABLE:
        return
    ProviderState.objects.get_or_create(provider=provider)
    row = ProviderState.objects.filter(provider=provider)
    row.update(failures=F("failures") + 1, last_code=error.code)
    failures = row.values_list("failures", flat=True).get()
    if failures < ALLOWED:
        return
    wait = min(FIRST_OPEN * 2 ** min(failures - ALLOWED, 10), LONGEST_OPEN) * random.uniform(0.8, 1.2)  # noqa: S311 (jitter)
    wait = min(max(wait, timedelta(seconds=error.retry_after or 0)), LONGEST_OPEN)
    row.update(open_until=now + wait)
    log.warning("breaker_open", provider_id=str(provider.pk), failures=failures, seconds=round(wait.total_seconds()))


def close(provider: Provider) -> None:
    """Forget the failures: the provider has just answered."""
    ProviderState.objects.filter(provider=provider).update(failures=0, open_until=None, last_code="")
    log.info("breaker_closed", provider_id=str(provider.pk))


def breaker_state(provider: Provider, *, now: datetime) -> BreakerState:
    """Return how the breaker stands, for a page."""
    return breaker_states([provider], now=now)[provider.pk]


def breaker_states(providers: Collection[Provider], *, now: datetime) -> dict[uuid.UUID, BreakerState]:
    """Return how the breakers stand, by provider, in one query."""
    found = ProviderState.objects.in_bulk([provider.pk for provider in providers])
    return {provider.pk: _shown(found.get(provider.pk), now) for provider in providers}


def _shown(state: ProviderState | None, now: datetime) -> BreakerState:
    if state is None:
        return BreakerState("closed", 0, None, "")
    word = "closed" if state.open_until is None else "open" if state.open_until > now else "probing"
    return BreakerState(word, state.failures, state.open_until, state.last_code)
