"""Gives signed-in requests the member's time zone, keeps private pages out of caches, and numbers every answer."""

from collections.abc import Callable
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import structlog
from django.http import HttpRequest, HttpResponse
from django.utils import timezone


class ApiHeadersMiddleware:
    """Puts on each answer the id under which the logs know it, and what is left of the rate; below django-structlog."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        # Read before: the id is ours, never a client's, which could hold anything.
        request_id = structlog.contextvars.get_contextvars().get("request_id", "")
        response = self.get_response(request)
        response.headers["X-Request-Id"] = request_id
        taken = getattr(request, "rate", None)
        for name, value in taken.headers().items() if taken is not None else ():
            response.headers[name] = value
        return response


class MemberMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path.startswith(("/v1/", "/static/", "/healthz", "/readyz")):
            return self.get_response(request)
        if request.user.is_authenticated:
            try:
                timezone.activate(ZoneInfo(request.user.time_zone))
            except (ZoneInfoNotFoundError, ValueError):
                timezone.deactivate()
        try:
            response = self.get_response(request)
        finally:
            timezone.deactivate()
        if request.user.is_authenticated:
            response.headers.setdefault("Cache-Control", "no-store")
        return response
