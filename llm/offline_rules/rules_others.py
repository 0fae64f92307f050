"""Rules for what belongs to the member: her relatives, pets, things, dates, and what her group does; one clause each."""

import re
from datetime import date

from llm.offline_rules import dates
from llm.offline_rules.clauses import Clause
from llm.offline_rules.drafts import Draft, article, draft
from llm.offline_rules.keys import join, slug
from llm.offline_rules.phrases import in_third_person, items, noun_phrase, object_of, predicate_phrase
from llm.offline_rules.rules_home import employer_of, place_of, role_of
from llm.offline_rules.rules_taste import tastes, wanted
from llm.offline_rules.words import (
    CIRCLE,
    COLLEAGUES,
    CONDITIONS,
    DEVICES,
    DIETS,
    FAMILY,
    HEALTH_WORDS,
    MONTHS,
    PETS,
    SECRET_NOUNS,
    WEEKDAYS,
)

_RELATION = re.compile(
    r"^(?P<adj>(?:(?:older|younger|little|big|oldest|youngest|eldest|elder|middle|best|twin|old|late|good|baby|first|other|only|dear|close|"
    r"new|beloved|wonderful|lovely|\d+[- ]year[- ]old|\w+[- ]year[- ]old|line|direct|tech|team|product|engineering|german|piano|tennis) )*)"
    r"(?P<noun>guinea pig|[\w-]+)(?:,? (?P<name>[A-Z][\w'-]+(?: (?:and )?[A-Z][\w'-]+)?),?)?$"
)
_CLOCK = re.compile(
    r"\b(?:at )?\d{1,2}(?:[:.h]\d{2})? ?(?:am|pm|a\.m\.|p\.m\.|o'clock|uhr|cet|utc|est|pst)?\b|\bnoon\b|\bmidnight\b",
    re.IGNORECASE,
)
_WEEKDAY = re.compile(rf"\b(?:{'|'.join(sorted(WEEKDAYS, key=len, reverse=True))})s?\b", re.IGNORECASE)
_MONTH = re.compile(rf"\b(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})\b", re.IGNORECASE)
_BIRTH_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_EVENT_NOUN = re.compile(
    r"(?:[\w'-]+ ){0,2}(?:wedding|exam|interview|flight|appointment|deadline|surgery|operation|final|finals|midterm|due|presentation|defense|defence|graduation|"
    r"trip|concert|recital|race|marathon|move|vacation|holiday|conference|launch|release|go-live|review|party|thesis|audition|due date|driving test|test|reunion|demo)(?: (?:to|in|at|with|for) [\w' ]{2,30})?$",
    re.IGNORECASE,
)
_DULL = frozenset(
    "mood opinion question problem point guess idea advice feeling head mind heart life day week time skills progress mistake bad "
    "answer issue plan turn fault friend friends favorite understanding concern first next last best worst only main biggest "
    "favourite suggestion request apologies name thinking theory thought dream teacher experience apologies".split()
)
_SINGLE = {
    "name": ("name", "Is called {}"),
    "first name": ("name", "Is called {}"),
    "full name": ("name.full", "Full name is {}"),
    "last name": ("name.last", "Last name is {}"),
    "surname": ("name.last", "Last name is {}"),
    "nickname": ("name.preferred", "Nickname is {}"),
    "pronouns": ("pronouns", "Pronouns are {}"),
    "hometown": ("origin", "Is from {}"),
    "home town": ("origin", "Is from {}"),
    "native language": ("language.native", "Native language is {}"),
    "first language": ("language.native", "Native language is {}"),
    "mother tongue": ("language.native", "Native language is {}"),
    "employer": ("work.employer", "Works at {}"),
    "timezone": ("timezone", "Time zone is {}"),
    "time zone": ("timezone", "Time zone is {}"),
    "blood type": ("health.blood_type", "Blood type is {}"),
    "shoe size": ("size.shoes", "Shoe size is {}"),
    "star sign": ("zodiac", "Star sign is {}"),
    "major": ("education.field", "Majors in {}"),
    "degree": ("education.degree", "Degree is {}"),
    "biggest fear": ("fear", "Biggest fear is {}"),
    "religion": ("religion", "Religion is {}"),
    "height": ("height", "Is {} tall"),
    "specialty": ("work.specialty", "Specialty is {}"),
    "team": ("work.team", "Team is {}"),
    "company": ("work.company", "Company is {}"),
    "alma mater": ("education.school", "Studied at {}"),
}


def belonging(clause: Clause, said: date) -> list[Draft]:
    """My X ...: the first reading that fits; gossip about colleagues is none."""
    if (
        SECRET_NOUNS.search(f"{clause.owner} {clause.subject}")
        or clause.hedged
        or clause.tense in {"modal", "formerly"}
    ):
        return []
    subject = re.sub(r"'s own$", "", clause.subject)
    possessed = re.match(r"(?P<who>[\w ]+?)(?:'s|s'|s|') (?P<what>name|birthday|birthdays)$", subject)
    if possessed:
        return _possessed(clause, possessed["who"], possessed["what"])
    favorite = re.match(
        r"(?:all[- ]time )?(?:absolute )?favou?rite(?: (?P<what>[\w -]{2,30}))?$", subject, re.IGNORECASE
    )
    if favorite:
        return _favorite(clause, favorite["what"])
    relation = _RELATION.match(subject)
    if relation:
        noun = relation["noun"].lower()
        if noun in FAMILY | CIRCLE | COLLEAGUES | PETS:
            return _relative(clause, said, relation, noun)
    for reading in (_single, _dated, _hobbies, _wish, _device, _schedule, _group, _general):
        found = reading(clause, said)
        if found:
            return found
    return []


def _possessed(clause: Clause, who: str, what: str) -> list[Draft]:
    relation = _RELATION.match(who)
    noun = relation["noun"].lower() if relation else ""
    if clause.verb != "be" or clause.negated or noun not in FAMILY | CIRCLE | PETS | COLLEAGUES:
        return []
    area = _area(noun)
    if what == "name":
        name = re.match(r"[A-Z][\w'-]+(?: [A-Z][\w'-]+)?", clause.rest)
        return draft("profile", (f"{area}", who), f"Has {article(who)} called {name[0]}" if name else None, 0.9)
    when = noun_phrase(clause.rest, max_words=6)
    if not when or not _MONTH.search(when):
        return []
    return draft(
        "profile",
        join(area, slug(who), "birthday"),
        f"Their {who}'s birthday is {when}" if not _BIRTH_YEAR.search(when) else None,
        0.85,
    )


def _area(noun: str) -> str:
    return "pet" if noun in PETS else "family" if noun in FAMILY else "work" if noun in COLLEAGUES else "friend"


def _favorite(clause: Clause, what: str | None) -> list[Draft]:
    if (
        not what
        or clause.verb != "be"
        or clause.negated
        or clause.tense == "past"
        or slug(what).split("_")[0] in {"part", "thing", "one", "moment"}
    ):
        return []
    value = predicate_phrase(clause.rest, max_words=9)
    if re.match(r"(?:when|how|the (?:way|one|part|fact)|probably)\b", value or ""):
        return []
    linking = "are" if clause.word == "are" else "is"
    if re.search(r"\bone of$", clause.opening, re.IGNORECASE):
        return draft(
            "profile",
            (f"favorite.{slug(what)}", value or ""),
            f"One of their favorite {what} is {value}" if value else None,
            0.85,
        )
    return draft("profile", ("favorite", what), f"Favorite {what} {linking} {value}" if value else None, 0.85)


def _relative(clause: Clause, said: date, relation: re.Match[str], noun: str) -> list[Draft]:
    who = f"{relation['adj']}{relation['noun']}"
    name = relation["name"] or ""
    area = _area(noun)
    key = join(area, slug(noun) if area == "pet" else slug(who), slug(name))
    full = f"{who}, {name}," if name else who
    being = (
        re.match(r"(?:called|named)? ?(?P<name>[A-Z][\w'-]+(?: [A-Z][\w'-]+)?)(?=$|,| and )", clause.rest)
        if clause.verb == "be"
        else None
    )
    if (
        being
        and not clause.negated
        and clause.tense == "present"
        and being["name"].lower() not in WEEKDAYS
        and (not name)
    ):
        nationality = being["name"].endswith(("ish", "ese", "ian", "can", "man")) and not being[0].startswith(
            ("called", "named")
        )
        if nationality:
            return []
        return draft("profile", key, f"Has {article(who)} called {being['name']}", 0.9)
    if (
        area == "work"
        or (area == "friend" and not name and "best" not in who)
        or noun in {"ex", "ex-wife", "ex-husband"}
    ):
        return []
    facet, phrase = _relative_facet(clause, said)
    if not facet or not phrase:
        return []
    if facet == "work" and clause.verb == "be":
        return draft(
            "profile", join(key, "work"), f"Has {article(who)}{', ' + name + ',' if name else ''} who is {phrase}", 0.85
        )
    text = (
        f"Their {who} {name} {_lower(clause.predicate(phrase))}"
        if name
        else f"Their {who} {_lower(clause.predicate(phrase))}"
    )
    if clause.word == "are" and clause.verb == "be":
        text = text.replace(" is ", " are ", 1)
    del full
    return draft("profile", join(key, facet), text, 0.8)


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


_FACETS: dict[str, tuple[str, str]] = {
    "live": ("home", r"(?:in|near|with|on|next|abroad|far|close|just|across)\b.+"),
    "move": ("home", r"(?:to|from|in with|back) .+"),
    "work": ("work", r"(?:as|at|for|in) .+"),
    "study": ("study", r".+"),
    "teach": ("work", r".+"),
    "play": ("plays", r"(?:the |in |for )?\w+.*"),
    "speak": ("language", r".+"),
    "start": (
        "school",
        r"(?:at |in )?(?:(?:primary|elementary|high|middle|nursery|pre|secondary) ?)?(?:school|kindergarten|college|university|daycare|preschool|first grade|walking|crawling)\b.*",
    ),
    "graduate": ("study", r".*"),
    "attend": ("school", r".+"),
    "go": ("school", r"to (?:\w+ )?(?:school|kindergarten|college|university|daycare|preschool)\b.*"),
    "die": ("death", r"(?!of (?:laughter|boredom)|laughing).*"),
    "pass": ("death", r"away\b.*"),
    "retire": ("work", r".*"),
    "turn": ("age", r"\w+\b.*"),
    "have": ("health", r".+"),
    "like": ("likes", r".+"),
    "love": ("likes", r".+"),
    "hate": ("dislikes", r".+"),
    "eat": ("diet", r".+"),
    "collect": ("likes", r".+"),
}


def _relative_facet(clause: Clause, said: date) -> tuple[str, str | None]:
    """Return the facet of a relative that the clause tells, and the phrase that follows the verb."""
    rest, verb = clause.rest, clause.verb
    if verb == "be":
        return _relative_is(clause)
    if verb not in _FACETS or (clause.negated and verb not in {"eat", "like", "speak"}):
        return "", None
    facet, pattern = _FACETS[verb]
    if not re.match(pattern, rest) or clause.tense in {"future", "perfect_progressive"}:
        return "", None
    phrase = _resolved(rest, said) if rest else " "
    if facet in {"likes", "dislikes"}:
        things = items(rest)
        return (
            (f"{facet}.{slug(things[0])}", things[0])
            if len(things) == 1 and clause.tense == "present" and slug(things[0])
            else ("", None)
        )
    if verb == "have":
        thing = re.sub(r"^(?:an? |severe |type )+", "", object_of(rest).lower())
        known = thing in CONDITIONS or re.search(
            r"\ballerg(?:y|ies)\b|\b(?:kids|children|sons?|daughters?|cancer)\b", thing
        )
        return (
            ("children" if re.search(r"kids|child|son|daughter", thing) else "health", phrase) if known else ("", None)
        )
    return facet, phrase


def _resolved(rest: str, said: date) -> str | None:
    """Return the phrase with its date expression resolved."""
    found = dates.find(rest, said, future=False)
    body = dates.without(rest, found) if found else rest
    phrase = noun_phrase(body, max_words=10) if body else ""
    return None if phrase is None else f"{phrase} {found.when.label if found else ''}".strip() or " "


def _relative_is(clause: Clause) -> tuple[str, str | None]:
    rest = clause.rest
    if clause.tense == "past":
        return ("work", article(role_of(rest) or "")) if False else ("", None)
    phrase = noun_phrase(rest, max_words=8)
    if re.match(r"(?:an? )?(?:severely )?(?:allergic|intolerant) to ", rest):
        return "allergy", phrase
    if clause.negated or phrase is None:
        return "", None
    if re.match(
        r"\w+(?:[- ]\w+)? (?:years?|months?|weeks?) old\b|\d{1,2}(?:(?:, \d{1,2})* and \d{1,2})?$|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)$",
        rest,
    ):
        return "age", phrase
    plain = object_of(rest).lower()
    if plain in DIETS or plain in HEALTH_WORDS or plain.removeprefix("a ") in DIETS:
        return ("diet" if plain.removeprefix("a ") in DIETS else "health"), phrase
    if re.match(r"from [A-Z]", rest) or re.match(r"[A-Z]\w+(?:ish|ese|ian|an|ch)$", rest):
        return "origin", phrase
    if re.match(r"(?:an?|the) ", rest) and role_of(rest):
        employer = employer_of(re.sub(r"^.*?\b(?=at|for)\b", "", rest)) if re.search(r"\b(?:at|for)\b", rest) else None
        return "work", article(role_of(rest) or "") + (f" at {employer}" if employer else "")
    if re.match(
        r"an? (?:golden |german |border |black |old |\w+ )?(?:retriever|labrador|shepherd|collie|poodle|beagle|corgi|husky|terrier|tabby|siamese|persian|mix|rescue|greyhound|dachshund|pug)\b",
        rest,
        re.IGNORECASE,
    ):
        return "breed", phrase
    return "", None


def _single(clause: Clause, said: date) -> list[Draft]:
    noun = clause.subject.lower()
    entry = _SINGLE.get(noun)
    if entry is None or clause.verb != "be" or clause.negated or clause.tense == "past":
        return (
            _job(clause)
            if noun in {"job", "profession", "occupation", "role", "job title", "title", "position"}
            else []
        )
    value = noun_phrase(re.sub(r"^(?:called|named) ", "", clause.rest), max_words=5)
    if value and noun in {"name", "first name"}:
        name = re.match(r"[^\W\d_][\w'-]*(?: [A-Z][\w'-]+){0,2}", value)
        value = (
            name[0]
            if name and name[0].lower() not in {"not", "spelled", "on", "too", "in", "long", "hard", "a"}
            else None
        )
        value = value[:1].upper() + value[1:] if value else None
    if noun in {"team", "company"} and value and not re.match(r"[A-Z]", value):
        return []
    return draft("profile", entry[0], entry[1].format(value) if value else None, 0.95 if noun == "name" else 0.85)


def _job(clause: Clause) -> list[Draft]:
    role = role_of(clause.rest) if clause.verb == "be" and not clause.negated else None
    return draft("profile", "work.role", f"Works as {article(role)}" if role else None, 0.85)


def _dated(clause: Clause, said: date) -> list[Draft]:
    """My birthday is in May; our wedding is on 3 June; my exam is next Friday; my lease ends in May."""
    noun = clause.subject
    if (
        clause.negated
        or clause.verb not in {"be", "end", "start", "begin", "expire", "open", "close"}
        or clause.tense == "past"
    ):
        return []
    if noun.lower() in {"birthday", "wedding anniversary", "anniversary", "name day"}:
        value = noun_phrase(re.sub(r"^(?:coming up |always )", "", clause.rest), max_words=6)
        if not value or _BIRTH_YEAR.search(value) or not _MONTH.search(value):
            return []
        return draft("profile", slug(noun), f"{noun.capitalize()} is {value}", 0.9)
    found = dates.find(clause.rest, said, future=True)
    if found is None or found.when.after <= said or (found.when.first == said and found.when.label.startswith("on ")):
        return []
    if (
        not (_EVENT_NOUN.fullmatch(noun) or clause.verb in {"end", "start", "begin", "expire"})
        or in_third_person(noun) is None
    ):
        return []
    remainder = dates.without(clause.rest, found)
    clock = _CLOCK.search(remainder)
    if clause.verb != "be" and remainder and not clock:
        return []
    time = f" {clock[0].strip()}" if clock else ""
    time = time if not time or time.startswith(" at") else f" at{time}"
    middle = "is" if clause.verb == "be" else f"{clause.verb}s"
    return draft("episodic", ("event", noun), f"Their {noun} {middle} {found.when.label}{time}", 0.85, found.when.after)


def _hobbies(clause: Clause, said: date) -> list[Draft]:
    if (
        re.fullmatch(r"(?:main |biggest |favorite )?(?:hobby|hobbies|interests|passions?|pastimes?)", clause.subject)
        and clause.verb in {"be", "include"}
        and not clause.negated
    ):
        return tastes(clause.rest)
    return []


def _wish(clause: Clause, said: date) -> list[Draft]:
    if (
        re.fullmatch(r"(?:\w+ )?(?:dream|goal|plan|ambition|aim)(?: (?:for|in) .*)?", clause.subject)
        and clause.verb == "be"
        and not clause.negated
    ):
        found = wanted(clause, said)
        return found or (
            draft(
                "profile", ("goal", clause.rest.removeprefix("to ")), f"Goal is {predicate_phrase(clause.rest)}", 0.75
            )
            if clause.rest.startswith("to ") and "goal" in clause.subject and predicate_phrase(clause.rest)
            else []
        )
    return []


def _device(clause: Clause, said: date) -> list[Draft]:
    noun = clause.subject.lower().split()[-1] if clause.subject else ""
    if noun not in DEVICES or clause.negated or clause.tense == "past":
        return []
    value = noun_phrase(clause.rest, max_words=7)
    if (
        not value
        or not (re.match(r"(?:(?:an?|the) )?(?:\w+ )?[A-Z0-9]\w*", value) or re.match(r"an? \w+", value))
        or re.match(r"an? (?:bit|mess|little|disaster|piece|wreck|joke)", value)
    ):
        return []
    if clause.verb == "be":
        return draft(
            "profile", ("device", clause.subject), f"{clause.subject[:1].upper()}{clause.subject[1:]} is {value}", 0.85
        )
    if clause.verb == "run" and clause.tense == "present":
        return draft(
            "profile",
            ("device", clause.subject + " os"),
            f"{clause.subject[:1].upper()}{clause.subject[1:]} runs {value}",
            0.8,
        )
    return []


_ROUTINE = re.compile(
    r"^(?:[\w'-]+ ){0,3}(?:standups?|stand-ups?|meetings?|sprints?|retros?|retrospectives?|deploys?|deployments?|releases?|planning|sync|"
    r"one-on-one|1:1|class|classes|lessons?|practice|training|rehearsals?|choir|shifts?|office hours|lectures?|seminars?|therapy|market day|game night|"
    r"book club|family dinner|day off|code freeze|freeze|payday|invoices|reviews?|refinement|all-hands|maintenance window|backups?|on-call|rent|mass|quiz night|date night|town hall|reports?|lunch break|school run|bedtime)$",
    re.IGNORECASE,
)


def _schedule(clause: Clause, said: date) -> list[Draft]:
    """Our standup is at 9:30; our deploys are on Thursdays."""
    if not _ROUTINE.match(clause.subject) or clause.negated or clause.tense in {"past", "perfect_progressive"}:
        return []
    if re.search(r"\b(?:today|tomorrow|tonight|yesterday|next|this|last)\b", clause.rest):
        return []
    clock = bool(re.search(r"\d|noon|midnight", clause.rest))
    day = bool(_WEEKDAY.search(clause.rest)) or bool(
        re.search(r"\b(?:every|each|daily|weekly|biweekly|twice|once)\b", clause.rest)
    )
    if not (clock or day):
        return []
    phrase = _TRAILING_NOW.sub("", object_of(re.sub(r"(\d)[.:](\d\d)", r"\1§\2", clause.rest))).replace("§", ":")
    phrase = in_third_person(phrase) or ""
    plural = clause.word == "are"
    verb = ("are" if plural else "is") if clause.verb == "be" else clause.word
    facet = (
        "day"
        if day
        else "time"
        if clock and not re.search(r"\b(?:weeks?|days?|minutes|hours?)\b", clause.rest)
        else "schedule"
    )
    subject = clause.subject
    area = "work" if clause.owner == "our" else "schedule"
    return draft(
        "semantic",
        join(area, slug(subject, words=3), facet),
        f"Their {subject} {verb} {phrase}" if phrase else None,
        0.85,
    )


_TRAILING_NOW = re.compile(r"\s+(?:now|these days|currently)$")
_GROUP_NOUNS = re.compile(
    r"^(?:[\w'-]+ ){0,2}(?:team|company|startup|backend|frontend|back-end|front-end|database|db|stack|codebase|app|api|repo|repository|monorepo|product|"
    r"office|ci|pipeline|cluster|infra|infrastructure|staging|production|website|cms|school|class|band|choir|landlord|house|flat|apartment|garden|"
    r"kitchen|client|customers?|main competitor|budget|fiscal year|server|servers|cloud|package manager|test suite|linter|salary|rent|wifi|heating|"
    r"language|languages|framework|thesis|dissertation|research|paper|novel|book|project|side project|business|shop|store|farm|restaurant|bakery|clinic)$",
    re.IGNORECASE,
)


def _group(clause: Clause, said: date) -> list[Draft]:
    """Our backend is written in Rust; our team uses Kanban; my thesis is about X."""
    if not _GROUP_NOUNS.match(clause.subject) or clause.tense not in {"present", "perfect"} or clause.negated:
        return []
    shape = {
        "be": r"(?:written|built|hosted|based|located|running|deployed|called|named|in|on|about|from|due|made|for|an? [A-Z]|[A-Z\d])",
        "use": r".+",
        "run": r"(?:on|in|at) .+",
        "make": r".+",
        "sell": r".+",
        "have": r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|an? (?:policy|rule)) .+",
        "deploy": r".+",
    }.get(clause.verb)
    if shape is None or not re.match(shape, clause.rest):
        return []
    value = noun_phrase(clause.rest, max_words=9)
    if not value or re.match(r"(?:in|on) (?:a|the) (?:mess|way|bad)\b|on fire|in (?:trouble|shambles)", value):
        return []
    about = {
        "be": slug(value.split()[0])
        if value.split()[0] in {"written", "hosted", "based", "located", "called", "named", "due", "about"}
        else "",
        "use": "tools",
        "have": "size",
        "run": "runs",
    }.get(clause.verb, clause.verb)
    area = "work" if clause.owner == "our" or clause.subject.split()[-1] in {"team", "company", "startup"} else ""
    verb = clause.word if clause.verb == "be" else _lower(clause.predicate("")).strip()
    return draft("semantic", join(area, slug(clause.subject), about), f"Their {clause.subject} {verb} {value}", 0.8)


def _general(clause: Clause, said: date) -> list[Draft]:
    """My NOUN is NAME-or-NUMBER, for nouns that no other rule knows."""
    words = clause.subject.lower().split()
    if (
        clause.verb != "be"
        or clause.negated
        or clause.tense != "present"
        or not 1 <= len(words) <= 4
        or set(words) & _DULL
    ):
        return []
    value = noun_phrase(clause.rest, max_words=6)
    called = re.match(r"(?:called|named) (?P<name>.+)", clause.rest)
    named = value and re.match(r"(?:called |named )?(?:the )?[A-Z][\w'&-]+(?: [\w'&-]+){0,3}$", value)
    if (
        not value
        or not (named or called)
        or in_third_person(clause.subject) is None
        or value.lower().split()[0] in WEEKDAYS
    ):
        return []
    if not clause.remembered and not called and not re.match(r"[A-Z]", value):
        return []
    return draft(
        "semantic",
        join("work" if clause.owner == "our" else "", slug(clause.subject)),
        f"Their {clause.subject} {clause.word} {value}",
        0.7,
    )


def switch(clause: Clause, said: date) -> list[Draft]:
    """We switched the deploys to Thursday; I switched from MySQL to Postgres; we moved the standup to 10."""
    if clause.negated or clause.tense not in {"past", "perfect", "progressive", "future"}:
        return []
    shifted = re.match(
        r"(?:my|our|the|all|all our) (?P<what>[\w' -]{2,40}?) (?:from .{2,30} )?to (?P<to>.+)", clause.rest
    )
    if (
        shifted
        and (_WEEKDAY.match(shifted["to"]) or _CLOCK.match(shifted["to"]))
        and not re.search(r"\b(?:next|this|today|tomorrow|tonight)\b", shifted["to"])
    ):
        clock = not _WEEKDAY.match(shifted["to"])
        value = in_third_person(object_of(re.sub(r"(\d)[.:](\d\d)", r"\1§\2", shifted["to"])).replace("§", ":")) or ""
        plural = shifted["what"].endswith("s") and not shifted["what"].endswith("ss")
        area = (
            "work"
            if clause.subject == "we" and not re.search(r"dinner|date|family|lesson|choir", shifted["what"])
            else "schedule"
        )
        link = "at" if clock else "on"
        when = "now" if clause.tense in {"past", "perfect"} else "going to be"
        return draft(
            "semantic",
            join(area, slug(shifted["what"], words=3), "time" if clock else "day"),
            f"Their {shifted['what']} {'are' if plural else 'is'} {when} {link} {value}",
            0.85,
        )
    tools = re.match(
        r"(?:over |my .{2,20} |our .{2,20} |everything )?(?:from (?P<old>[\w .+#-]{2,30}?) )?to (?P<new>(?:the |an? )?[\w.+#-]+(?: [A-Z][\w.+#-]*)*)",
        clause.rest,
    )
    if (
        tools
        and clause.verb in {"switch", "migrate", "convert", "change"}
        and tools["new"].lower() not in {"another", "a", "the", "something", "it"}
    ):
        phrase = noun_phrase(tools[0], max_words=9)
        named = re.search(r"[A-Z]|decaf|oat milk|vegan|night shift|part-time", tools["new"])
        return draft(
            "semantic",
            ("tools", tools["new"]) if re.match(r"[A-Z]", tools["new"]) else ("switched", tools["new"]),
            clause.predicate(phrase) if phrase and named else None,
            0.75,
        )
    return []


def group_routine(clause: Clause, said: date) -> list[Draft]:
    """We deploy on Thursdays; we meet every Monday at 10; we do code reviews on Fridays: what "we" do regularly."""
    if clause.subject != "we" or clause.negated or clause.tense != "present":
        return []
    if not (
        _WEEKDAY.search(clause.rest) or re.search(r"\b(?:every|each|daily|weekly|twice a|once a)\b", clause.rest)
    ) or re.search(r"\b(?:next|this|today|tomorrow)\b", clause.rest):
        return []
    phrase = predicate_phrase(re.sub(r"(\d)[.:](\d\d)", r"\1§\2", clause.rest))
    name = re.sub(r"\b(?:on|at|every|each|in)\b.*", "", clause.rest)
    return draft(
        "semantic",
        join("work", slug(f"{clause.verb} {name}"), "day"),
        clause.predicate(phrase.replace("§", ":")) if phrase else None,
        0.75,
    )


def remembered(sentence: str) -> list[Draft]:
    """Remember that the X is Y: what the member wants kept although it is not about "I" or "my"."""
    found = re.match(
        r"(?P<subject>(?:the |[A-Z])[\w' -]{1,40}?) (?P<verb>is|are|has|have|needs?|starts?|ends?|opens?|closes?|runs?|freezes?|lives?|works?|comes?|meets?)\b (?P<rest>.+)",
        sentence,
    )
    if not found or SECRET_NOUNS.search(sentence):
        return []
    value, subject = predicate_phrase(found["rest"]), in_third_person(found["subject"])
    if not value or not subject:
        return []
    return draft("semantic", ("note", subject), f"{subject} {found['verb']} {value}", 0.9)


def remembered_own(clause: Clause) -> list[Draft]:
    """Remember that I take my coffee black: kept as said when no rule knows it."""
    phrase = predicate_phrase(clause.rest)
    if (
        clause.negated
        or clause.tense in {"modal", "future", "past"}
        or not phrase
        or clause.verb in {"be", "say", "think", "feel"}
    ):
        return []
    return draft("profile", ("note", f"{clause.verb} {phrase}"), clause.predicate(phrase), 0.9)
