"""Rules for where the member lives, comes from and studies; each reads one clause."""

import re
from datetime import date

from llm.offline_rules.clauses import Clause
from llm.offline_rules.drafts import Draft, draft, timed
from llm.offline_rules.keys import slug
from llm.offline_rules.phrases import in_third_person, noun_phrase, object_of
from llm.offline_rules.rules_work import employer_of
from llm.offline_rules.verbs import is_gerund
from llm.offline_rules.words import COUNTRIES, FREQUENCY

_PLACE_PREFIX = re.compile(
    r"^(?:back )?(?:in|to|at|from|near|outside(?: of)?|around|on)\s+(?P<place>(?:the (?:suburbs|outskirts|north|"
    r"south|east|west|center|centre|"
    r"heart|middle|countryside|mountains|coast|city)(?: of)? ?)?.*)$",
    re.IGNORECASE,
)


_NO_PLACE = re.compile(
    r"\b(?:moments?|times?|fear|past|present|hope|peace|pain|hell|denial|world|bubble|dream|age|house|own|room|same|"
    r"here|there|area|"
    r"floor|apartment|flat|street|avenue|road|st\.|ave|lane|group|place|places|dorm|hotel|parents|heaven|era|"
    r"uncertainty|shared)\b|\d",
    re.IGNORECASE,
)


def place_of(text: str) -> str | None:
    """Return the name of a place after "in" or "to", or None when what stands there is no place."""
    found = _PLACE_PREFIX.match(text)
    if not found:
        return None
    place = re.split(
        r"[.;:!?()]|,\s+(?![A-Z])|\s+(?:with|for|and|or|since|because|from|but|where|which|when|as|after|before|to|by|"
        r"so|now|currently|right|at|these|most|until|while|all|during|every|about|just|on my|on weekdays|in a)\b",
        found["place"],
        maxsplit=1,
    )[0].strip(" ,")
    if not 1 <= len(place.split()) <= 6 or _NO_PLACE.search(place) or in_third_person(place) is None:
        return None
    if place.split()[0].lower() in {"a", "an", "some", "one", "different"}:
        return None
    activity = place.islower() and is_gerund(place.split()[-1])
    return place if any(letter.isalpha() for letter in place) and not activity else None


def home_key(place: str) -> str:
    """Return the key under which a home at `place` is kept."""
    name = place.lower()
    if name in COUNTRIES:
        return "home.country"
    return (
        "home.area"
        if name.startswith(("the ", "a ")) and not any(word[:1].isupper() for word in place.split())
        else "home.city"
    )


def live(clause: Clause, said: date) -> list[Draft]:
    """I live in X / with X; I have lived in X for ten years; I used to live in X."""
    if clause.tense in {"modal", "future"}:
        return []
    rest, when = timed(clause, said, future=False)
    place = place_of(re.sub(r"^(?:happily|right|just|over|here)\s+", "", rest))
    since = f" ({when.label.replace('in ', 'since ', 1)})" if when and re.search(r"\bsince\b", clause.rest) else ""
    if place and (clause.tense == "formerly" or (clause.tense == "past" and not clause.negated)):
        return draft("profile", ("home", "past", place), f"Used to live in {place}", 0.75)
    if place and clause.negated:  # never under the key of the home that she has
        if clause.no_longer:
            return draft("profile", ("home", "past", place), f"No longer lives in {place}", 0.8)
        lives = clause.tense in {"present", "progressive"}
        return draft("profile", ("home", "not", place), f"Does not live in {place}" if lives else None, 0.8)
    if place and clause.tense in {"present", "progressive", "perfect", "perfect_progressive"}:
        near = "near" if rest.lower().startswith("near") else "outside" if rest.lower().startswith("outside") else "in"
        return draft("profile", home_key(place), f"Lives {near} {place}{since}", 0.9)
    with_whom = re.match(r"(?:together )?(with .+|alone|by myself|on my own)", rest)
    if with_whom and not clause.negated and clause.tense in {"present", "progressive"}:
        company = in_third_person(object_of(with_whom[1]) or with_whom[1])
        return draft("profile", "home.household", f"Lives {company}" if company else None, 0.85)
    return []


def move(clause: Clause, said: date) -> list[Draft]:
    """I moved to X last spring; I am moving to X in May; we just relocated to X."""
    planned = clause.tense in {"progressive", "future"}
    rest, when = timed(clause, said, future=planned)
    rest = re.sub(r"^(?:here|back|over|out|away|all the way)\s+", "", rest)
    from_first = re.match(r"from (?:[\w' -]+?) (to .+)", rest)
    place = place_of(from_first[1] if from_first else rest)
    if not place or not re.match(r"(?:to|from .+ to)\b", rest) or clause.negated or home_key(place) == "home.area":
        return []
    label = f" {when.label}" if when else ""
    if planned:
        return draft(
            "episodic", ("plan", "move to " + place), f"Is moving to {place}{label}", 0.85, when.after if when else None
        )
    if clause.tense in {"past", "perfect"}:
        return draft(
            "profile", home_key(place), f"Lives in {place} (moved there{label})" if label else f"Lives in {place}", 0.9
        )
    return []


def come(clause: Clause, said: date) -> list[Draft]:
    """I come from X."""
    return origin(clause.rest) if clause.tense == "present" and not clause.negated else []


def grow(clause: Clause, said: date) -> list[Draft]:
    """I grew up in X."""
    found = re.match(r"up (?P<where>(?:in|near|on) .+)", clause.rest)
    if not found or clause.tense != "past" or clause.negated:
        return []
    where = noun_phrase(re.split(r"\s+and\b|,", found["where"])[0], max_words=6)
    return draft("profile", "home.childhood", f"Grew up {where}" if where else None, 0.85)


def origin(rest: str) -> list[Draft]:
    """Return where the member is from, given "from X"."""
    if re.match(r"from (?:home|work|here|there)\b", rest):
        return []
    place = place_of(rest) if rest.startswith("from ") else None
    town = re.match(
        r"from (?P<town>an? (?:\w+ ){0,2}(?:town|village|city|island|farm|suburb)(?: (?:in|near|outside|of|on) "
        r"(?:the )?[A-Z][\w' ]+)?)",
        rest,
    )
    if town:
        return draft("profile", "origin", f"Is from {noun_phrase(town['town'], max_words=9)}", 0.85)
    if place and place.startswith("the ") and place.islower() and place not in COUNTRIES:
        return []
    return draft("profile", "origin", f"Is from {place}" if place else None, 0.9)


def study(clause: Clause, said: date) -> list[Draft]:
    """I study physics at X; I studied X; I am studying for the bar exam."""
    rest, when = timed(clause, said, future=clause.tense == "progressive")
    rest = re.sub(r",.*$", "", rest)
    if (
        clause.negated
        or clause.tense in {"future", "modal"}
        or re.match(r"(?:at (?:the|a) (?:library|home|cafe)|every|hard|all|with|right|now|in (?:the|a|my))\b", rest)
    ):
        return []
    exam = re.match(r"for (?P<exam>.+)", rest)
    if exam and clause.tense != "past":
        what = noun_phrase(exam["exam"], max_words=6)
        label = f" {when.label}" if when else ""
        return draft(
            "episodic",
            ("studying", what or ""),
            f"Is studying for {what}{label}" if what else None,
            0.8,
            when.after if when else None,
        )
    abroad = re.match(r"abroad in (?P<where>[A-Z][\w ]+)", rest)
    if abroad:
        return draft("profile", "education.abroad", clause.predicate(noun_phrase(rest, max_words=6)), 0.85)
    school = employer_of(rest)
    subject = noun_phrase(re.split(r"\s+at\s+(?=[A-Z]|the )", rest)[0], max_words=5)
    if subject and (
        subject.lower().startswith(("at ", "abroad", "to ", "the "))
        or FREQUENCY.search(subject)
        or re.search(r"\d", subject)
    ):
        subject = None
    verb = (
        "Studied" if clause.tense in {"past", "formerly"} else "Is studying" if clause.tense != "present" else "Studies"
    )
    recent = clause.tense == "perfect_progressive" or (clause.tense == "progressive" and not school)
    name = re.split(r"\s+(?:for|since|on|with|in)\b", subject or "")[0]
    verb = "Has been studying" if recent and subject and re.search(r"\b(?:for|since) ", subject) else verb
    key = f"learning.{slug(name)}" if recent else "education.field"
    found = draft("profile", key, f"{verb} {subject}" if subject and slug(subject) else None, 0.85)
    return found + draft(
        "profile", "education.school", f"{verb.replace('Is studying', 'Studies')} at {school}" if school else None, 0.85
    )


def education(clause: Clause, said: date) -> list[Draft]:
    """I graduated from X in 2019; I majored in Y."""
    rest, when = timed(clause, said, future=False)
    if clause.negated or clause.tense in {"future", "modal"}:
        return []
    label = f" {when.label}" if when else ""
    if clause.verb == "graduate" and clause.tense == "past" and (label or "from" in rest):
        what = noun_phrase(rest, max_words=8) if rest else ""
        return draft("profile", "education.graduation", f"Graduated {what or ''}{label}", 0.85)
    if clause.verb == "graduate" and clause.tense in {"present", "progressive"} and not rest:
        rest, when = timed(clause, said, future=True)
        return draft(
            "episodic",
            "event.graduation",
            f"Graduates {when.label}" if when else None,
            0.85,
            when.after if when else None,
        )
    field = re.match(r"in (?P<field>.+)", rest)
    if clause.verb == "major" and field:
        name = noun_phrase(field["field"], max_words=6)
        return draft(
            "profile",
            "education.field",
            f"{'Majored' if clause.tense == 'past' else 'Majors'} in {name}" if name else None,
            0.85,
        )
    return []
