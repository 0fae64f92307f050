"""Rules for who the member is, where she lives and what she works or studies; each reads one clause."""

import re
from datetime import date

from llm.offline_rules.clauses import Clause
from llm.offline_rules.drafts import Draft, article, draft, timed
from llm.offline_rules.keys import slug
from llm.offline_rules.phrases import in_third_person, noun_phrase, object_of
from llm.offline_rules.words import COUNTRIES, FREQUENCY, JOB_ADJECTIVES_BAD, JOB_WORDS, WEEKDAYS

_PLACE_PREFIX = re.compile(
    r"^(?:back )?(?:in|to|at|from|near|outside(?: of)?|around|on)\s+(?P<place>(?:the (?:suburbs|outskirts|north|south|east|west|center|centre|"
    r"heart|middle|countryside|mountains|coast|city)(?: of)? ?)?.*)$",
    re.IGNORECASE,
)
_NO_PLACE = re.compile(
    r"\b(?:moments?|times?|fear|past|present|hope|peace|pain|hell|denial|world|bubble|dream|age|house|own|room|same|here|there|area|"
    r"floor|apartment|flat|street|avenue|road|st\.|ave|lane|group|place|places|dorm|hotel|parents|heaven|era|uncertainty|shared)\b|\d",
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
    return place if any(letter.isalpha() for letter in place) and not place.lower().endswith("ing") else None


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
    if place and clause.negated:
        negation = (
            "No longer lives"
            if clause.no_longer or re.search(r"any ?more|any longer", clause.rest)
            else "Does not live"
        )
        return draft("profile", home_key(place), f"{negation} in {place}", 0.8)
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
        r"from (?P<town>an? (?:\w+ ){0,2}(?:town|village|city|island|farm|suburb)(?: (?:in|near|outside|of|on) (?:the )?[A-Z][\w' ]+)?)",
        rest,
    )
    if town:
        return draft("profile", "origin", f"Is from {noun_phrase(town['town'], max_words=9)}", 0.85)
    if place and place.startswith("the ") and place.islower() and place not in COUNTRIES:
        return []
    return draft("profile", "origin", f"Is from {place}" if place else None, 0.9)


def role_of(text: str, *, certain: bool = False) -> str | None:
    """Return the job named by `text` ("a senior data engineer"), or None when it names none."""
    text = re.split(
        r"\s+(?:at|for|with|in|from|by|majoring|studying|working|based|on|of (?:two|three|four)|(?<!head )(?<!vp )(?<!director )(?<!chief )(?<!president )of)\b|[,(]",
        object_of(text),
        maxsplit=1,
    )[0]
    words = re.sub(r"^(?:a|an|the|currently a)\s+", "", text, flags=re.IGNORECASE).split()
    if not 1 <= len(words) <= 5 or in_third_person(" ".join(words)) is None:
        return None
    lowered = [word.lower().strip(",.") for word in words]
    if any(word in JOB_ADJECTIVES_BAD for word in lowered[:-1]):
        return None
    last = lowered[-1].removesuffix("s") if certain else lowered[-1]
    if lowered[-2:] == ["language", "model"]:
        return None
    heads = {lowered[-1], last, "-".join(lowered[-2:]), " ".join(lowered[-2:])}
    leading = re.match(r"(?:head|vp|chief|director|lead|manager|vice president)\b", " ".join(lowered))
    return " ".join(words) if certain or heads & JOB_WORDS or leading else None


def employer_of(text: str) -> str | None:
    """Return the named employer after "at" or "for", or None."""
    found = re.search(
        r"\b(?:at|for|with)\s+(?:(?:a|an) (?:company|startup|firm|bank) called )?(?P<name>[^,.;:()]+)", text
    )
    if not found:
        return None
    name = re.split(
        r"\s+(?:as|in|since|for|and|but|because|on|from|where|which|when|now|until|with|doing|these|remotely|over|about|every|"
        r"full|part|right|almost|nearly|so)\b",
        found["name"],
        maxsplit=1,
    )[0].strip()
    words = name.split()
    generic = re.match(
        r"(?:a|an|the) (?:[\w-]+ ){0,3}(?:startup|company|bank|hospital|school|university|agency|firm|clinic|"
        r"library|museum|bakery|restaurant|factory|ministry|council|city|government|lab|studio|hotel|ngo|charity|shop|store|supermarket|post office)$",
        name,
        re.IGNORECASE,
    )
    named = 0 < len(words) <= 5 and (
        words[0][0].isupper() or generic or (len(words) > 1 and words[0].lower() == "the" and words[1][0].isupper())
    )
    if not named or words[0].lower() in WEEKDAYS:
        return None
    return in_third_person(name)


def work(clause: Clause, said: date) -> list[Draft]:
    """I work as R at E; I work in F; I work from home on Fridays; I no longer work at E."""
    if clause.tense in {"future", "modal"}:
        return []
    rest = re.sub(r"^(?:full[- ]time|part[- ]time|there|here|remotely),? (?=as|at|for)", "", clause.rest)
    verb = {"past": "Worked", "formerly": "Used to work"}.get(
        clause.tense, "No longer works" if clause.no_longer or re.search(r"any ?more", rest) else "Works"
    )
    past = verb in {"Worked", "Used to work"}
    if clause.negated and verb == "Works":
        return (
            draft("profile", "work.schedule", clause.predicate(noun_phrase(rest) or ""), 0.75)
            if FREQUENCY.search(rest)
            else []
        )
    found: list[Draft] = []
    role = re.search(r"\bas (?P<role>(?:an? |the |head |chief )?.+)", rest)
    name = role_of(role["role"], certain=True) if role else None
    if name:
        found += draft(
            "profile",
            ("work.past", name) if past else "work.role",
            f"{verb} as {article(name)}",
            0.9 if not past else 0.75,
        )
    employer = employer_of(rest)
    if employer:
        found += draft(
            "profile",
            ("work.past", employer) if past else "work.employer",
            f"{verb} at {employer}",
            0.9 if not past else 0.75,
        )
    return found or ([] if clause.tense == "past" or clause.negated else _work_otherwise(clause, rest))


def _work_otherwise(clause: Clause, rest: str) -> list[Draft]:
    if clause.tense == "formerly":
        field = re.match(r"(?:in|on) (?P<field>[a-zA-Z][\w ]+)", rest)
        name = noun_phrase(rest, max_words=6) if field else None
        return draft("profile", ("work.past", name or ""), f"Used to work {name}" if name else None, 0.75)
    tenure = re.match(
        r"(?:at|for) (?:my|the) (?:current|same) (?:company|job|employer|firm)\b.*\b(?:for|since) .+", rest
    )
    if tenure:
        return draft("profile", "work.tenure", clause.predicate(noun_phrase(rest, max_words=10)), 0.8)
    field = re.match(r"in (?!a (?:team|group)|my|this|the same|progress|general|silence)(?P<field>.+)", rest)
    if field and clause.tense != "past":
        name = noun_phrase(field["field"], max_words=6)
        return draft("profile", "work.field", f"Works in {name}" if name else None, 0.8)
    if re.match(
        r"(?:mostly |fully |entirely )?(?:from home|remote(?:ly)?|part[- ]time|full[- ]time|nights?\b|(?:the )?night shifts?|shifts|weekends|four days)",
        rest,
    ):
        return draft("profile", "work.schedule", f"Works {noun_phrase(rest, max_words=10)}", 0.85)
    project = re.match(r"(?:on|with) (?P<what>.+)", rest)
    if project:
        what = noun_phrase(project["what"], max_words=8)
        vague = re.match(
            r"(?:an? |the |their )?(?:\w+ )?(?:project|app|website|task|bug|feature)(?: (?:at|for|with) .*)?$",
            what or "",
        )
        named = (
            what
            and not vague
            and (
                re.search(r"\b[A-Z]", what)
                or re.match(
                    r"(?:a|an|the) (?:\w+ ){0,4}(?:project|app|book|novel|thesis|paper|game|library|website|dissertation|migration|platform|album)\b",
                    what,
                )
            )
        )
        named = named or (what and rest.startswith("with ") and clause.tense == "present")
        prefix = "Is working" if clause.tense.endswith("progressive") else "Works"
        key = ("work.with", what or "") if rest.startswith("with") else ("work.project", what or "")
        return draft("semantic", key, f"{prefix} {rest.split()[0]} {what}" if named else None, 0.7)
    return []


def study(clause: Clause, said: date) -> list[Draft]:
    """I study physics at X; I studied X; I am studying for the bar exam."""
    rest, when = timed(clause, said, future=clause.tense == "progressive")
    rest = re.sub(r",.*$", "", rest)
    if (
        clause.negated
        or clause.tense in {"future", "modal"}
        or re.match(r"(?:at (?:the|a) (?:library|home|cafe)|every|hard|all|with|in (?:the|a|my))\b", rest)
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


def employ(clause: Clause, said: date) -> list[Draft]:
    """I joined E in May; I started a new job at E; I left E; I quit my job; I got promoted to R; I run a bakery; I teach math."""
    rest, when = timed(clause, said, future=clause.tense in {"progressive", "future"})
    label = f" {when.label}" if when else ""
    if clause.negated or clause.tense in {"modal", "formerly"}:
        return []
    if clause.verb in {"run", "own", "manage", "lead", "found", "teach", "tutor", "freelance"} and clause.tense in {
        "present",
        "progressive",
    }:
        return _occupation(clause, rest)
    if clause.verb == "teach":
        return (
            draft("profile", "work.past", clause.predicate(noun_phrase(rest)), 0.7)
            if clause.tense == "formerly"
            else []
        )
    if clause.verb in {"start", "begin"} and re.search(
        r"\b(?:job|position|role|internship|apprenticeship|phd|master'?s)\b", rest, re.IGNORECASE
    ):
        what = noun_phrase(rest, max_words=10)
        ends = when.after if when and clause.tense in {"progressive", "future"} else None
        found = draft("episodic", "work.new_job", clause.predicate(f"{what}{label}") if what else None, 0.85, ends)
        employer = employer_of(rest)
        return found + (
            draft("profile", "work.employer", f"Works at {employer}", 0.8)
            if employer and clause.tense in {"past", "perfect"}
            else []
        )
    if clause.verb == "join" and clause.tense in {"past", "perfect"} and re.match(r"(?:the )?[A-Z]", rest):
        name = noun_phrase(re.split(r"\s+as\b", rest)[0], max_words=5)
        return draft("profile", ("joined", name or ""), f"Joined {name}{label}" if name else None, 0.75)
    if (
        clause.verb in {"quit", "leave", "lose"}
        and re.match(r"my (?:\w+ )?job\b", rest)
        and clause.tense in {"past", "perfect"}
    ):
        return draft("episodic", "work.job_ended", clause.predicate(f"{noun_phrase(rest, max_words=6)}{label}"), 0.85)
    return []


def _occupation(clause: Clause, rest: str) -> list[Draft]:
    what = noun_phrase(rest, max_words=8)
    if not what:
        return []
    if clause.verb in {"run", "own", "manage", "lead", "found"}:
        business = re.match(
            r"(?:an?|the|two|three|their)(?: own)? (?:[\w'-]+ ){0,3}(?:bakery|restaurant|shop|store|cafe|café|company|business|farm|agency|startup|"
            r"studio|bookstore|bookshop|blog|podcast|newsletter|team|hotel|clinic|gym|school|workshop|vineyard|brewery|department|"
            r"house|flat|apartment|car|boat|bike|bicycle|motorcycle|dog|cat|horse|guitar|piano|cottage|cabin|salon|garage|hostel|club|group|project|macbook|thinkpad|telescope|tesla|camera|van|truck)\b.*",
            what,
            re.IGNORECASE,
        )
        area = "possession" if clause.verb == "own" else "work"
        return draft(
            "profile",
            (area, re.sub(r"\s+(?:in|of|at|called|named|with)\b.*", "", what)),
            clause.predicate(what) if business else None,
            0.85,
        )
    if clause.verb == "freelance":
        return draft("profile", "work.status", clause.predicate(what), 0.8)
    return draft(
        "profile", "work.role", clause.predicate(what) if not what.startswith(("them", "people how")) else None, 0.8
    )
