"""Rules for habits, hobbies, tools, skills and projects; each reads one clause about the member."""

import re
from dataclasses import replace
from datetime import date

from llm.offline_rules.clauses import Clause
from llm.offline_rules.drafts import Draft, draft, timed
from llm.offline_rules.keys import slug
from llm.offline_rules.phrases import in_third_person, noun_phrase, object_of, predicate_phrase, skill
from llm.offline_rules.verbs import gerund, is_gerund
from llm.offline_rules.words import FREQUENCY, INSTRUMENTS, LANGUAGES, TOOLS, word_set

_HABIT_VERBS = word_set(
    "run jog swim cycle bike hike walk ride climb meditate journal cook bake garden paint draw sing dance knit read "
    "write "
    "practice practise play train exercise stretch commute drive travel eat drink listen watch sleep wake get go do "
    "take "
    "spend volunteer teach attend visit call explore study fish sail ski surf row skate lift pray fast blog stream use "
    "have wear shop order buy work start finish meet grow make program code discuss book choose"
)


_WEAK_HABIT = word_set("get go do take have start finish make use wear call buy watch meet work sleep order discuss")


# "We play every weekend" does not say what.
_NEEDS_OBJECT = word_set(
    "play make use wear buy discuss get take call visit explore order choose book do have practice"
)


def habit(clause: Clause, said: date) -> list[Draft]:
    """I run every morning; I usually listen to jazz. Needs a frequency, else it is no habit."""
    if clause.negated or clause.verb not in _HABIT_VERBS or clause.tense not in {"present", "perfect_progressive"}:
        return []
    opening = FREQUENCY.search(clause.opening)
    rest = f"{clause.rest} {opening[0].lower()}" if opening else clause.rest
    frequency = FREQUENCY.search(rest) or re.match(r"(?:up|to bed|to sleep) (?:early|late|at \d)", rest)
    rare = {
        "sometimes",
        "occasionally",
        "always",
        "usually",
        "often",
        "regularly",
        "normally",
        "mostly",
        "rarely",
        "generally",
        "typically",
        "frequently",
    }
    if (
        not frequency and (clause.habit not in rare or clause.verb in _WEAK_HABIT)
    ) or clause.tense == "perfect_progressive":
        return []
    rest = re.sub(r", (?:and )?(?:watch|read|listen|play|go|do|eat|drink|cook|write|take|make|walk|run)\b.*", "", rest)
    phrase = predicate_phrase(rest)
    if not phrase or re.match(r"(?:up|to|home|back|here|out)$", phrase) or len(phrase) < 3:
        return []
    bare = FREQUENCY.sub("", rest)
    bare = (
        re.sub(r"\bat \d[\d:.]*\s*(?:am|pm)?|\b(?:about|for|at least|around|roughly)\b.*", "", bare)
        if clause.verb != "spend"
        else bare
    )
    if not object_of(bare) and clause.verb in _NEEDS_OBJECT:
        return []
    name = f"{gerund(clause.verb)} {re.split(',', object_of(bare))[0] if bare else ''}"
    spent = re.search(r"\b(?P<what>[a-z]+ing\b(?: \w+){0,3})", phrase) if clause.verb == "spend" else None
    if clause.verb == "spend":
        name = spent["what"] if spent else ""
    return draft("profile", ("habit", name), clause.predicate(phrase), 0.8)


def use(clause: Clause, said: date) -> list[Draft]:
    """I use Neovim; we use Postgres for X; I write in Rust; I code in Go; I drive a Skoda."""
    if clause.tense not in {"present", "perfect_progressive", "progressive"}:
        return []
    in_language = re.match(
        r"(?:(?:my|our|most|all|the|code|software|programs|backend|scripts) ?){0,4}in (?P<name>[A-Z][\w+#]*|"
        r"[\w]+(?:#|\+\+))(?: and (?P<more>[A-Z][\w+#]*))?",
        clause.rest,
    )
    if clause.verb in {"write", "code", "program", "develop", "script"}:
        if in_language and not clause.negated:
            verb = clause.predicate(in_language[0])
            return draft("semantic", ("tools", in_language["name"]), in_third_person(verb), 0.8)
        return habit(clause, said)
    if clause.verb in {"drive", "ride"}:
        vehicle = re.match(r"an? [\w -]{2,30}$", object_of(clause.rest))
        return draft(
            "profile", "vehicle", clause.predicate(vehicle[0]) if vehicle and not clause.negated else None, 0.8
        ) or habit(clause, said)
    return [] if clause.negated else _tools(clause)


_AIDS = re.compile(
    r"an? (?:wheelchair|cane|hearing aid|screen reader|standing desk|cpap|\w+ keyboard|paper planner|bullet journal)\b"
)


def _tools(clause: Clause) -> list[Draft]:
    """One fact for each named tool of "I use Docker and Postgres for X"."""
    phrase = noun_phrase(clause.rest, max_words=9)
    if not phrase:
        return habit(clause, date.min)
    tool = re.split(r"\s+(?:for|to|on|at|in|with|as|every|instead|because)\b", phrase)[0]
    names = re.split(r",\s*|\s+and\s+", tool)
    if len(names) > 1 and all(_is_named_tool(name) for name in names):
        return [
            found
            for name in names
            for found in draft("semantic", ("tools", name), f"{clause.predicate('')} {name}", 0.8)
        ]
    vague = tool.split()[0] in {"their", "them"} and len(tool.split()) < 2
    if vague or not (_is_named_tool(tool) or _AIDS.match(tool)):
        return habit(clause, date.min)
    return draft("semantic", ("tools", tool), clause.predicate(phrase), 0.8)


def _is_named_tool(name: str) -> bool:
    return bool(re.search(r"\b[A-Z]", name)) or name.lower() in TOOLS


_HOBBY_VERBS = word_set(
    "knit crochet sew garden paint juggle meditate surf ski snowboard box fence fish hike climb swim dance sculpt "
    "journal sail "
    "skate birdwatch row bake quilt embroider woodwork brew"
)


def hobby(clause: Clause, said: date) -> list[Draft]:
    """I knit; I sing in a choir; I collect vinyl records; I wear glasses: lasting without a frequency."""
    lasting = clause.tense == "perfect_progressive" and bool(re.search(r"\b(?:for|since) ", clause.rest))
    lasting = lasting or (clause.verb == "wear" and clause.tense == "perfect") or _gathers_lately(clause)
    if clause.negated or (clause.tense != "present" and not lasting) or clause.subject != "I":
        return habit(clause, said)
    phrase = noun_phrase(clause.rest, max_words=8) if clause.rest else ""
    if clause.verb == "wear":
        worn = phrase and re.match(
            r"(?:glasses|hearing aids?|contact lenses|contacts|an? (?:hijab|kippah|pacemaker|insulin pump|prosthe\w+))",
            phrase,
        )
        return draft("profile", ("health", phrase or ""), f"Wears {phrase}" if worn else None, 0.85)
    together = (
        phrase
        and clause.verb in {"sing", "play", "dance", "row"}
        and re.match(
            r"in (?:an?|the|our|their) .*(?:choir|band|orchestra|ensemble|club|team|league|quartet|group)", phrase
        )
    )
    gathers = (
        phrase
        and clause.verb in {"collect", "breed", "keep", "raise"}
        and re.match(r"[a-z' -]{3,40}$", phrase)
        and phrase.endswith("s")
    )
    exercise = (
        phrase
        and clause.verb in {"do", "practice", "practise"}
        and re.match(
            r"(?:yoga|pilates|karate|judo|ballet|crossfit|volunteer work|pottery|improv|tai chi|aikido|taekwondo|"
            r"triathlons|gymnastics|calligraphy|archery|woodworking|ceramics)\b",
            phrase,
        )
    )
    plain = exercise or (clause.verb in _HOBBY_VERBS and (not clause.rest or (phrase and len(phrase.split()) <= 3)))
    if (plain or together or gathers) and not FREQUENCY.search(clause.rest) and phrase is not None:
        clause_name = re.sub(r"\s+(?:for|since) .*", "", phrase)
        return draft("profile", ("habit", f"{gerund(clause.verb)} {clause_name}"), clause.predicate(phrase), 0.8)
    return habit(clause, said)


def _gathers_lately(clause: Clause) -> bool:
    return clause.verb == "collect" and clause.tense in {"progressive", "perfect_progressive"}


def teach_self(clause: Clause, said: date) -> list[Draft]:
    """I am teaching myself Georgian: a way to learn."""
    found = re.match(r"(?:myself|ourselves) (?P<what>.+)", clause.rest)
    if not found or not clause.tense.endswith("progressive"):
        return []
    return learn(replace(clause, verb="learn", word="learning", rest=found["what"]), said)


def support(clause: Clause, said: date) -> list[Draft]:
    """I support Arsenal: a club, not a cause of the moment."""
    club = re.match(r"[A-Z][\w.-]*(?: [A-Z][\w.-]*){0,2}$", object_of(clause.rest))
    return (
        draft("profile", ("supports", club[0]), f"Supports {club[0]}", 0.8)
        if club and clause.tense == "present" and not clause.negated
        else []
    )


def takes(clause: Clause, said: date) -> list[Draft]:
    """I take my coffee black; I did my PhD at ETH: the rest of "take" and "do"."""
    if clause.negated:
        return []
    if clause.verb == "take" and clause.tense == "present":
        served = re.match(r"my (?P<what>coffee|tea|steak|eggs|whisky|whiskey) .+", clause.rest)
        phrase = noun_phrase(clause.rest) if served else None
        return draft(
            "profile",
            ("preference", served["what"] if served else ""),
            clause.predicate(phrase) if phrase else None,
            0.85,
        )
    if clause.verb == "do" and clause.tense == "past":
        degree = re.match(
            r"my (?P<what>phd|master'?s|bachelor'?s|undergrad|degree|residency|apprenticeship)\b.+",
            clause.rest,
            re.IGNORECASE,
        )
        phrase = noun_phrase(clause.rest, max_words=9) if degree else None
        return draft("profile", "education.degree", f"Did {phrase}" if phrase else None, 0.85)
    return []


def report(clause: Clause, said: date) -> list[Draft]:
    """I report to Dana."""
    boss = re.match(r"(?:directly )?to (?P<name>[A-Z][\w'-]+(?: [A-Z][\w'-]+)?)$", object_of(clause.rest))
    return (
        draft("profile", "work.manager", f"Reports to {boss['name']}", 0.85)
        if boss and clause.tense == "present" and not clause.negated
        else []
    )


def take_up(clause: Clause, said: date) -> list[Draft]:
    """I took up gardening; I picked up knitting; I started learning yoga last month."""
    lessons = re.match(r"(?P<what>(?:[\w-]+ ){1,3}?)(?P<kind>lessons|classes)\b", clause.rest)
    if (
        lessons
        and clause.verb == "take"
        and not clause.negated
        and clause.tense in {"progressive", "perfect_progressive"}
    ):
        what = noun_phrase(lessons[0])
        return draft("profile", ("learning", lessons["what"]), f"Is taking {what}" if what else None, 0.85)
    if clause.negated or clause.tense not in {"past", "perfect"}:
        return []
    rest, _ = timed(clause, said, future=False)
    begun = re.match(r"(?:learning|to learn|studying) (?P<what>.+)", rest)
    if begun and clause.verb in {"start", "begin"}:
        return learn(replace(clause, tense="progressive", verb="learn", word="learning", rest=begun["what"]), said)
    taken = re.match(r"up (?P<what>[a-z][\w -]{3,30})", rest)
    what = noun_phrase(taken["what"], max_words=4) if taken and clause.verb in {"take", "pick"} else None
    known = what and (
        is_gerund(what.split()[0].lower())
        or what.split()[-1]
        in {"yoga", "tennis", "golf", "chess", "pottery", "guitar", "piano", "photography", "judo", "karate", "pilates"}
    )
    return draft("profile", ("habit", what or ""), f"Has taken up {what}" if known else None, 0.8)


_WORKS = re.compile(
    r"(?:an?|my|our)(?: (?:own|new|first|second|little|small|old))* (?:[\w-]+ ){0,2}?(?:novel|book|memoir|thesis|"
    r"dissertation|screenplay|"
    r"play|musical|album|game|video game|app|mobile app|telescope|house|tiny house|boat|canoe|cabin|shed|treehouse|"
    r"guitar|robot|"
    r"startup|company|compiler|programming language|synthesizer|greenhouse|campervan|van|motorcycle|kitchen|bathroom|"
    r"cookbook|podcast|documentary|film|short film|quilt|blog|newsletter|saas|marketplace|chicken coop|model "
    r"railway|dollhouse|phd thesis)s?\b.*",
    re.IGNORECASE,
)


def project(clause: Clause, said: date) -> list[Draft]:
    """I am writing a novel about X; I am building a boat: a lasting piece of work, not a task of the hour."""
    if clause.negated or not clause.tense.endswith("progressive"):
        return []
    work = _WORKS.match(clause.rest)
    what = noun_phrase(work[0], max_words=9) if work else None
    short = re.split(r"\s+(?:about|for|with|in|on|at|called|that)\b", what or "")[0]
    return draft("semantic", ("project", short), f"Is {clause.word} {what}" if what else None, 0.8)


def read(clause: Clause, said: date) -> list[Draft]:
    """I am reading "To Live": a named book; I read every night (a habit)."""
    if not clause.tense.endswith("progressive") or clause.negated:
        return habit(clause, said)
    quoted = re.search(r"\"(?P<title>[^\"]{2,60})\"", clause.rest)
    if (
        quoted
        and re.match(r"(?:an?|the|my)? ?(?:\w+ ){0,4}", clause.rest[: quoted.start()])
        and len(clause.rest[: quoted.start()].split()) <= 7
    ):
        verb = "watching" if clause.verb == "watch" else "reading"
        return draft("episodic", (verb, quoted["title"]), f'Is {verb} "{quoted["title"]}"', 0.75)
    return []


def speak(clause: Clause, said: date) -> list[Draft]:
    """I speak German and a little Dutch."""
    if clause.verb not in {"speak", "understand"} or (clause.tense != "present" and clause.modal != "can"):
        return []
    names = [word for word in re.findall(r"[\w-]+", clause.rest) if word.lower() in LANGUAGES]
    verb = "No longer speaks" if clause.no_longer else "Does not speak" if clause.negated else "Speaks"
    amount = re.match(r"(?:only |just )?(a little|a bit of|some|fluent|basic)\b", clause.rest)
    spoken = [f"{amount[1].lower()} {names[0]}", *names[1:]] if amount and names else names
    return [
        found
        for name, text in zip(names, spoken, strict=True)
        for found in draft("profile", f"language.{slug(name)}", f"{verb} {text[:1]}{text[1:]}", 0.9)
    ]


def learn(clause: Clause, said: date) -> list[Draft]:
    """I am learning Portuguese; I have been learning to cook."""
    if clause.negated or clause.tense not in {"progressive", "perfect_progressive", "present"}:
        return []
    if re.match(r"(?:right now|now|today|here)\b", clause.rest):
        return []
    if clause.tense == "present" and not re.match(r"[A-Z]\w+$", object_of(clause.rest)):
        return []
    rest = re.sub(r"\s+(?:recently|lately|these days|now)\b", "", clause.rest)
    thing = noun_phrase(re.sub(r"^(?:about |some |more about |how (?=to ))", "", rest), max_words=7)
    if not thing or FREQUENCY.match(thing) or re.match(r"(?:a )?(?:lot|so|from|what|many|much|the hard)\b", thing):
        return []
    name, words = skill(thing)
    lasting = re.search(r"\b(?:for|since) ", thing) and clause.tense == "perfect_progressive"
    name = re.split(r"\s+(?:for|on|at|with|since|in|through|from|by)\b", name)[0]
    return draft("profile", ("learning", name), clause.predicate(thing) if lasting else f"Is learning {words}", 0.85)


def play(clause: Clause, said: date) -> list[Draft]:
    """I play the cello; I have been playing chess for ten years; I used to play football."""
    if clause.tense in {"past", "future"} or clause.negated or (clause.modal and clause.modal != "can"):
        return []
    thing = noun_phrase(clause.rest, max_words=10)
    name = re.split(r"\s+(?:for|in|with|at|on|since|every|as|and|once|twice)\b", thing or "")[0]
    bare = re.sub(r"^(?:the|some|a|a bit of) ", "", name)
    known = bare.lower() in INSTRUMENTS or re.fullmatch(
        r"(?:the )?(?:chess|football|soccer|tennis|basketball|volleyball|handball|hockey|golf|cricket|rugby|"
        r"badminton|table tennis|squash|"
        r"padel|bridge|poker|go|baseball|softball|video games|board games|darts|d&d|dungeons|minecraft|ping pong|"
        r"ultimate frisbee|"
        r"lacrosse|water polo|[\w ]{0,20}(?:guitar|piano|drums|flute))|[A-Z][\w' ]{2,25}",
        bare,
    )
    if not thing or not known or (clause.modal and bare.lower() not in INSTRUMENTS):
        return hobby(clause, said)
    return draft("profile", ("plays", bare), clause.predicate(thing), 0.85)
