"""How failed sign-ins are counted for the pause (I06): by address and network; must keep nothing else of a form."""

from typing import Any

from axes.handlers.database import AxesDatabaseHandler
from django.http import HttpRequest, QueryDict

COLUMN = 255  # characters


def attempted_address(request: HttpRequest, credentials: dict[str, Any] | None = None) -> str:
    """Return the address that was tried as the account would be found by it: case and outer space do not count."""
    tried = credentials if credentials else request.POST
    return str(tried.get("username") or "").replace("\x00", "").strip().lower()[:COLUMN]


class FailedSignIns(AxesDatabaseHandler):  # type: ignore[misc]
    """Counts in the database, without the form: it holds the CSRF token, and a password in the wrong field."""

    def user_login_failed(
        self, sender: Any, credentials: dict[str, Any], request: HttpRequest | None = None, **more: Any
    ) -> None:
        if request is None:
            return  # not a sign-in by the form: nobody to pause
        query, form = request.GET, request.POST
        request.GET = request.POST = QueryDict()
        try:
            super().user_login_failed(sender, credentials, request, **more)
        finally:
            request.GET, request.POST = query, form
