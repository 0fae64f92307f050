"""Rules for "I have ...": health, family, pets, appointments, possessions; each reads one clause."""

import re
from datetime import date

from llm.offline_rules.clauses import Clause
from llm.offline_rules.drafts import Draft, article, draft, timed
from llm.offline_rules.keys import slug
from llm.offline_rules.phrases import items, noun_phrase, object_of
from llm.offline_rules.rules_taste import tastes
from llm.offline_rules.words import CONDITIONS, FAMILY, NUMBERS, PETS, POSSESSIONS

NUMBER = r"(?:\d{1,2}|" + "|".join(word for word in NUMBERS if word not in {"couple", "zero"}) + ")"


_EVENTS = re.compile(
    r"(?:an?|my|the|another)(?: [\w-]+){0,3} (?:interview|exam|appointment|surgery|operation|presentation|wedding|"
    r"deadline|flight|"
    r"trip|conference|meeting|recital|concert|race|marathon|defense|defence|audition|graduation|speech|talk|tournament|"
    r"match|competition|checkup|check-up|scan|review|viva|thesis defense|driving test|test|reunion|vacation|holiday|"
    r"party|visit|workshop|demo)\b",
    re.IGNORECASE,
)


_FOODS = re.compile(
    r"(?:caffeine|alcohol|gluten|dairy|lactose|milk|sugar|salt|nuts|peanuts|eggs|shellfish|seafood|pork|meat|soy|"
    r"wheat|grapefruit)$"
)


def have(clause: Clause, said: date) -> list[Draft]:
    """I have X; I have got X; I have had X for years: health, family, pets, possessions, appointments."""
    must = re.match(r"to avoid (?P<what>.+)", clause.rest)
    if must and not clause.negated and clause.tense == "present":
        return [f for t in items(must["what"]) for f in draft("profile", ("diet", t), f"Has to avoid {t}", 0.85)]
    if clause.modal == "can" and clause.negated:
        foods = [t for t in items(clause.rest) if _FOODS.match(t)]
        return [f for t in foods for f in draft("profile", ("diet", t), f"Cannot have {t}", 0.85)]
    if clause.tense == "future" and not clause.negated:
        return _appointment(clause, clause.rest, said)
    if clause.tense in {"formerly", "modal", "future", "past"} or (clause.negated and clause.tense != "present"):
        return []
    many = re.match(
        r"(?:many|a lot of|lots of|several|various|a few) (?:hobbies|interests)\b.*?(?:such as|like|including|:) "
        r"(?P<what>.+)",
        clause.rest,
    )
    if many and not clause.negated:
        return tastes(many["what"])
    rest = re.sub(r"^(?:got|had) ", "", clause.rest)
    if clause.negated:
        return _has_not(clause, rest)
    for reading in (_condition, _relatives, _pets, _appointment, _possession):
        found = reading(clause, rest, said)
        if found:
            return found
    return []


def _has_not(clause: Clause, rest: str) -> list[Draft]:
    thing = re.match(
        r"(?:an? |any )?(?P<what>kids|children|siblings|pets|car|license|driver'?s license|driving licen[cs]e|tv|"
        r"brothers or sisters|degree)\b",
        rest,
    )
    key = {"kids": "family.children", "children": "family.children", "siblings": "family.siblings", "pets": "pet"}
    return (
        draft("profile", key.get(thing["what"], f"possession.{slug(thing['what'])}"), f"Does not have {thing[0]}", 0.85)
        if thing
        else []
    )


def _condition(clause: Clause, rest: str, said: date) -> list[Draft]:
    confidence = 0.5 if clause.hedged else 0.9
    allergy = re.match(r"(?:an? |some )?(?:\w+ )?allerg(?:y|ies) to (?P<what>.+)", rest)
    if allergy:
        return [
            f
            for thing in items(allergy["what"])
            for f in draft("profile", ("allergy", thing), f"Is allergic to {thing}", confidence)
        ]
    named = re.match(
        r"an? (?:(?:severe|bad|mild|serious) )?(?P<what>[\w -]{2,25}?) (?P<kind>allergy|intolerance)\b", rest
    )
    if named:
        return draft("profile", (named["kind"], named["what"]), f"Has {named[0]}", confidence)
    plain = object_of(rest)
    bare = re.sub(r"^(?:(?:severe|chronic|mild|bad|a bit of|a mild form of) )+", "", plain.lower())
    words = re.split(r",\s*(?:and )?| and ", bare)
    if words and words[0] in CONDITIONS and all(word in CONDITIONS for word in words):
        return [
            f for word in words for f in draft("profile", ("health", word), f"Has {_cased(word, plain)}", confidence)
        ]
    return []


def _cased(word: str, plain: str) -> str:
    at = plain.lower().find(word)
    return plain[at : at + len(word)]


_RELATIVES = re.compile(
    rf"(?P<count>{NUMBER}|no|several|twin|only one)(?P<adj>(?: (?:and a half|little|older|younger|big|small|adult|"
    rf"grown|grown-up|teenage|twin|step|half|baby|other|beautiful|wonderful|lovely|grown up|elder|young|newborn|"
    rf"\d+[- ]year[- ]old|\w+[- ]year[- ]old))*) "
    r"(?P<noun>[\w-]+)(?P<tail>.*)",
    re.IGNORECASE,
)


_NAMES = re.compile(
    r"^,?\s*(?:(?:called|named|by the name of|whose names? (?:is|are)|-|:)\s+)?(?P<names>[A-Z][\w'-]+(?:(?:,| and|, "
    r"and| &) [A-Z][\w'-]+)*)"
)


_WHO_IS = re.compile(r"^,?\s*who(?P<is>'s| is)? (?=\w)")


def _relatives(clause: Clause, rest: str, said: date) -> list[Draft]:
    found = _RELATIVES.match(rest)
    if not found or found["noun"].lower() not in FAMILY:
        return []
    noun, tail = found["noun"].lower(), found["tail"]
    named = _NAMES.match(tail)
    names = named["names"] if named else ""
    extra = tail[named.end() :] if named else tail
    content = f"Has {found['count'].lower()}{found['adj']} {found['noun']}" + (f", {names}" if names else "")
    who = _WHO_IS.match(extra)
    about = noun_phrase(extra[who.end() :], max_words=8) if who else None
    lasting = who and (who["is"] or re.match(r"(?:lives|works|studies|plays)\b", extra[who.end() :]))
    if who and about and lasting:
        content += f"{',' if names else ''} who {'is ' if who['is'] else ''}{about}"
    group = "children" if noun == "kids" else noun
    plural = noun.endswith("s") or noun in {"children", "grandchildren"}
    key = ("family", group) if plural or not names else (f"family.{slug(group)}", names)
    return draft("profile", key, content, 0.9)


_PET = re.compile(
    rf"(?P<count>{NUMBER}|some|several) (?P<adj>(?:[\w-]+ ){{0,4}}?)(?P<noun>"
    + "|".join(sorted(PETS, key=lambda word: (-len(word), word)))
    + r")\b(?P<tail>.*)$",
    re.IGNORECASE,
)


def _pets(clause: Clause, rest: str, said: date) -> list[Draft]:
    herd = re.match(r"(?P<noun>[a-z]+s)$", object_of(rest))
    if herd and herd["noun"] in PETS:
        return draft("profile", ("pet", herd["noun"]), f"Has {herd['noun']}", 0.85)
    found = _PET.match(rest)
    if not found or re.search(r"\b(?:as a kid|growing up|in my life|hot)\b", rest):
        return []
    noun, count = found["noun"].lower(), found["count"].lower()
    named = _NAMES.match(found["tail"].strip())
    names = named["names"] if named else ""
    several = "," in names or " and " in names
    spoken = f"Has {count} {found['adj']}{found['noun']}"
    spoken += f", {names}" if several else f" called {names}" if names else ""
    alone = names and count in {"a", "an", "one"}
    return draft("profile", (f"pet.{slug(noun)}", names) if alone else ("pet", noun), spoken, 0.9)


def _appointment(clause: Clause, rest: str, said: date) -> list[Draft]:
    event = _EVENTS.match(rest)
    body, when = timed(clause, said, future=True)
    if not event or when is None or when.after <= said:
        return []
    what = noun_phrase(re.sub(r"^got ", "", body), max_words=9)
    name = re.sub(r"^(?:an?|my|the|another) ", "", event[0])
    return draft("episodic", ("event", name), f"Has {what} {when.label}" if what else None, 0.85, when.after)


def _possession(clause: Clause, rest: str, said: date) -> list[Draft]:
    found = re.match(
        rf"(?P<det>an?|{NUMBER}|my own|our own)(?P<adj>(?: [\w'.-]+){{0,4}}?) (?P<noun>(?:\w+ )?[\w-]+)$",
        object_of(re.sub(r"\s+(?:in|at|with|called|named|near|from|on|about|for)\b.*$", "", rest)),
        re.IGNORECASE,
    )
    if found:
        noun = found["noun"].lower()
        known = noun in POSSESSIONS or noun.split()[-1] in POSSESSIONS or noun.removesuffix("s") in POSSESSIONS
        whole = noun_phrase(rest, max_words=9)
        if known and whole and not re.search(r"\b(?:bad|problem|issue|to myself|new idea)\b", whole):
            head = noun if noun in POSSESSIONS else noun.split()[-1]
            return draft("profile", ("possession", head), f"Has {whole}", 0.8)
    degree = re.match(
        r"an? (?P<what>(?:phd|ph\.d\.|doctorate|master'?s(?: degree)?|bachelor'?s(?: degree)?|ba|bsc|msc|mba|degree|"
        r"law degree)(?: in [\w ]{3,30})?)",
        rest,
        re.IGNORECASE,
    )
    return draft(
        "profile",
        "education.degree",
        f"Has {article(noun_phrase(degree['what']) or '')}" if degree and noun_phrase(degree["what"]) else None,
        0.9,
    )
