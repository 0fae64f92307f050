"""Makes worker processes of tests hurry, and die at a named point; never installed in the product.

The file that `TEST_FUSE` names holds the point of a run at which the process that reaches it ends itself with SIGKILL.
It removes the file first, so that each fuse kills once.
"""

import importlib
import os
import signal
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from threading import Timer
from typing import Any

from django.apps import AppConfig

POINTS = ("before_call", "during_call", "after_call", "inside_write", "after_commit")


def at(point: str) -> None:
    """End this process as `kill -9` does, if the fuse names this point."""
    fuse = Path(os.environ.get("TEST_FUSE", "/nonexistent"))
    try:
        if fuse.read_text() != point:
            return
        fuse.unlink()
    except FileNotFoundError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def before(function: Callable[..., Any], point: str) -> Callable[..., Any]:
    def wrapped(*args: Any, **more: Any) -> Any:
        at(point)
        return function(*args, **more)

    return wrapped


def after(function: Callable[..., Any], point: str) -> Callable[..., Any]:
    def wrapped(*args: Any, **more: Any) -> Any:
        result = function(*args, **more)
        at(point)
        return result

    return wrapped


def during(function: Callable[..., Any], point: str) -> Callable[..., Any]:
    def wrapped(*args: Any, **more: Any) -> Any:
        Timer(0.1, at, [point]).start()  # while the answer is waited for
        return function(*args, **more)

    return wrapped


class WorkerApp(AppConfig):
    name = "tests"
    label = "test_worker"

    def ready(self) -> None:
        if "qcluster" in sys.argv and "TEST_PRELOAD" in os.environ:
            importlib.import_module(os.environ["TEST_PRELOAD"])  # takes longer than the tests' lease on a busy machine
        from extraction import runs, services
        from jobs import supervisor
        from llm import openai

        services.choose_window = after(services.choose_window, "before_call")  # type: ignore[attr-defined]
        openai.OpenAIModel.complete = during(openai.OpenAIModel.complete, "during_call")  # type: ignore[method-assign]
        services.judge = before(services.judge, "after_call")
        runs.end = after(runs.end, "inside_write")  # the run's row is the last that the transaction writes
        services._write = after(services._write, "after_commit")
        runs.BACKOFF = timedelta(seconds=float(os.environ.get("TEST_BACKOFF", "0.4")))  # type: ignore[misc]
        supervisor.BEAT_EVERY = supervisor.LOOK_EVERY = 0.3  # type: ignore[misc]
        supervisor.WEDGED_AFTER = timedelta(seconds=float(os.environ.get("TEST_WEDGED", "60")))  # type: ignore[misc]
