"""A member's request: whose it is, and texts and choices as she typed them. Decides nothing about them."""

from collections.abc import Iterable
from itertools import groupby
from typing import Any, Final
from zoneinfo import available_timezones

from django import forms
from django.conf import global_settings
from django.http import HttpRequest, QueryDict
from django.utils.functional import Promise
from django.utils.translation import get_language_info, gettext_lazy
from django.utils.translation import gettext as _
from django_htmx.middleware import HtmxDetails

from accounts.models import User
from screening.text import UnacceptableText, clean_text


class MemberRequest(HttpRequest):
    """A request behind `login_required`; for annotations only."""

    user: User
    htmx: HtmxDetails


_PROBLEMS: Final[dict[str, Promise]] = {
    "nul": gettext_lazy("The text contains a NUL character. Remove it and try again."),
    "surrogate": gettext_lazy("The text contains half of a character, shown as “�”. Type or paste that part again."),
    "control": gettext_lazy("The text contains a control character at position {position}. Remove it and try again."),
    "line_break": gettext_lazy("The text must be one line. Remove the line breaks."),
    "override": gettext_lazy("The text contains a sign that reverses letters at position {position}. Remove it."),
    "too_long": gettext_lazy("The text has {length} characters; at most {limit} are allowed. Shorten it."),
    "empty": gettext_lazy("The text is empty. Write at least one character that is not a space."),
}


def posted(request: HttpRequest) -> QueryDict | None:
    """Return the data for a form: what was posted, be it nothing at all, or None where nothing is posted."""
    return request.POST if request.method == "POST" else None


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


def clean_field(value: str, *, max_length: int, single_line: bool = True, allow_empty: bool = False) -> str:
    """Return what `clean_text` returns, or raise ValidationError, which a form shows beside the field."""
    try:
        return clean_text(value, max_length=max_length, single_line=single_line, allow_empty=allow_empty)
    except UnacceptableText as error:
        raise forms.ValidationError(text_problem(error), code=error.code) from None


class Text(forms.CharField):
    """A text field that accepts what `clean_text` accepts, and says so when the form is checked (F08)."""

    def __init__(self, *, longest: int, single_line: bool = True, **options: Any) -> None:
        super().__init__(strip=single_line, **options)
        self.longest, self.single_line = longest, single_line

    def clean(self, value: Any) -> Any:
        typed = super().clean(value).replace("\ufffd", "\ud800")
        return clean_field(typed, max_length=self.longest, single_line=self.single_line, allow_empty=not self.required)


def slug_field() -> forms.RegexField:
    """Return a field for the part of an address that names an organization or an agent."""
    return forms.RegexField(
        r"^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$",
        label=gettext_lazy("Short name in addresses"),
        max_length=63,
        help_text=gettext_lazy("It stands in addresses and in the API, as in acme/guide, and never changes."),
        error_messages={"invalid": gettext_lazy("Use lower-case letters a to z, digits and hyphens, as in acme-2.")},
        widget=forms.TextInput(attrs={"autocapitalize": "none", "autocomplete": "off", "spellcheck": "false"}),
    )


def languages() -> list[tuple[str, str]]:
    """Return the choices of languages that Django translates, each by its own name and the English one."""
    found = [(code, get_language_info(code)) for code, _name in global_settings.LANGUAGES]
    return [
        (code, info["name"] if info["name"] == info["name_local"] else f"{info['name_local']} ({info['name']})")
        for code, info in found
    ]


def time_zones() -> Iterable[tuple[str, Any]]:
    """Yield the choices of time zones, grouped by region."""
    names = sorted(name for name in available_timezones() if "/" in name and not name.startswith(("Etc/", "SystemV/")))
    yield "UTC", "UTC"
    for region, found in groupby(names, key=lambda name: name.partition("/")[0]):
        yield region, [(name, name.partition("/")[2].replace("_", " ")) for name in found]
