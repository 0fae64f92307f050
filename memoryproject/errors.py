"""Answers for what goes wrong anywhere: pages for people, OpenAI's error shape under /v1/; never the error's text."""

import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from psycopg_pool import PoolTimeout

from chat.openai_format import error_body

UNREACHABLE = (OperationalError, InterfaceError, PoolTimeout)


def _of_api(request: HttpRequest) -> bool:
    return f"{request.path}/".startswith("/v1/")


def _answer(request: HttpRequest, status: int, title: str, text: str) -> HttpResponse:
    if _of_api(request):
        return JsonResponse(error_body(text, status=status), status=status)
    return render(request, "error.html", {"title": title, "text": text, "status": status}, status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer(request, 400, _("That request cannot be read"), _("Go back, check what you entered and try again."))


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer(
        request, 403, _("You may not do this"), _("Ask an administrator of the organization for the permission.")
    )


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer(
        request,
        404,
        _("Nothing here"),
        _("It does not exist, or you may not see it. Check the address or your rights."),
    )


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return _answer(
        request,
        403,
        _("This form is out of date"),
        _(
            "For your safety the form was not accepted, and nothing was changed. Go back, copy what you typed, reload "
            "the page and send it again; cookies must be on."
        ),
    )


def server_error(request: HttpRequest) -> HttpResponse:
    error = sys.exc_info()[1]
    if isinstance(error, UNREACHABLE):
        title, text = _("The database cannot be reached"), _("Nothing was changed. Try again in a moment.")
        response = _without_database(request, 503, title, text)
        response["Retry-After"] = "5"
        return response
    # Clients of the API repeat a request when told to; a person may try once more.
    text = _("It has been logged without any of your text.")
    return _without_database(
        request, 500, _("Something went wrong"), text if _of_api(request) else f"{text} {_('Try again.')}"
    )


def _without_database(request: HttpRequest, status: int, title: str, text: str) -> HttpResponse:
    """Answer without the request's user or session, which would ask the database again."""
    if _of_api(request):
        return JsonResponse(error_body(text, status=status), status=status)
    from django.template.loader import render_to_string

    return HttpResponse(render_to_string("error_plain.html", {"title": title, "text": text}), status=status)
