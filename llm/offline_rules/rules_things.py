"""Rules for "my X is ..." and "our X is ...": names, dates, devices, wishes, work; each reads one clause."""

import re
from datetime import date

from llm.offline_rules import dates
from llm.offline_rules.clauses import Clause
from llm.offline_rules.drafts import Draft, article, draft
from llm.offline_rules.keys import join, slug
from llm.offline_rules.phrases import in_third_person, noun_phrase, predicate_phrase
from llm.offline_rules.rules_group import group, schedule
from llm.offline_rules.rules_kin import RELATION, possessed, relative
from llm.offline_rules.rules_taste import tastes, wanted
from llm.offline_rules.rules_work import role_of
from llm.offline_rules.words import (
    BIRTH_YEAR,
    CIRCLE,
    CLOCK,
    COLLEAGUES,
    DEVICES,
    FAMILY,
    MONTH,
    PETS,
    SECRET_NOUNS,
    WEEKDAYS,
    word_set,
)

_EVENT_NOUN = re.compile(
    r"(?:[\w'-]+ ){0,2}(?:wedding|exam|interview|flight|appointment|deadline|surgery|operation|final|finals|midterm|"
    r"due|presentation|defense|defence|graduation|"
    r"trip|concert|recital|race|marathon|move|vacation|holiday|conference|launch|release|go-live|review|party|"
    r"thesis|audition|due date|driving test|test|reunion|demo)(?: (?:to|in|at|with|for) [\w' ]{2,30})?$",
    re.IGNORECASE,
)


_DULL = word_set(
    "mood opinion question problem point guess idea advice feeling head mind heart life day week time skills "
    "progress mistake bad "
    "answer issue plan turn fault friend friends favorite understanding concern first next last best worst only "
    "main biggest "
    "favourite suggestion request apologies name thinking theory thought dream teacher experience choice pick "
    "result conclusion hope wish score "
    "grade reason destiny message response reply error version output input file function code text essay name"
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
    of_other = re.match(r"(?P<who>[\w ]+?)(?:'s|s'|s|') (?P<what>name|birthday|birthdays)$", subject)
    if of_other:
        return possessed(clause, of_other["who"], of_other["what"])
    favorite = re.match(
        r"(?:all[- ]time )?(?:absolute )?favou?rite(?: (?P<what>[\w -]{2,30}))?$", subject, re.IGNORECASE
    )
    if favorite:
        return _favorite(clause, favorite["what"])
    relation = RELATION.match(subject)
    if relation:
        noun = relation["noun"].lower()
        if noun in FAMILY | CIRCLE | COLLEAGUES | PETS:
            return relative(clause, said, relation, noun)
    for reading in (_single, _dated, _hobbies, _wish, _device, schedule, group, _general):
        found = reading(clause, said)
        if found:
            return found
    return []


# Favorites that belong to the book or film under discussion rather than to the member.
_BOOK_TALK = word_set("part thing one moment character scene line chapter quote section episode bit piece")


def _favorite(clause: Clause, what: str | None) -> list[Draft]:
    if (
        not what
        or clause.verb != "be"
        or clause.negated
        or clause.tense == "past"
        or slug(what).split("_")[0] in _BOOK_TALK
        or in_third_person(what) is None
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
        or clause.verb not in {"be", "end", "start", "begin", "expire", "open", "close", "leave", "depart", "arrive"}
        or clause.tense == "past"
    ):
        return []
    if noun.lower() in {"birthday", "wedding anniversary", "anniversary", "name day"}:
        value = noun_phrase(re.sub(r"^(?:coming up |always )", "", clause.rest), max_words=6)
        if not value or BIRTH_YEAR.search(value) or not MONTH.search(value):
            return []
        return draft("profile", slug(noun), f"{noun.capitalize()} is {value}", 0.9)
    found = dates.find(clause.rest, said, future=True)
    if found is None or found.when.after <= said or (found.when.first == said and found.when.label.startswith("on ")):
        return []
    if (
        not (_EVENT_NOUN.fullmatch(noun) or clause.verb in {"end", "start", "begin", "expire", "leave", "depart"})
        or in_third_person(noun) is None
    ):
        return []
    remainder = dates.without(clause.rest, found)
    clock = CLOCK.search(remainder)
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
        return [] if clause.adverbs or _NO_HOBBY.match(clause.rest) else tastes(clause.rest)
    return []


_NO_HOBBY = re.compile(
    r"(?:quite|very|many|various|different|extensive|diverse|varied|simple|boring|few|limited|wide|broad|expensive|"
    r"the same)\b"
)


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
        or re.match(r"(?:at|on|in|with|from|about|for|by|to|out|off)\b", value)
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
