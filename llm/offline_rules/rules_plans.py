"""Rules for plans, goals and notable events, with the day on which they are over; each reads one clause."""

import re
from dataclasses import replace
from datetime import date

from llm.offline_rules.clauses import Clause
from llm.offline_rules.drafts import Draft, draft, timed
from llm.offline_rules.phrases import items, noun_phrase, predicate_phrase
from llm.offline_rules.rules_be import have
from llm.offline_rules.rules_taste import habit, wanted
from llm.offline_rules.verbs import gerund

_SAME_DAY = re.compile(
    r"\b(?:today|tonight|this (?:morning|afternoon|evening)|right now|in a (?:bit|minute|moment|while)|later)\b",
    re.IGNORECASE,
)
_BIG_STEP = re.compile(
    r"(?:chang|switch|quitt?|leav)ing (?:my |our |the )?(?:jobs?|careers?|field|company|school|major|phone)\b|mov(?:e|ing) (?:to|back|abroad|out|in with)\b|"
    r"(?:a )?(?:career|job) change|"
    r"(?:buy|sell|rent|adopt|foster|start|open|found|build|renovat)(?:e?ing)? (?:an?|my|our|the) (?:[\w-]+ ){0,3}(?:house|home|flat|apartment|car|van|boat|dog|cat|"
    r"puppy|kitten|child|family|business|company|startup|shop|cafe|bakery|restaurant|podcast|blog|podcast|newsletter|kitchen|bathroom|extension|laptop|bike|motorcycle|studio|phd|master'?s)\b|"
    r"go(?:ing)? back to (?:school|college|university|work)|(?:retir|emigrat|propos)(?:e|ing)\b|(?:get|gett)(?:ing)? (?:married|divorced|a (?:dog|cat|puppy|tattoo|new job))|"
    r"(?:apply|applying) (?:to|for) .+|(?:learn|learning) (?:to |how to )?\w+|(?:writ|publish)(?:e|ing) (?:a|my) (?:\w+ )?(?:book|novel|memoir|thesis)|"
    r"hav(?:e|ing) (?:a baby|kids|children|another (?:baby|child))|tak(?:e|ing) (?:a )?(?:sabbatical|gap year|parental leave)|run(?:ning)? (?:a|the) .*marathon",
    re.IGNORECASE,
)
_TRIP = re.compile(
    r"(?:an? |our |my |the )?(?:[\w-]+ ){0,3}?(?:trip|holiday|vacation|wedding|honeymoon|party|move|reunion|visit|surgery|road trip|cruise|retreat|conference|book|marathon|garden|renovation)\b.*",
    re.IGNORECASE,
)


def go(clause: Clause, said: date) -> list[Draft]:
    """I am flying to Osaka on 3 May; I traveled to Xiamen recently; I go to the gym twice a week (a habit)."""
    if clause.negated or clause.tense == "modal":
        return []
    planned = clause.tense in {"progressive", "future"}
    rest, when = timed(clause, said, future=planned)
    rest = re.sub(r"^(?:back |out |off |away |on (?:a|an|vacation|holiday) )(?=to\b)", "", rest)
    where = re.match(
        r"(?:(?:for|on) (?:a|an|our|my) [\w ]{3,20} )?(?:to|in|around|through|across) (?:the )?(?P<place>[A-Z][\w'-]+(?: (?:of |de |and )?[A-Z][\w'-]+)*)",
        rest,
    )
    visited = re.match(r"(?:my .{3,40}|(?:the )?[A-Z][\w' -]+)$", rest) if clause.verb == "visit" else None
    place = where["place"] if where else noun_phrase(rest, max_words=6) if visited else None
    if planned:
        return _future_trip(clause, rest, place, when.label if when else "", when.after if when else None, said)
    if clause.tense == "present":
        return habit(clause, said)
    if (
        not place
        or clause.verb not in {"travel", "fly", "go", "visit", "sail"}
        or re.search(
            r"\b(?:park|museum|restaurant|store|mall|library|cafe|gym|cinema|supermarket|bar|shop)\b",
            rest,
            re.IGNORECASE,
        )
    ):
        return []
    if when and (said - when.first).days < 2 and clause.verb != "travel":
        return []
    what = noun_phrase(rest, max_words=8)
    return draft(
        "episodic", ("travel", place), clause.predicate(f"{what} {when.label if when else ''}") if what else None, 0.75
    )


def _future_trip(
    clause: Clause, rest: str, place: str | None, label: str, ends: date | None, said: date
) -> list[Draft]:
    if clause.tense == "future" and clause.modal == "will" and not label:
        return []
    if not place or (ends is not None and (ends - said).days <= 1):
        return []
    what = noun_phrase(rest, max_words=9)
    prefix = f"Is {gerund(clause.verb)}"
    return draft("episodic", ("travel", place), f"{prefix} {what} {label}" if what else None, 0.85, ends)


def been(clause: Clause, said: date) -> list[Draft]:
    """I have been to Japan twice; I have never been to X."""
    where = re.match(
        r"to (?P<place>[A-Z][\w'-]+(?: [A-Z][\w'-]+)*)(?P<often> (?:once|twice|\w+ times|many times))?(?=$|[ ,])",
        clause.rest,
    )
    if not where or not clause.tense.startswith("perfect"):
        return []
    never = "never " if clause.negated else ""
    return draft(
        "profile", ("travel", where["place"]), f"Has {never}been to {where['place']}{where['often'] or ''}", 0.8
    )


def plan(clause: Clause, said: date) -> list[Draft]:
    """I am planning a trip to X; I plan to V; I am thinking about changing jobs; I am training for X; I am saving for X."""
    if (
        clause.negated
        or clause.tense in {"modal", "formerly"}
        or (clause.tense == "past" and clause.verb != "decide")
        or _SAME_DAY.search(clause.rest)
        or _SAME_DAY.search(clause.opening)
    ):
        return []
    rest, when = timed(clause, said, future=True)
    label = f" {when.label}" if when else ""
    ends = when.after if when else None
    if clause.verb in {"plan", "intend", "aim", "hope", "decide"}:
        return _planned(clause, rest, label, ends)
    if clause.verb in {"think", "consider"}:
        return _considered(clause, rest)
    become = re.match(r"to (?:be|become) (?P<what>an? .+)", rest)
    if become and clause.tense.endswith("progressive"):
        what_for = noun_phrase(become["what"], max_words=6)
        return draft(
            "profile",
            ("goal", f"become {what_for}"),
            clause.predicate(f"to become {what_for}") if what_for else None,
            0.85,
        )
    what = re.match(r"(?:hard )?(?:up )?for (?P<what>.+)|(?:money|up) (?:up )?(?:for|to) (?P<more>.+)", rest)
    if what is None:
        return []
    thing = noun_phrase(what["what"] or what["more"], max_words=9)
    if not thing or re.match(r"(?:work|bed|dinner|lunch|the day|today)\b", thing):
        return []
    if clause.verb == "save":
        infinitive = "to" if what["more"] and " to " in rest[: what.start("more") + 1] else "for"
        return draft("profile", ("goal", thing), f"Is saving {infinitive} {thing}", 0.8)
    if clause.verb in {"train", "prepare", "apply", "interview"} and clause.tense in {
        "progressive",
        "perfect_progressive",
    }:
        return draft(
            "episodic",
            ("goal" if clause.verb == "train" else "event", thing),
            f"Is {gerund(clause.verb)} for {thing}{label}",
            0.85,
            ends,
        )
    if clause.verb in {"look", "search"} and re.match(
        r"(?:an? )?(?:[\w-]+ ){0,3}(?:job|apartment|flat|house|place to live|internship|position|car|roommate|therapist|nanny)\b",
        thing,
    ):
        return draft("profile", ("goal", "find " + thing), f"Is looking for {thing}", 0.8)
    return []


def _planned(clause: Clause, rest: str, label: str, ends: date | None) -> list[Draft]:
    act = re.match(r"(?:to|on) (?P<what>[a-z]+\b.*)", rest)
    if act:
        what = predicate_phrase(act["what"], max_words=11)
        wordy = re.match(
            r"(?:be|do|try|ask|talk|use|take|keep|make|see how|watch|check|read|eat|have (?:lunch|dinner)|go watch|look|improve|write (?:a|an) (?:email|letter))\b",
            what or "",
        )
        named = what and (re.search(r"\b[A-Z]", what) or _BIG_STEP.search(what) or ends)
        if clause.verb == "hope" and not (what and (_BIG_STEP.search(what) or re.search(r"\b[A-Z]", what))):
            return []
        if not what or (wordy and not re.search(r"\b[A-Z]", what)) or not named:
            return []
        verb = {"hope": "Hopes to"}.get(clause.verb, "Plans to")
        return draft("episodic", ("plan", what), f"{verb} {what}{label}", 0.75, ends)
    trip = _TRIP.match(rest)
    what = noun_phrase(rest, max_words=9) if trip else None
    return draft("episodic", ("plan", what or ""), f"Is planning {what}{label}" if what else None, 0.8, ends)


def _considered(clause: Clause, rest: str) -> list[Draft]:
    found = re.match(
        r"(?:seriously )?(?:of |about )?(?:whether (?:or not )?)?(?:(?:I|we) should |to )?(?P<what>.+)", rest
    )
    step = _BIG_STEP.match(found["what"]) if found else None
    if not found or not step or clause.tense == "present":
        return []
    words = found["what"].split()
    first = words[0] if words[0].endswith("ing") or words[0] in {"a", "career", "job"} else gerund(words[0])
    what = noun_phrase(" ".join([first, *words[1:]]), max_words=9)
    return draft("episodic", ("plan", what or ""), f"Is thinking about {what}" if what else None, 0.75)


_STEPS = re.compile(
    r"(?P<license>(?:my|a) (?:driver'?s|driving|pilot'?s|motorcycle|boating) licen[cs]e)|(?P<married>married|engaged|divorced)\b|(?P<promoted>promoted\b.*)|(?P<fired>fired|laid off|made redundant)\b|"
    r"(?P<accepted>(?:accepted|admitted) (?:into|to|at) .+|into (?:the )?[A-Z].+)|(?P<job>an? (?:new )?(?:job|position|promotion|raise|offer|internship|scholarship)(?: (?:at|from|as|in) .+)?$)|"
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
    "break": r"(?:up with my (?:girlfriend|boyfriend|partner|fianc\w+)|my (?:leg|arm|ankle|wrist|foot|hip|collarbone|hand|finger|toe|elbow))",
    "buy": r"(?:an?|our|my) (?:\w+ ){0,3}(?:house|flat|apartment|car|boat|van|motorcycle|bike|piano|guitar|telescope|laptop|e-bike|cottage|cabin|camera|land)\b",
    "sell": r"(?:our|my|the) (?:\w+ )?(?:house|flat|apartment|car|boat|business|company)\b",
    "adopt": r"(?:an?|two|three|our|my) (?:\w+ ){0,3}(?:dog|cat|puppy|kitten|kittens|cats|dogs|rabbit|child|daughter|son|baby|greyhound)\b",
    "win": r"(?:an?|the|my|first|second|our) (?:\w+ ){0,4}(?:award|prize|medal|tournament|competition|championship|scholarship|race|grant|contest|case)\b",
    "publish": r"(?:an?|my|our) (?:\w+ ){0,3}(?:book|paper|novel|article|album|game|app|memoir)\b",
    "finish": r"(?:my|writing my) (?:\w+ ){0,2}(?:degree|thesis|phd|dissertation|novel|book|master'?s|studies|apprenticeship|residency)\b",
    "retire": r"(?:$|from |early|on |in )",
    "register": r"for (?:an?|the) [\w ]{3,40}(?:course|class|marathon|race|exam|conference|workshop|bootcamp|triathlon|program)\b",
    "sign": r"up for (?:an?|the|my) [\w ]{0,40}(?:course|class|classes|lessons|marathon|race|gym|workshop|bootcamp|triathlon|program|half|10k|5k)\b",
    "enroll": r"(?:in|at|on) .+",
    "become": r"interested in .+|(?:an?|the) (?:grandmother|grandfather|grandparent|father|mother|dad|mum|mom|uncle|aunt|citizen|manager|partner|vegetarian|vegan|us citizen)\b|vegetarian|vegan",
    "have": r"(?:a baby|twins|a (?:son|daughter|miscarriage|stroke|heart attack)|(?:\w+ )?surgery)\b",
    "undergo": r".*(?:surgery|treatment|chemo\w*)",
    "start": r"(?:therapy|chemo\w*|physical therapy|physio|college|university|my phd|a phd|high school|a podcast|a blog|a business|my own (?:business|company)|a company|a (?:new )?newsletter|a garden|kindergarten|a new medication|taking .+ lessons)\b",
    "launch": r"(?:my|our|an?) (?:\w+ ){0,3}(?:product|app|startup|company|website|store|shop|business|podcast|album|service)\b",
    "found": r"(?:a|my own|an) (?:\w+ ){0,3}(?:company|startup|ngo|charity|club|band)\b",
    "lose": r"(?:my (?:mother|mom|mum|father|dad|wife|husband|brother|sister|grandmother|grandfather|dog|cat)\b)",
    "hire": r"(?:an?|our|two|three) (?:\w+ ){0,3}(?:designer|developer|engineer|manager|nanny|assistant|intern|cleaner|contractor)s?\b",
}


def studying(clause: Clause, said: date) -> list[Draft]:
    """I am studying to become a nurse."""
    return plan(clause, said) if re.match(r"to (?:be|become) an? ", clause.rest) else []


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


def seek(clause: Clause, said: date) -> list[Draft]:
    """I am looking to learn skills like painting and singing; I am looking for a job: goals."""
    to_learn = re.match(r"to (?P<rest>learn .+)", clause.rest)
    if not to_learn:
        return plan(clause, said)
    skills = re.search(
        r"\b(?:skills?|things?|hobbies|languages?|instruments?) (?:like|such as) (?P<what>.+)", to_learn["rest"]
    )
    if skills and not clause.negated:
        return [
            f
            for thing in items(skills["what"])
            for f in draft("profile", ("goal.learn", thing), f"Would like to learn {thing}", 0.75)
        ]
    return []


def want(clause: Clause, said: date) -> list[Draft]:
    """I want to V; I have always wanted to V; I want to learn how to cook."""
    if clause.tense in {"past", "modal", "formerly", "future"}:
        return []
    to_learn = re.match(r"to (?:start )?learn (?:how to |to )(?P<verb>[a-z]+)(?P<what>.*)", clause.rest)
    if to_learn and not clause.negated:
        what = noun_phrase(re.sub(r"\b(?:recently|lately)\b", "", to_learn["what"]).strip(), max_words=5) or ""
        return draft(
            "profile",
            ("goal.learn", f"{gerund(to_learn['verb'])} {what}"),
            f"Wants to learn to {to_learn['verb']} {what}",
            0.8,
        )
    return wanted(clause, said)
