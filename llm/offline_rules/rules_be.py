"""Rules for "I am ..." and "I have ...": names, roles, health, family, pets and possessions; each reads one clause."""

import re
from datetime import date

from llm.offline_rules.clauses import Clause
from llm.offline_rules.drafts import Draft, article, draft, timed
from llm.offline_rules.keys import slug
from llm.offline_rules.phrases import in_third_person, items, noun_phrase, object_of
from llm.offline_rules.rules_home import employer_of, home_key, origin, place_of, role_of
from llm.offline_rules.rules_taste import tastes
from llm.offline_rules.words import (
    CONDITIONS,
    DIETS,
    FAMILY,
    HEALTH_WORDS,
    LANGUAGES,
    NATIONALITIES,
    NUMBERS,
    PARENT_OF,
    PETS,
    PHOBIAS,
    POSSESSIONS,
    STATUS,
    TRAITS,
    WORK_STATUS,
)

_NUMBER = r"(?:\d{1,2}|" + "|".join(word for word in NUMBERS if word not in {"couple", "zero"}) + ")"
_EVENTS = re.compile(
    r"(?:an?|my|the|another)(?: [\w-]+){0,3} (?:interview|exam|appointment|surgery|operation|presentation|wedding|deadline|flight|"
    r"trip|conference|meeting|recital|concert|race|marathon|defense|defence|audition|graduation|speech|talk|tournament|"
    r"match|competition|checkup|check-up|scan|review|viva|thesis defense|driving test|test|reunion|vacation|holiday|party|visit|workshop|demo)\b",
    re.IGNORECASE,
)


def be(clause: Clause, said: date) -> list[Draft]:
    """I am X: the first reading that fits."""
    rest = clause.rest
    if clause.tense in {"modal", "future"}:
        return []
    if clause.tense == "formerly" or (clause.tense == "past" and re.match(r"an? .* for (?:\d+|\w+) years", rest)):
        role = role_of(rest) if not clause.negated and re.match(r"an? ", rest) else None
        years = re.search(r"for (?:\w+|over \w+) years", rest)
        verb = "Used to be" if clause.tense == "formerly" else "Was"
        return draft(
            "profile",
            ("work.past", role or ""),
            f"{verb} {article(role)}{' ' + years[0] if years else ''}" if role else None,
            0.8,
        )
    if clause.tense == "perfect" and re.match(r"(?:promoted|laid off|fired|diagnosed|made redundant|accepted)\b", rest):
        return _was(clause, said)
    if clause.tense == "past":
        return _was(clause, said)
    if clause.negated:
        return _is_not(clause)
    for reading in (_allergic, _diet, _health, _status, _place, _interest, _age, _named, _person, _role):
        found = reading(clause, rest, said)
        if found:
            return found
    return []


def _was(clause: Clause, said: date) -> list[Draft]:
    if clause.negated:
        return []
    rest, when = timed(clause, said, future=False)
    label = f" {when.label}" if when else ""
    diagnosed = re.match(r"diagnosed with (?P<what>.+)", rest)
    if diagnosed:
        what = noun_phrase(diagnosed["what"], max_words=5)
        return draft("profile", ("health", what or ""), f"Was diagnosed with {what}{label}" if what else None, 0.9)
    born = re.match(r"(?:born(?: and raised)?|raised) (?:in|near) (?P<where>[A-Z][\w' .-]+)", rest)
    if born and not re.search(r"\d", rest):
        where = noun_phrase(born["where"], max_words=4)
        return draft("profile", "birthplace", f"Was born in {where}" if where else None, 0.9)
    if re.match(r"born (?:in )?(?:19|20)\d\d$", clause.rest):
        return draft("profile", "birth.year", f"Was {clause.rest}", 0.85)
    event = re.match(
        r"(?:laid off|fired|promoted(?: to [\w ]{3,30})?|made redundant|accepted (?:in|to|at|into) .+)", rest
    )
    if event:
        what = noun_phrase(event[0], max_words=8)
        return draft(
            "episodic", ("event", " ".join(event[0].split()[:2])), f"Was {what}{label}" if what else None, 0.85
        )
    return []


def _is_not(clause: Clause) -> list[Draft]:
    if clause.rest.lower().rstrip(" anymore").strip() in DIETS | STATUS and (
        clause.no_longer or "anymore" in clause.rest
    ):
        word = object_of(clause.rest)
        return draft("profile", "diet" if word in DIETS else "relationship.status", f"Is no longer {word}", 0.8)
    forbidden = re.match(r"allowed to (?:eat|drink|have) (?P<what>[\w -]{2,30})$", object_of(clause.rest))
    return draft("profile", ("diet", forbidden["what"]), f"Is not {object_of(clause.rest)}", 0.85) if forbidden else []


def _allergic(clause: Clause, rest: str, said: date) -> list[Draft]:
    found = re.match(r"(?:an? )?(?P<kind>allergic|intolerant) to (?P<what>.+)", rest)
    confidence = 0.5 if clause.hedged else 0.95
    if found:
        kind = "allergy" if found["kind"] == "allergic" else "intolerance"
        severe = "severely " if {"severely", "highly"} & set(clause.adverbs) else ""
        return [
            item
            for thing in items(found["what"])
            for item in draft("profile", (kind, thing), f"Is {severe}{found['kind']} to {thing}", confidence)
        ]
    intolerant = re.match(r"(?P<what>lactose|gluten|fructose|histamine)[ -]intolerant", rest, re.IGNORECASE)
    if intolerant:
        return draft(
            "profile", ("intolerance", intolerant["what"]), f"Is {intolerant['what'].lower()} intolerant", confidence
        )
    return []


def _diet(clause: Clause, rest: str, said: date) -> list[Draft]:
    diet = re.match(r"(?:an? |on an? |strictly )*(?:strict )?(?P<diet>[\w-]+)(?: diet)?(?=$|\W)", rest, re.IGNORECASE)
    if diet and diet["diet"].lower() in DIETS:
        word = diet["diet"].lower()
        if word == "keto" or " diet" in diet[0]:
            return draft("profile", "diet", f"Is on a {word} diet", 0.9)
        return draft("profile", "diet", f"Is {word}" + (" (mostly)" if "mostly" in clause.adverbs else ""), 0.9)
    special = re.match(r"on (?P<what>an? (?:[\w-]+ ){1,3}diet)\b", rest)
    return draft("profile", "diet", f"Is on {special['what']}" if special else None, 0.85)


def _health(clause: Clause, rest: str, said: date) -> list[Draft]:
    plain = object_of(rest).lower()
    confidence = 0.5 if clause.hedged else 0.9
    word = re.match(r"(?:a )?([\w-]+(?: of hearing)?)(?=$|[ ,])", plain)
    if (
        word
        and word[1] in HEALTH_WORDS
        and (plain.removeprefix("a ") == word[1] or re.match(r"(?:a )?[\w-]+ (?:with|in|and|since)", plain))
    ):
        if word[1] in {"blind", "deaf"} and " to " in plain:
            return []
        return draft("profile", ("health", word[1]), f"Is {noun_phrase(rest, max_words=8) or word[1]}", confidence)
    months = re.match(rf"{_NUMBER} (?:weeks|months) pregnant", plain)
    if months:
        return draft("profile", "health.pregnant", f"Is {months[0]}", 0.9)
    fear = re.match(r"(?:afraid|scared|terrified|frightened) of (?P<what>.+)", plain)
    if fear and fear["what"] in PHOBIAS:
        return draft("profile", ("fear", fear["what"]), f"Is afraid of {fear['what']}", 0.8)
    return []


def _status(clause: Clause, rest: str, said: date) -> list[Draft]:
    plain = object_of(rest)
    word = plain.lower().split(" to ")[0].split(" with ")[0]
    word = re.sub(r"^(?:happily|recently|newly) ", "", word)
    if word in STATUS and "/" not in plain:
        return draft("profile", "relationship.status", f"Is {in_third_person(plain)}", 0.9)
    if word in WORK_STATUS:
        return draft("profile", "work.status", f"Is {word}", 0.9)
    getting = re.match(r"getting (?P<what>married|divorced)\b", rest)
    if getting:
        rest_of, when = timed(clause, said, future=True)
        label = f" {when.label}" if when else ""
        return draft(
            "episodic",
            f"event.{'wedding' if getting['what'] == 'married' else 'divorce'}",
            f"Is getting {getting['what']}{label}",
            0.9,
            when.after if when else None,
        )
    duty = re.match(r"(?P<how>responsible for|in charge of) (?P<what>.+)", rest)
    if duty:
        what = noun_phrase(duty["what"], max_words=7)
        return draft("profile", ("work.responsibility", what or ""), f"Is {duty['how']} {what}" if what else None, 0.8)
    member = re.match(r"(?P<what>(?:an? (?:active )?member|part) of (?:an?|the|our) .+)", rest)
    if member:
        what = noun_phrase(rest, max_words=9)
        concrete = what and re.search(
            r"\b(?:club|choir|band|orchestra|union|association|society|church|league|party|board|guild|co-op|cooperative|committee|group)\b",
            what,
        )
        group = re.sub(r"^.*? of ", "", what or "")
        return draft("profile", ("member", group), f"Is {what}" if concrete else None, 0.8)
    school = re.match(
        r"in (?P<what>(?:high|middle|medical|law|grad|graduate|art|nursing|business) school|college|university|(?:my )?\w+ grade)(?=$|[ ,])",
        rest,
    )
    if school and clause.tense == "present":
        return draft("profile", "education.status", f"Is in {in_third_person(school['what'])}", 0.85)
    team = re.match(r"(?:on|in) the (?P<team>[\w -]{2,30}? team)\b", rest)
    if team:
        return draft("profile", "work.team", f"Is on the {team['team']}", 0.85)
    year = re.match(
        r"in (?:my )?(?P<what>(?:the )?(?:first|second|third|fourth|fifth|final|last|freshman|sophomore|junior|senior|\d+th) (?:year|grade|semester)\b(?: of (?:college|university|high school|med(?:ical)? school|law school|my \w+))?)",
        rest,
    )
    if year:
        return draft(
            "profile",
            "education.year",
            f"Is in {'' if year['what'].startswith('the') or 'grade' in year['what'] else 'their '}{in_third_person(year['what'])}",
            0.85,
        )
    medicine = re.match(
        r"on (?P<what>(?:metformin|insulin|statins?|antidepressants|blood thinners|beta blockers|warfarin|[a-z]+(?:pril|sartan|statin|oxetine|azole|ine|ol)))(?=$|[ ,])",
        rest,
    )
    return (
        draft("profile", ("health.medication", medicine["what"]), f"Takes {medicine['what']}", 0.85)
        if medicine and len(medicine["what"]) > 6
        else []
    )


def _place(clause: Clause, rest: str, said: date) -> list[Draft]:
    based = re.match(r"(?:based|living|located|residing)(?: here)? (?P<where>(?:in|near|outside) .+)", rest)
    place = place_of(based["where"]) if based else None
    if place:
        return draft("profile", home_key(place), f"Lives in {place}", 0.9)
    return origin(rest) if rest.startswith("from ") else []


def _interest(clause: Clause, rest: str, said: date) -> list[Draft]:
    found = re.match(
        r"(?:an? )?(?:(?:big|huge|great|massive|lifelong|avid|keen) )?(?P<how>interested in|into|keen on|fond of|passionate about|crazy about|obsessed with|fan of|"
        r"addicted to|sick of|good at|bad at|terrible at|fluent in|new to|not a fan of)\s+(?P<what>.+)",
        rest,
    )
    fan = re.match(
        r"an? (?:(?:big|huge|lifelong|die-hard|diehard) )*(?P<what>[A-Z][\w'.-]*(?: [A-Z][\w'.-]*){0,3}) fan\b", rest
    )
    if fan:
        return tastes(fan["what"])
    if not found or clause.hedged:
        return []
    how, what = found["how"], found["what"]
    if how == "fluent in":
        names = [word for word in re.findall(r"\w+", object_of(what)) if word.lower() in LANGUAGES]
        return [
            item for name in names for item in draft("profile", f"language.{slug(name)}", f"Is fluent in {name}", 0.9)
        ]
    if how in {"good at", "bad at", "terrible at", "new to", "sick of", "addicted to"}:
        thing = noun_phrase(what, max_words=4) if how in {"new to"} else None
        known = thing and re.match(
            r"[A-Z]\w+|programming|coding|investing|running|cycling|cooking|baking|photography", thing
        )
        return draft("profile", ("new_to", thing or ""), f"Is new to {thing}" if known else None, 0.7)
    if re.match(r"(?:hearing|seeing|knowing|learning (?:more|about)|trying|getting|buying|your|doing)\b", what):
        return []
    if how in {"into", "fond of", "fan of", "crazy about", "obsessed with"}:
        return tastes(what)
    return [item for thing in items(what) for item in draft("profile", ("interest", thing), f"Is {how} {thing}", 0.8)]


def _age(clause: Clause, rest: str, said: date) -> list[Draft]:
    found = re.match(rf"(?P<n>\d{{1,2}}|(?!an? ){_NUMBER}(?:[- ]\w+)?)(?: years? old| yo\b|$|,| and\b)", rest)
    if (
        found
        and not re.search(r"minutes|hours|miles|%|km", rest)
        and found["n"].lower() not in {"a", "an", "one", "two", "three"}
    ):
        return draft("profile", "age", f"Is {found['n']} years old", 0.85)
    return []


def _named(clause: Clause, rest: str, said: date) -> list[Draft]:
    """I'm Gary. Only a bare capitalized word of an own clause that is no adjective, people or place."""
    found = re.match(r"(?P<name>[A-Z][a-zà-ÿ'-]+(?: [A-Z][a-zà-ÿ'-]+)?)(?=$|,|\.)", rest)
    if (
        not found
        or clause.subject != "I"
        or clause.adverbs
        or clause.opening
        or (len(rest.split()) > 4 and "," not in rest)
    ):
        return []
    words = {word.lower() for word in found["name"].split()}
    if words & (
        NATIONALITIES
        | LANGUAGES
        | HEALTH_WORDS
        | DIETS
        | {
            "ok",
            "okay",
            "christian",
            "muslim",
            "jewish",
            "buddhist",
            "hindu",
            "catholic",
            "sorry",
            "fine",
            "good",
            "done",
            "back",
            "here",
            "happy",
        }
    ):
        return []
    about = re.match(r",? (?:an?|the) .+", rest[found.end() :])
    more = _role(clause, about[0].strip(" ,"), said) if about else []
    return draft("profile", "name", f"Is called {found['name']}", 0.85) + more


def _person(clause: Clause, rest: str, said: date) -> list[Draft]:
    plain = object_of(rest)
    people = re.match(r"(?:(?:half|part) )?(?P<people>[A-Za-z]+)(?:[- ](?:and |half )?(?P<more>[A-Za-z]+))?$", plain)
    if (
        people
        and people["people"].lower() in NATIONALITIES
        and (not people["more"] or people["more"].lower() in NATIONALITIES | {"american", "citizen"})
    ):
        return draft("profile", "nationality", f"Is {plain}", 0.9)
    if PARENT_OF.match(plain):
        return draft("profile", "family.children", f"Is {plain}", 0.85)
    trait = TRAITS.fullmatch(plain)
    if trait and not re.match(r"(?:an? )?(?:bad|terrible|good|great|total|real|true)\b", plain):
        return draft("profile", ("trait", plain), f"Is {plain}", 0.8)
    siblings = re.match(
        r"(?P<what>an only child|the (?:oldest|youngest|eldest|middle)(?: child| of \w+)?(?: (?:siblings|kids|children))?)$",
        plain,
    )
    if siblings:
        return draft("profile", "family.siblings", f"Is {plain}", 0.85)
    height = re.match(r"(?P<h>\d(?:'|ft|\.\d\d ?m| foot)\S*|1\d\d ?cm)(?: tall)?$", rest)
    return draft("profile", "height", f"Is {height['h']} tall", 0.8) if height else []


def _role(clause: Clause, rest: str, said: date) -> list[Draft]:
    if clause.hedged or not re.match(
        r"(?:an?|the|head|vp|cto|ceo|cfo|currently|also|your)\b|\w+ (?:student|engineer)\b", rest, re.IGNORECASE
    ):
        return []
    name = role_of(rest)
    if not name:
        return []
    confidence = 0.9 if clause.tense == "present" else 0.75
    whole = noun_phrase(rest, max_words=9) or article(name)
    study = re.match(
        r"(?:an? )?(?:[\w-]+ ){0,4}(?:student|undergraduate|freshman|sophomore|junior|senior|postdoc)\b", rest
    )
    if study:
        field = re.search(r"\b(?:studying|majoring in) (?P<what>.+)", rest)
        subject = noun_phrase(field["what"], max_words=5) if field else None
        return draft(
            "profile", "education.status", f"Is {re.split(r' (?:studying|majoring) ', whole)[0]}", confidence
        ) + draft("profile", "education.field", f"Studies {subject}" if subject else None, 0.85)
    employer = employer_of(rest) if re.search(r"\b(?:at|for|of)\b", rest) else None
    title = f"Is {name}" if clause.hedged else f"Works as {article(name)}"
    if clause.tense.startswith("perfect"):
        title = f"Has been {whole}"
    return draft("profile", "work.role", title, confidence) + draft(
        "profile", "work.employer", f"Works at {employer}" if employer else None, 0.85
    )


_FOODS = re.compile(
    r"(?:caffeine|alcohol|gluten|dairy|lactose|milk|sugar|salt|nuts|peanuts|eggs|shellfish|seafood|pork|meat|soy|wheat|grapefruit)$"
)


def have(clause: Clause, said: date) -> list[Draft]:
    """I have X; I have got X; I have had X for years: health, family, pets, possessions, appointments."""
    must = re.match(r"to avoid (?P<what>.+)", clause.rest)
    if must and not clause.negated and clause.tense == "present":
        return [f for t in items(must["what"]) for f in draft("profile", ("diet", t), f"Has to avoid {t}", 0.85)]
    if clause.modal == "can" and clause.negated:
        foods = [t for t in items(clause.rest) if _FOODS.match(t)]
        return [f for t in foods for f in draft("profile", ("diet", t), f"Cannot have {t}", 0.85)]
    if (
        clause.tense in {"formerly", "modal", "future"}
        or (clause.negated and clause.tense != "present")
        or clause.tense == "past"
    ):
        return []
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
        r"(?:an? |any )?(?P<what>kids|children|siblings|pets|car|license|driver'?s license|driving licen[cs]e|tv|brothers or sisters|degree)\b",
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
    rf"(?P<count>{_NUMBER}|no|several|twin|only one)(?P<adj>(?: (?:and a half|little|older|younger|big|small|adult|grown|grown-up|teenage|twin|step|half|baby|other|beautiful|wonderful|lovely|grown up|elder|young|newborn|\d+[- ]year[- ]old|\w+[- ]year[- ]old))*) "
    r"(?P<noun>[\w-]+)(?P<tail>.*)",
    re.IGNORECASE,
)
_NAMES = re.compile(
    r"^,?\s*(?:(?:called|named|by the name of|whose names? (?:is|are)|-|:)\s+)?(?P<names>[A-Z][\w'-]+(?:(?:,| and|, and| &) [A-Z][\w'-]+)*)"
)
_WHO_IS = re.compile(r"^,?\s*who(?:'s| is| lives| works| studies| plays)\s")


def _relatives(clause: Clause, rest: str, said: date) -> list[Draft]:
    found = _RELATIVES.match(rest)
    if not found or found["noun"].lower() not in FAMILY - {"baby", "partner"} | {"baby", "partner"}:
        return []
    noun, tail = found["noun"].lower(), found["tail"]
    names = _NAMES.match(tail)
    head = re.sub(r"^(?:a|an) ", "", f"{found['count']}{found['adj']} {found['noun']}")
    if found["count"].lower() in {"a", "an"}:
        head = f"{found['count'].lower()}{found['adj']} {found['noun']}"
    who = _WHO_IS.match(tail[names.end() :] if names else tail)
    extra = tail[names.end() :] if names else tail
    about = noun_phrase(re.sub(r"^,?\s*who(?:'s)?\s*", "", extra), max_words=8) if who else None
    content = (
        f"Has {head}"
        + (f", {names['names']}" if names else "")
        + (f"{',' if names else ''} who {'is ' if chr(39) + 's' in who[0] else ''}{about}" if who and about else "")
    )
    plural = noun.endswith("s") or noun in {"children", "grandchildren", "siblings", "twins"}
    group = {"kids": "children", "child": "child", "kid": "child"}.get(noun, noun)
    key = ("family", group) if plural or not names else (f"family.{slug(group)}", names["names"])
    return draft("profile", key, content, 0.9)


def _pets(clause: Clause, rest: str, said: date) -> list[Draft]:
    herd = re.match(r"(?P<noun>[a-z]+s)$", object_of(rest))
    if herd and herd["noun"] in PETS:
        return draft("profile", ("pet", herd["noun"]), f"Has {herd['noun']}", 0.85)
    found = re.match(
        rf"(?P<count>{_NUMBER}|some|several) (?P<adj>(?:[\w-]+ ){{0,4}}?)(?P<noun>guinea pigs?|[\w-]+)(?P<tail>(?:,|\s).*)?$",
        rest,
        re.IGNORECASE,
    )
    while found and found["noun"].lower() not in PETS:
        wider = re.match(
            rf"(?P<count>{_NUMBER}|some|several) (?P<adj>(?:[\w-]+ ){{0,4}}?)(?P<noun>{'|'.join(sorted(PETS, key=len, reverse=True))})\b(?P<tail>.*)$",
            rest,
            re.IGNORECASE,
        )
        found = wider
        break
    if not found or re.search(r"\b(?:as a kid|growing up|in my life|hot)\b", rest):
        return []
    tail = found["tail"] or ""
    names = _NAMES.match(tail.strip())
    spoken = f"Has {found['count'].lower()} {found['adj']}{found['noun']}".replace("  ", " ")
    if names:
        joined = (
            f", {names['names']}" if "," in names["names"] or " and " in names["names"] else f" called {names['names']}"
        )
        spoken += joined
    noun = found["noun"].lower()
    several = found["count"].lower() not in {"a", "an", "one"}
    return draft(
        "profile", ("pet", noun) if several or not names else (f"pet.{slug(noun)}", names["names"]), spoken, 0.9
    )


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
        rf"(?P<det>an?|{_NUMBER}|my own|our own)(?P<adj>(?: [\w'.-]+){{0,4}}?) (?P<noun>(?:\w+ )?[\w-]+)$",
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
        r"an? (?P<what>(?:phd|ph\.d\.|doctorate|master'?s(?: degree)?|bachelor'?s(?: degree)?|ba|bsc|msc|mba|degree|law degree)(?: in [\w ]{3,30})?)",
        rest,
        re.IGNORECASE,
    )
    return draft(
        "profile",
        "education.degree",
        f"Has {article(noun_phrase(degree['what']) or '')}" if degree and noun_phrase(degree["what"]) else None,
        0.9,
    )
