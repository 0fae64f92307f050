"""Logs as JSON lines with ids and counts; must never print an exception's text, which may quote what a member said."""

import re
import sys
import traceback
from collections.abc import MutableMapping
from typing import Any

import structlog
from structlog.typing import Processor

type Event = MutableMapping[str, Any]


def describe_exception(_logger: Any, _method: str, event: Event) -> Event:
    """Replace `exc_info` by class names and places. Messages are left out: a database error quotes the failing row."""
    exc_info = event.pop("exc_info", None)
    if not exc_info:
        return event
    if exc_info is True:
        error = sys.exc_info()[1]
    elif isinstance(exc_info, BaseException):
        error = exc_info
    else:
        error = exc_info[1]
    chain: list[dict[str, Any]] = []
    while error is not None and len(chain) < 5:
        frames = traceback.extract_tb(error.__traceback__)[-12:]
        chain.append(
            {
                "type": f"{type(error).__module__}.{type(error).__qualname__}",
                "at": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
            }
        )
        error = error.__cause__ or error.__context__
    event["exception"] = chain
    return event


def first_line_only(_logger: Any, _method: str, event: Event) -> Event:
    """Keep the first line of what the queue logs: the rest is a traceback as text."""
    record = event.get("_record")
    if record is not None and record.name == "django-q":
        event["event"] = str(event.get("event", "")).split("\n", 1)[0][:200]
    return event


_LINK = re.compile(r"((?:/|%2F)(?:invitations|password(?:/|%2F)reset)(?:/|%2F))[^\s\"']+", re.IGNORECASE)


def without_links(_logger: Any, _method: str, event: Event) -> Event:
    """Cut the secret part of links that came by mail out of the addresses of requests."""
    for name, value in event.items():
        if isinstance(value, str) and "/" in value:
            event[name] = _LINK.sub(r"\1…", value)
    return event


def without_query(_logger: Any, _method: str, event: Event) -> Event:
    """Cut off the queries of requests: what somebody searched for is what she wrote."""
    request = event.get("request")
    if isinstance(request, str) and "?" in request:
        event["request"] = request.partition("?")[0]
    return event


SHARED: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


def logging_config(level: str) -> dict[str, Any]:
    """Return Django's LOGGING: one handler on standard error, JSON lines."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "json": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": [*SHARED, structlog.stdlib.ExtraAdder(allow=("status_code",))],
                "processors": [
                    describe_exception,
                    first_line_only,
                    without_links,
                    without_query,
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    structlog.processors.JSONRenderer(sort_keys=False, default=lambda value: type(value).__name__),
                ],
            }
        },
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["console"], "level": level},
        "loggers": {
            "django-q": {"level": "WARNING"},
            "django.server": {"handlers": ["console"], "level": "WARNING", "propagate": False},
            "axes": {"level": "WARNING"},
            "httpx2": {"level": "WARNING"},
            "openai": {"level": "WARNING"},
        },
    }


def configure_structlog() -> None:
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *SHARED,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
