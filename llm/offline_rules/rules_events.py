"""Rules for notable events and turns of life; each reads one clause."""

import re
from dataclasses import replace
from datetime import date

from llm.offline_rules.clauses import Clause
from llm.offline_rules.drafts import Draft, draft, timed
from llm.offline_rules.phrases import items, noun_phrase
from llm.offline_rules.rules_have import have

_STEPS = re.compile(
    r"(?P<license>(?:my|a) (?:driver'?s|driving|pilot'?s|motorcycle|boating) licen[cs]e)|(?P<married>married|"
    r"engaged|divorced)\b|(?P<promoted>promoted\b.*)|(?P<fired>fired|laid off|made redundant)\b|"
    r"(?P<accepted>(?:accepted|admitted) (?:into|to|at) .+|into (?:the )?(?-i:[A-Z]).+)|(?P<job>an? (?:new )?(?:job|"
    r"position|promotion|raise|offer|internship|scholarship)(?: (?:at|from|as|in) .+)?$)|"
    r"(?P<diagnosed>diagnosed with .+)",
    re.IGNORECASE,
)


def event(clause: Clause, said: date) -> list[Draft]:
    """I got promoted; I got married in May; we adopted a dog; I passed my exam; I bought a house; I won X."""
    if clause.negated or clause.tense not in {"past", "perfect", "progressive", "future"}:
        return []
    future = clause.tense in {"progressive", "future"}
    rest, when = timed(clause, said, future=future)
    rest = re.sub(r"^more and more ", "", rest)
    label = f" {when.label}" if when else ""
    ends = when.after if when and future else None
    if clause.verb == "get":
        return _got(clause, rest, label, ends, future=future)
    objects = _EVENT_OBJECTS.get(clause.verb)
    if objects is None or not re.match(objects, rest, re.IGNORECASE):
        return []
    if clause.verb == "become" and rest.startswith("interested in "):
        return [
            f
            for t in items(rest.removeprefix("interested in "))
            for f in draft("profile", ("interest", t), f"Is interested in {t}", 0.8)
        ]
    what = noun_phrase(rest, max_words=9) if rest else ""
    if what is None:
        return []
    name = f"{clause.verb} {what}"
    return draft("episodic", ("event", name), clause.predicate(f"{what}{label}"), 0.8, ends)


def _got(clause: Clause, rest: str, label: str, ends: date | None, *, future: bool) -> list[Draft]:
    step = _STEPS.match(rest)
    if step is None:
        owned = replace(clause, tense="present", verb="have", rest=rest)
        return have(owned, date.max) if clause.tense in {"past", "perfect"} else []
    what = noun_phrase(step[0], max_words=8)
    if not what:
        return []
    kind = next(name for name, text in step.groupdict().items() if text)
    kind = "promoted" if re.search(r"promotion|raise", step[0]) else kind
    verb = "Is getting" if future else "Got"
    key = {
        "married": f"event.{step[0].split()[0].lower()}",
        "job": "work.new_job",
        "fired": "work.job_ended",
        "license": "event.license",
        "promoted": "work.promotion",
        "diagnosed": "health.diagnosis",
        "accepted": "education.admission",
    }[kind]
    return draft("episodic", key, f"{verb} {what}{label}", 0.85, ends)


_EVENT_OBJECTS = {
    "expect": r"(?:(?:an?|our|my)(?: \w+){0,2} (?:baby|child|grandchild)|twins)\b",
    "pass": r"(?:my|the|an?) .*\b(?:exam|test|bar|boards|finals|defense|certification|interview)s?\b",
    "fail": r"(?:my|the|an?) .*\b(?:exam|test|bar|class|course)s?\b",
    "break": (
        r"(?:up with my (?:girlfriend|boyfriend|partner|fianc\w+)|my (?:leg|arm|ankle|wrist|foot|hip|collarbone|"
        r"hand|finger|toe|elbow))"
    ),
    "buy": (
        r"(?:an?|our|my) (?:\w+ ){0,3}(?:house|flat|apartment|car|boat|van|motorcycle|bike|piano|guitar|telescope|"
        r"laptop|e-bike|cottage|cabin|camera|land)\b"
    ),
    "sell": r"(?:our|my|the) (?:\w+ )?(?:house|flat|apartment|car|boat|business|company)\b",
    "adopt": (
        r"(?:an?|two|three|our|my) (?:\w+ ){0,3}(?:dog|cat|puppy|kitten|kittens|cats|dogs|rabbit|child|daughter|son|"
        r"baby|greyhound)\b"
    ),
    "win": (
        r"(?:an?|the|my|first|second|our) (?:\w+ ){0,4}(?:award|prize|medal|tournament|competition|championship|"
        r"scholarship|race|grant|contest|case)\b"
    ),
    "publish": r"(?:an?|my|our) (?:\w+ ){0,3}(?:book|paper|novel|article|album|game|app|memoir)\b",
    "finish": (
        r"(?:my|writing my) (?:\w+ ){0,2}(?:degree|thesis|phd|dissertation|novel|book|master'?s|studies|"
        r"apprenticeship|residency)\b"
    ),
    "retire": r"(?:$|from |early|on |in )",
    "register": (
        r"for (?:an?|the) [\w ]{3,40}(?:course|class|marathon|race|exam|conference|workshop|bootcamp|triathlon|"
        r"program)\b"
    ),
    "sign": (
        r"up for (?:an?|the|my) [\w ]{0,40}(?:course|class|classes|lessons|marathon|race|gym|workshop|bootcamp|"
        r"triathlon|program|half|10k|5k)\b"
    ),
    "enroll": r"(?:in|at|on) .+",
    "become": (
        r"interested in .+|(?:an?|the) (?:grandmother|grandfather|grandparent|father|mother|dad|mum|mom|uncle|aunt|"
        r"citizen|manager|partner|vegetarian|vegan|us citizen)\b|vegetarian|vegan"
    ),
    "have": r"(?:a baby|twins|a (?:son|daughter|miscarriage|stroke|heart attack)|(?:\w+ )?surgery)\b",
    "undergo": r".*(?:surgery|treatment|chemo\w*)",
    "start": (
        r"(?:therapy|chemo\w*|physical therapy|physio|college|university|my phd|a phd|high school|a podcast|a blog|"
        r"a business|my own (?:business|company)|a company|a (?:new )?newsletter|a garden|kindergarten|a new "
        r"medication|taking .+ lessons)\b"
    ),
    "launch": (
        r"(?:my|our|an?) (?:\w+ ){0,3}(?:product|app|startup|company|website|store|shop|business|podcast|album|"
        r"service)\b"
    ),
    "found": r"(?:a|my own|an) (?:\w+ ){0,3}(?:company|startup|ngo|charity|club|band)\b",
    "lose": r"(?:my (?:mother|mom|mum|father|dad|wife|husband|brother|sister|grandmother|grandfather|dog|cat)\b)",
    "hire": (
        r"(?:an?|our|two|three) (?:\w+ ){0,3}(?:designer|developer|engineer|manager|nanny|assistant|intern|cleaner|"
        r"contractor)s?\b"
    ),
}


def start_at(clause: Clause, said: date) -> list[Draft]:
    """I start at Volvo on 1 February."""
    if clause.negated or clause.tense not in {"present", "progressive", "future"}:
        return []
    rest, when = timed(clause, said, future=True)
    employer = re.match(r"(?:at|with) [A-Z][\w'&-]*(?: [A-Z][\w'&-]*){0,2}$", rest)
    if not employer or when is None:
        return []
    return draft("episodic", "work.new_job", f"Starts {rest} {when.label}", 0.85, None)


def turn(clause: Clause, said: date) -> list[Draft]:
    """I am turning 40 in March."""
    rest, when = timed(clause, said, future=True)
    age = re.match(r"\d{1,2}$", rest)
    if not age or when is None or clause.tense not in {"progressive", "future", "present"} or clause.negated:
        return []
    return draft("episodic", "event.birthday", f"Is turning {age[0]} {when.label}", 0.85, when.after)
