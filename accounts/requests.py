"""A signed-in member's request: whose it is, and texts as she typed them. Decides nothing about them."""

from typing import Final

from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django_htmx.middleware import HtmxDetails

from accounts.models import User
from screening.text import UnacceptableText


class MemberRequest(HttpRequest):
    """A request behind `login_required`; for annotations only."""

    user: User
    htmx: HtmxDetails


_PROBLEMS: Final[dict[str, Promise]] = {
    "nul": gettext_lazy("The text contains a NUL character. Remove it and try again."),
    "surrogate": gettext_lazy("The text contains half of a character, shown as “�”. Type or paste that part again."),
    "control": gettext_lazy("The text contains a control character at position {position}. Remove it and try again."),
    "line_break": gettext_lazy("The text must be one line. Remove the line breaks."),
    "too_long": gettext_lazy("The text has {length} characters; at most {limit} are allowed. Shorten it."),
    "empty": gettext_lazy("The text is empty. Write at least one character that is not a space."),
}


def posted_text(request: HttpRequest, name: str) -> str:
    """Return a posted text for `clean_text`.

    Browsers and Django put U+FFFD in the place of half a character. It is given back as what it was, so that it is
    refused with a clear sentence and does not end up in the store as a question mark (F08).
    """
    return request.POST.get(name, "").replace("\ufffd", "\ud800")


def text_problem(error: UnacceptableText) -> str:
    """Return the sentence for a refused text in the member's language."""
    problem = _PROBLEMS.get(error.code)
    return str(problem).format(**error.numbers) if problem else _("The text cannot be accepted.")
