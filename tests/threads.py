"""Runs calls in threads that start at once, each with a database connection of its own; must not assert anything."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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
    outcomes: list[T | Exception] = []
    for future in futures:
        error = future.exception()
        if error is None:
            outcomes.append(future.result())
        elif isinstance(error, Exception):
            outcomes.append(error)
        else:
            raise error
    return outcomes
