"""Rules for plans and goals, with the day on which they are over; each reads one clause."""

import re
from dataclasses import replace
from datetime import date

from llm.offline_rules.clauses import Clause
from llm.offline_rules.dates import When
from llm.offline_rules.drafts import Draft, draft, timed, without_purpose
from llm.offline_rules.phrases import items, noun_phrase, predicate_phrase, skill
from llm.offline_rules.rules_habit import habit
from llm.offline_rules.rules_taste import wanted
from llm.offline_rules.verbs import gerund

_SAME_DAY = re.compile(
    r"\b(?:today|tonight|this (?:morning|afternoon|evening)|right now|in a (?:bit|minute|moment|while)|later)\b",
    re.IGNORECASE,
)


_BIG_STEP = re.compile(
    r"(?:chang|switch|quitt?|leav)ing (?:my |our |the )?(?:jobs?|careers?|field|company|school|major|phone)\b|"
    r"mov(?:e|ing) (?:to|back|abroad|out|in with)\b|"
    r"(?:a )?(?:career|job) change|"
    r"(?:buy|sell|rent|adopt|foster|start|open|found|build|renovat)(?:e?ing)? (?:an?|my|our|the) (?:[\w-]+ "
    r"){0,3}(?:house|home|flat|apartment|car|van|boat|dog|cat|"
    r"puppy|kitten|child|family|business|company|startup|shop|cafe|bakery|restaurant|podcast|blog|podcast|"
    r"newsletter|kitchen|bathroom|extension|laptop|bike|motorcycle|studio|phd|master'?s)\b|"
    r"go(?:ing)? back to (?:school|college|university|work)|(?:retir|emigrat|propos)(?:e|ing)\b|(?:get|"
    r"gett)(?:ing)? (?:married|divorced|a (?:dog|cat|puppy|tattoo|new job))|"
    r"(?:apply|applying) (?:to|for) .+|(?:learn|learning) (?:to |how to )?\w+|(?:writ|publish)(?:e|ing) (?:a|my) "
    r"(?:\w+ )?(?:book|novel|memoir|thesis)|"
    r"hav(?:e|ing) (?:a baby|kids|children|another (?:baby|child))|tak(?:e|ing) (?:a )?(?:sabbatical|gap year|"
    r"parental leave)|run(?:ning)? (?:a|the) .*marathon",
    re.IGNORECASE,
)


_TRIP = re.compile(
    r"(?:an? |our |my |the )?(?:[\w-]+ ){0,3}?(?:trip|holiday|vacation|wedding|honeymoon|party|move|reunion|visit|"
    r"surgery|road trip|cruise|retreat|conference|book|marathon|garden|renovation)\b.*",
    re.IGNORECASE,
)


def go(clause: Clause, said: date) -> list[Draft]:
    """I am flying to Osaka on 3 May; I traveled to Xiamen recently; I go to the gym twice a week (a habit)."""
    if clause.negated or clause.tense == "modal":
        return []
    planned = clause.tense in {"progressive", "future"}
    if clause.tense == "present" and clause.verb in {"fly", "travel", "leave"}:  # "I fly to Osaka on 3 May"
        _rest, ahead = timed(clause, said, future=True)
        planned = ahead is not None and ahead.after > said
    rest, when = timed(clause, said, future=planned)
    rest = re.sub(r"^(?:back |out |off |away |on (?:a|an|vacation|holiday) )(?=to\b)", "", rest)
    where = re.match(
        r"(?:(?:for|on) (?:a|an|our|my) [\w ]{3,20} )?(?:to|in|around|through|across) (?:the "
        r")?(?P<place>[A-Z][\w'-]+(?: (?:of |de |and )?[A-Z][\w'-]+)*)",
        rest,
    )
    visited = re.match(r"(?:my .{3,40}|(?:the )?[A-Z][\w' -]+)$", rest) if clause.verb == "visit" else None
    place = where["place"] if where else noun_phrase(rest, max_words=6) if visited else None
    if planned:
        return _future_trip(clause, rest, place, when, said)
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


def _future_trip(clause: Clause, rest: str, place: str | None, when: When | None, said: date) -> list[Draft]:
    label, ends = (f" {when.label}", when.after) if when else ("", None)
    if clause.tense == "future" and clause.modal == "will" and not label:
        return []
    if not place or (ends is not None and (ends - said).days <= 1):
        return []
    what = noun_phrase(rest, max_words=9)
    prefix = f"Is {gerund(clause.verb)}"
    return draft("episodic", ("travel", place), f"{prefix} {what}{label}" if what else None, 0.85, ends)


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
    """I am planning a trip to X; I plan to V; I am thinking about changing jobs; I am training or saving for X."""
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
        r"(?:an? )?(?:[\w-]+ ){0,3}(?:job|apartment|flat|house|place to live|internship|position|car|roommate|"
        r"therapist|nanny)\b",
        thing,
    ):
        return draft("profile", ("goal", "find " + thing), f"Is looking for {thing}", 0.8)
    return []


def _planned(clause: Clause, rest: str, label: str, ends: date | None) -> list[Draft]:
    act = re.match(r"(?:to|on) (?P<what>[a-z]+\b.*)", rest)
    if act:
        what = predicate_phrase(act["what"], max_words=11)
        wordy = re.match(
            r"(?:be|do|try|ask|talk|use|take|keep|make|see how|watch|check|read|eat|have (?:lunch|dinner)|go watch|"
            r"look|improve|write (?:a|an) (?:email|letter))\b",
            what or "",
        )
        named = what and (re.search(r"\b[A-Z]", what) or _BIG_STEP.search(what) or ends)
        if clause.verb == "hope" and not (what and (_BIG_STEP.search(what) or re.search(r"\b[A-Z]", what))):
            return []
        if not what or (wordy and not re.search(r"\b[A-Z]", what)) or not named:
            return []
        verb = {"hope": "Hopes to"}.get(clause.verb, "Plans to")
        return draft("episodic", ("plan", without_purpose(what)), f"{verb} {what}{label}", 0.75, ends)
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


def studying(clause: Clause, said: date) -> list[Draft]:
    """I am studying to become a nurse."""
    return plan(clause, said) if re.match(r"to (?:be|become) an? ", clause.rest) else []


def seek(clause: Clause, said: date) -> list[Draft]:
    """I am looking to learn skills like painting and singing; I am looking for a job: goals."""
    to_learn = re.match(r"to (?P<rest>learn .+)", clause.rest)
    if not to_learn:
        return plan(clause, said)
    skills = re.search(
        r"\b(?:skills?|things?|hobbies|languages?|instruments?) (?:like|such as) (?P<what>.+)", to_learn["rest"]
    )
    if skills and not clause.negated:
        learned = [skill(thing) for thing in items(skills["what"])]
        return [
            found
            for name, words in learned
            for found in draft("profile", ("goal", f"learn {name}"), f"Would like to learn {words}", 0.75)
        ]
    return []


def want(clause: Clause, said: date) -> list[Draft]:
    """I want to V; I have always wanted to V; I want to learn how to cook."""
    if clause.tense in {"past", "modal", "formerly", "future"}:
        return []
    rest = re.sub(r"^to (?:start )?learn(?:ing)? how to ", "to learn to ", clause.rest)
    return wanted(replace(clause, rest=re.sub(r"\s+(?:recently|lately)\b", "", rest)), said)
