"""Rules for "I am ...": names, roles, health, status, interests; each reads one clause."""

import re
from datetime import date

from llm.offline_rules.clauses import Clause
from llm.offline_rules.drafts import Draft, article, draft, timed
from llm.offline_rules.keys import slug
from llm.offline_rules.phrases import in_third_person, items, noun_phrase, object_of
from llm.offline_rules.rules_have import NUMBER
from llm.offline_rules.rules_home import home_key, origin, place_of
from llm.offline_rules.rules_taste import tastes
from llm.offline_rules.rules_work import employer_of, role_of
from llm.offline_rules.words import (
    DIETS,
    HEALTH_WORDS,
    LANGUAGES,
    NATIONALITIES,
    PARENT_OF,
    PHOBIAS,
    STATUS,
    TRAITS,
    WORK_STATUS,
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
    for reading in (
        _allergic,
        _diet,
        _health,
        _status,
        _belongs,
        _stage,
        _medicine,
        _place,
        _interest,
        _age,
        _named,
        _person,
        _role,
    ):
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
    word = object_of(clause.rest).lower().removeprefix("a ")
    if word in DIETS | STATUS and clause.no_longer:
        area = "diet" if word in DIETS else "relationship"
        return draft("profile", (f"{area}.not", word), f"Is no longer {word}", 0.8)
    role = role_of(clause.rest) if clause.no_longer and re.match(r"an? ", clause.rest) else None
    if role:
        return draft("profile", ("work.past", role), f"No longer works as {article(role)}", 0.8)
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
    diet = re.match(
        r"(?:an? |on an? |strictly )*(?:strict )?(?P<diet>[\w-]+)(?: diet)?"
        r"(?=$|[,;.]| (?:and|but|so|since|now|for|too|btw|here|because|at|by|most|these|mostly)\b)",
        rest,
        re.IGNORECASE,
    )
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
    word = re.match(r"(?:a )?([\w-]+(?: of hearing|(?<=color) blind|(?<=colour) blind)?)(?=$|[ ,])", plain)
    if (
        word
        and word[1] in HEALTH_WORDS
        and (plain.removeprefix("a ") == word[1] or re.match(r"(?:a )?[\w-]+ (?:with|in|and|since)", plain))
    ):
        if word[1] in {"blind", "deaf"} and " to " in plain:
            return []
        return draft("profile", ("health", word[1]), f"Is {noun_phrase(rest, max_words=8) or word[1]}", confidence)
    months = re.match(rf"{NUMBER} (?:weeks|months) pregnant", plain)
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
        _rest, when = timed(clause, said, future=True)
        label = f" {when.label}" if when else ""
        return draft(
            "episodic",
            f"event.{'wedding' if getting['what'] == 'married' else 'divorce'}",
            f"Is getting {getting['what']}{label}",
            0.9,
            when.after if when else None,
        )
    return []


def _belongs(clause: Clause, rest: str, said: date) -> list[Draft]:
    duty = re.match(r"(?P<how>responsible for|in charge of) (?P<what>.+)", rest)
    if duty:
        what = noun_phrase(duty["what"], max_words=7)
        return draft("profile", ("work.responsibility", what or ""), f"Is {duty['how']} {what}" if what else None, 0.8)
    member = re.match(r"(?P<what>(?:an? (?:active )?member|part) of (?:an?|the|our) .+)", rest)
    if member:
        what = noun_phrase(rest, max_words=9)
        concrete = what and re.search(
            r"\b(?:club|choir|band|orchestra|union|association|society|church|league|party|board|guild|co-op|"
            r"cooperative|committee|group)\b",
            what,
        )
        group = re.sub(r"^.*? of ", "", what or "")
        return draft("profile", ("member", group), f"Is {what}" if concrete else None, 0.8)
    team = re.match(r"(?:on|in) the (?P<team>[\w -]{2,30}? team)\b", rest)
    if team:
        return draft("profile", "work.team", f"Is on the {team['team']}", 0.85)
    return []


def _stage(clause: Clause, rest: str, said: date) -> list[Draft]:
    school = re.match(
        r"in (?P<what>(?:high|middle|medical|law|grad|graduate|art|nursing|business) school|college|university|"
        r"(?:my )?\w+ grade)(?=$|[ ,])",
        rest,
    )
    if school and clause.tense == "present":
        return draft("profile", "education.status", f"Is in {in_third_person(school['what'])}", 0.85)
    year = re.match(
        r"in (?:my )?(?P<what>(?:the )?(?:first|second|third|fourth|fifth|final|last|freshman|sophomore|junior|"
        r"senior|\d+th) (?:year|grade|semester)\b(?: of (?:college|university|high school|med(?:ical)? school|law "
        r"school|my \w+))?)",
        rest,
    )
    if year:
        stage = in_third_person(year["what"]) or ""
        stage = stage if stage.startswith("the ") or "grade" in stage else f"their {stage}"
        return draft(
            "profile",
            "education.year",
            f"Is in {stage}",
            0.85,
        )
    return []


def _medicine(clause: Clause, rest: str, said: date) -> list[Draft]:
    found = re.match(
        r"on (?P<what>metformin|insulin|statins?|antidepressants|blood thinners|beta blockers|warfarin|"
        r"[a-z]+(?:pril|sartan|statin|oxetine|azole|mycin|zepam))(?=$|[ ,])",
        rest,
    )
    return draft("profile", ("health.medication", found["what"]), f"Takes {found['what']}", 0.85) if found else []


def _place(clause: Clause, rest: str, said: date) -> list[Draft]:
    based = re.match(
        r"(?:based|living|located|residing)(?: (?:here|just|right|now))* (?P<where>(?:in|near|outside) .+)", rest
    )
    place = place_of(based["where"]) if based else None
    if place and based:
        where = based["where"].split()[0]
        return draft("profile", home_key(place), f"Lives {where} {place}", 0.9)
    return origin(rest) if rest.startswith("from ") else []


def _interest(clause: Clause, rest: str, said: date) -> list[Draft]:
    found = re.match(
        r"(?:an? )?(?:(?:big|huge|great|massive|lifelong|avid|keen) )?(?P<how>interested in|into|keen on|fond of|"
        r"passionate about|crazy about|obsessed with|fan of|"
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
    found = re.match(rf"(?P<n>\d{{1,2}}|(?!an? ){NUMBER}(?:[- ]\w+)?)(?: years? old| yo\b|$|,| and\b)", rest)
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
        r"(?P<what>an only child|the (?:oldest|youngest|eldest|middle)(?: child| of \w+)?(?: (?:siblings|kids|"
        r"children))?)$",
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
