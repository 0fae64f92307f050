"""The form of an organization's guardrails: what was typed, what is wrong with it, and the policy that it means (C06).

Writes nothing and reads no store.
"""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

from django.core.exceptions import BadRequest
from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.requests import posted_text, text_problem
from chat.guardrails import Kind, Policy, Rule, check_rule, find_all
from chat.models import MAX_RULES, MAX_TEXT
from chat.patterns import MAX_PATTERN, BadPattern
from chat.policies import Saved, Stage
from screening.pii import PII_RULES
from screening.text import UnacceptableText, clean_text, fold

MAX_PHRASES: Final = 4_000  # characters of the phrases of one rule
MAX_REPLACEMENT: Final = 200  # characters
MAX_LENGTH: Final = 1_000_000  # characters; more than any message has
STAGES: Final[tuple[Stage, ...]] = ("input", "output")
REFUSAL: Final = gettext_lazy("I cannot take this message: a rule of your organization stops it.")
RESTRICTION: Final = gettext_lazy("A rule of your organization withholds this reply.")
REPLACEMENT: Final = gettext_lazy("[removed]")
KINDS: Final[dict[str, Promise]] = {
    "phrases": gettext_lazy("Phrases"),
    "pattern": gettext_lazy("Pattern"),
    "pii": gettext_lazy("Personal data"),
    "length": gettext_lazy("Length"),
}
PII_NAMES: Final[dict[str, Promise]] = {
    "email": gettext_lazy("E-mail addresses"),
    "phone": gettext_lazy("Telephone numbers"),
    "address": gettext_lazy("Postal addresses"),
    "birth_date": gettext_lazy("Birth dates"),
    "card": gettext_lazy("Payment cards"),
    "iban": gettext_lazy("Bank accounts (IBAN)"),
    "national_id": gettext_lazy("National numbers by their form"),
    "identifier": gettext_lazy("Numbers beside a word for an identifier"),
    "account": gettext_lazy("User names and handles"),
    "spoken_number": gettext_lazy("Numbers written as words"),
    "ip": gettext_lazy("IP addresses"),
    "mac": gettext_lazy("Hardware addresses"),
    "wallet": gettext_lazy("Crypto wallets"),
    "vehicle": gettext_lazy("Vehicles"),
    "coordinates": gettext_lazy("Coordinates"),
}
_PATTERN_PROBLEMS: Final[dict[str, Promise]] = {
    "invalid": gettext_lazy("RE2 cannot read this pattern: {detail}. Look-around and back-references do not exist."),
    "too_long": gettext_lazy("The pattern is too long. Split it into several rules."),
    "too_big": gettext_lazy("The pattern grows too big when it is compiled. Use smaller repetitions or split it."),
    "matches_empty": gettext_lazy("The pattern finds the empty text, so it would find everything. Make it need more."),
}


@dataclass(slots=True)
class DraftRule:
    """One rule as it was typed; `kinds` are those of personal data, and `rule` is None while it has a problem."""

    stage: Stage
    kind: Kind
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    value: str = ""
    kinds: tuple[str, ...] = ()
    action: str = "block"
    replacement: str = ""
    problem: str = ""
    replacement_problem: str = ""
    rule: Rule | None = None
    hits: int = 0
    fresh: bool = False

    @property
    def title(self) -> str:
        return str(KINDS[self.kind])


@dataclass(slots=True)
class Draft:
    """The whole form; `version` is that of the policy which it was made from, 0 for none."""

    enabled: bool
    refusal: str
    restriction: str
    version: int
    rules: list[DraftRule]
    refusal_problem: str = ""
    restriction_problem: str = ""

    @property
    def stages(self) -> list[tuple[Stage, list[tuple[int, DraftRule]]]]:
        """The rules by stage, each with its number in the form."""
        numbered = list(enumerate(self.rules))
        return [(stage, [(number, rule) for number, rule in numbered if rule.stage == stage]) for stage in STAGES]

    @property
    def sound(self) -> bool:
        return not (self.refusal_problem or self.restriction_problem) and all(rule.rule for rule in self.rules)

    def policy(self) -> Policy:
        """Return the policy of a sound form."""

        def of(stage: Stage) -> tuple[Rule, ...]:
            return tuple(draft.rule for draft in self.rules if draft.stage == stage and draft.rule)

        return Policy(of("input"), of("output"), self.refusal, self.restriction)


def draft_of(saved: Saved | None, hits: dict[str, int]) -> Draft:
    """Return the form of the stored policy, or an empty one."""
    if saved is None:
        return Draft(True, str(REFUSAL), str(RESTRICTION), 0, [])
    policy = saved.policy
    staged = [*(("input", rule) for rule in policy.input_rules), *(("output", rule) for rule in policy.output_rules)]
    rules = [
        DraftRule(
            stage=cast(Stage, stage),
            kind=rule.kind,
            id=rule.id,
            value=rule.value,
            kinds=tuple(rule.value.split()) if rule.kind == "pii" else (),
            action=rule.action,
            replacement=rule.replacement,
            rule=rule,
            hits=hits.get(rule.id, 0),
        )
        for stage, rule in staged
    ]
    return Draft(saved.enabled, policy.refusal, policy.restriction, saved.version, rules)


def new_rule(stage: str, kind: str) -> DraftRule | None:
    """Return an empty rule for the form, or None when there is no such stage or kind."""
    if stage not in STAGES or kind not in KINDS:
        return None
    return DraftRule(stage, cast(Kind, kind), replacement=str(REPLACEMENT), fresh=True)


def read_draft(request: HttpRequest, hits: dict[str, int]) -> Draft:
    """Return the form as it was posted, everything kept, with what is wrong said beside it.

    Raises BadRequest for a rule of a stage or kind that no form has: saved without it, it would be gone unseen.
    """
    version = request.POST.get("version", "")
    draft = Draft(
        enabled="enabled" in request.POST,
        refusal="",
        restriction="",
        version=int(version) if version.isascii() and version.isdigit() and len(version) < 10 else 0,
        rules=[],
    )
    draft.refusal, draft.refusal_problem = _text(request, "refusal", limit=MAX_TEXT)
    draft.restriction, draft.restriction_problem = _text(request, "restriction", limit=MAX_TEXT)
    for number in range(MAX_RULES + 1):
        stage, kind = request.POST.get(f"r{number}-stage", ""), request.POST.get(f"r{number}-kind", "")
        rule = new_rule(stage, kind)
        if rule is None and (stage or kind):
            raise BadRequest("no such stage or kind of rule")
        if rule is not None:
            rule.fresh = False
            _read_rule(request, f"r{number}-", rule)
            if any(rule.id == other.id for other in draft.rules):
                rule.id = str(uuid.uuid4())
            rule.hits = hits.get(rule.id, 0)
            draft.rules.append(rule)
    _judge_replacements(draft.rules)
    return draft


def _read_rule(request: HttpRequest, prefix: str, draft: DraftRule) -> None:
    try:
        draft.id = str(uuid.UUID(request.POST.get(f"{prefix}id", "")))
    except ValueError:
        draft.id = str(uuid.uuid4())
    draft.kinds = tuple(kind for kind in request.POST.getlist(f"{prefix}kinds") if kind in PII_RULES)
    draft.value = request.POST.get(f"{prefix}value", "")
    draft.replacement = request.POST.get(f"{prefix}replacement", "")
    replaces = draft.stage == "output" and request.POST.get(f"{prefix}action") == "replace"
    draft.action = "replace" if replaces else "block"
    value, draft.problem = _VALUES[draft.kind](request, prefix)
    replacement = ""
    if replaces:
        replacement, draft.replacement_problem = _text(
            request, f"{prefix}replacement", limit=MAX_REPLACEMENT, allow_empty=True
        )
    if draft.problem or draft.replacement_problem:
        return
    rule = Rule(draft.id, draft.kind, value, "replace" if replaces else "block", replacement)
    try:
        check_rule(rule)
    except BadPattern as error:
        draft.problem = str(_PATTERN_PROBLEMS[error.code]).format(detail=error.detail)
    else:
        draft.rule, draft.value = rule, value


def _judge_replacements(drafts: Sequence[DraftRule]) -> None:
    """Refuse a replacement in which a rule of the replies finds something: nothing would ever be sent."""
    rules = [draft.rule for draft in drafts if draft.stage == "output" and draft.rule and draft.kind != "length"]
    for draft in drafts:
        if draft.rule and draft.rule.replacement and find_all(rules, draft.rule.replacement):
            draft.rule = None
            draft.replacement_problem = _("A rule finds something in this text itself. Choose another text.")


def _text(
    request: HttpRequest, name: str, *, limit: int, single_line: bool = False, allow_empty: bool = False
) -> tuple[str, str]:
    """Return a posted text, cleaned, and what is wrong with it; a text with a problem is returned as it was typed."""
    try:
        cleaned = clean_text(
            posted_text(request, name), max_length=limit, single_line=single_line, allow_empty=allow_empty
        )
    except UnacceptableText as error:
        return request.POST.get(name, ""), text_problem(error)
    return cleaned, ""


def _phrases(request: HttpRequest, prefix: str) -> tuple[str, str]:
    text, problem = _text(request, f"{prefix}value", limit=MAX_PHRASES)
    if problem:
        return text, problem
    phrases = [" ".join(line.split()) for line in text.split("\n") if line.strip()]
    if unreadable := next((phrase for phrase in phrases if not fold(phrase).strip()), None):
        return text, _("“{phrase}” has nothing that can be read. Remove the line.").format(phrase=unreadable)
    return "\n".join(dict.fromkeys(phrases)), ""


def _pattern(request: HttpRequest, prefix: str) -> tuple[str, str]:
    return _text(request, f"{prefix}value", limit=MAX_PATTERN, single_line=True)


def _pii(request: HttpRequest, prefix: str) -> tuple[str, str]:
    chosen = [kind for kind in PII_RULES if kind in request.POST.getlist(f"{prefix}kinds")]
    return " ".join(chosen), "" if chosen else _("Choose at least one kind of personal data.")


def _length(request: HttpRequest, prefix: str) -> tuple[str, str]:
    typed = request.POST.get(f"{prefix}value", "").strip()
    if typed.isascii() and typed.isdigit() and len(typed) < 9 and 1 <= int(typed) <= MAX_LENGTH:
        return str(int(typed)), ""
    return typed, _("Type a whole number from 1 to {most}.").format(most=MAX_LENGTH)


_VALUES: Final[dict[str, Callable[[HttpRequest, str], tuple[str, str]]]] = {
    "phrases": _phrases,
    "pattern": _pattern,
    "pii": _pii,
    "length": _length,
}


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the tried text, and the numbers of the rules that find something in it."""

    text: str
    rules: tuple[int, ...] = ()


def segments(policy_rules: Sequence[Rule], numbers: Sequence[int], text: str) -> list[Segment]:
    """Cut a text at the places that the rules find; places that overlap are one segment."""
    parts: list[Segment] = []
    sent = start = end = 0
    found: set[int] = set()

    def close() -> None:
        if found:
            parts.extend([Segment(text[sent:start]), Segment(text[start:end], tuple(sorted(found)))])

    for place in find_all(policy_rules, text):
        if found and place.start < end:
            end = max(end, place.end)
        else:
            close()
            sent = end
            start, end, found = place.start, place.end, set()
        found.add(numbers[place.rule])
    close()
    return [part for part in [*parts, Segment(text[end:])] if part.text]
