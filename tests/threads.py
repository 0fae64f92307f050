"""Runs calls in threads that start at once, each with a database connection of its own; must not assert anything."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Barrier

from django.db import connection


def together[T](*calls: Callable[[], T]) -> list[T | Exception]:
    """Return what each call returned or raised, in order; for tests marked `django_db(transaction=True)`."""
    barrier = Barrier(len(calls))

    def run(call: Callable[[], T]) -> T:
        try:
            connection.ensure_connection()
            barrier.wait(timeout=20)
            return call()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        futures = [pool.submit(run, call) for call in calls]
        return [_outcome(future) for future in futures]


def _outcome[T](future: Future[T]) -> T | Exception:
    error = future.exception(timeout=30)
    if error is None:
        return future.result()
    if isinstance(error, Exception):
        return error
    raise error
