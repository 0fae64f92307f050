"""Gives each signed-in request the member's time zone and keeps private pages out of caches."""

from collections.abc import Callable
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.http import HttpRequest, HttpResponse
from django.utils import timezone


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
