"""Rules for tastes, diet, health, habits, tools and skills; each reads one clause about the member."""

import re
from dataclasses import replace
from datetime import date

from llm.offline_rules.clauses import Clause
from llm.offline_rules.drafts import Draft, draft, timed
from llm.offline_rules.keys import join, slug
from llm.offline_rules.phrases import in_third_person, items, noun_phrase, object_of, predicate_phrase, usable
from llm.offline_rules.verbs import gerund, is_gerund, lemma, third
from llm.offline_rules.words import FREQUENCY, INSTRUMENTS, LANGUAGES, TOOLS

_ABOUT_ANSWERS = re.compile(
    r"\b(?:answers?|repl(?:y|ies)|responses?|explanations?|summaries|examples)\b", re.IGNORECASE
)
_WISHED_VERBS = frozenset(
    "visit travel learn live move become own build start open write study climb run publish adopt go see attend retire "
    "speak play master get buy work return volunteer sail swim sing lose teach emigrate".split()
)


def like(clause: Clause, said: date) -> list[Draft]:
    """I like/love/enjoy X, Y and Z; I hate X; I do not like X. One fact for each thing, so that they never disagree."""
    wish = clause.tense == "modal" and clause.modal == "would"
    if wish:
        return wanted(clause, said) if not clause.negated else []
    if clause.tense in {"past", "modal", "future", "formerly", "perfect_progressive"} or _ABOUT_ANSWERS.search(
        clause.rest
    ):
        return []
    if clause.tense == "progressive" and clause.verb != "enjoy":
        return []
    compared = re.match(r"(?P<one>[^,]+?) (?P<how>more|better) than (?P<two>[^,]+)$", object_of(clause.rest))
    if compared:
        one, two = usable(compared["one"]), usable(compared["two"])
        if not (one and two and slug(one) and slug(two)) or clause.negated or clause.verb == "hate":
            return []
        both = "_or_".join(sorted((slug(one, words=3), slug(two, words=3))))
        return draft("profile", join("preference", both), f"Likes {one} {compared['how']} than {two}", 0.85)
    dislikes = clause.negated or clause.verb in {"hate", "dislike", "detest", "loathe", "despise"}
    if clause.negated and clause.verb in {"hate", "dislike"}:
        return []
    if clause.tense in {"progressive"} and not is_gerund(clause.rest.split(" ")[0].lower()):
        return []
    return tastes(clause.rest, dislikes=dislikes)


_SOUNDS_VIOLENT = re.compile(r"(?:shooting|killing|hurting|hitting) (?:people|men|women|kids)", re.IGNORECASE)


def tastes(rest: str, *, dislikes: bool = False) -> list[Draft]:
    """Return a taste for each thing of an enumeration; "especially X" adds X."""
    more = re.search(r",?\s(?:especially|particularly|such as|like|including)\s+(?P<more>.+)$", rest)
    things = items(rest) + (
        items(more["more"])
        if more and not more["more"].startswith(("when", "if", "on ", "in ", "after", "the ", "going"))
        else []
    )
    kind, verb = ("dislikes", "Dislikes") if dislikes else ("likes", "Likes")
    return [
        found
        for thing in things
        if not (_SOUNDS_VIOLENT.match(thing) or (thing.startswith("their ") and len(thing.split()) < 3))
        for found in draft("profile", (kind, thing), f"{verb} {_lower_start(thing)}", 0.85)
    ]


def _lower_start(thing: str) -> str:
    first = thing.split()[0]
    return gerund_lower(thing) if is_gerund(first.lower()) else thing


def gerund_lower(thing: str) -> str:
    """Return the thing with a lower-case first letter."""
    return thing[:1].lower() + thing[1:]


def stand(clause: Clause, said: date) -> list[Draft]:
    """I can't stand X."""
    unstable = re.match(r"(?:up|still|by|on|in|out|there|here|at|behind|straight|for|to)\b", clause.rest)
    return tastes(clause.rest, dislikes=True) if clause.modal == "can" and clause.negated and not unstable else []


def prefer(clause: Clause, said: date) -> list[Draft]:
    """I prefer tea to coffee; I prefer X."""
    if clause.negated or clause.tense not in {"present", "modal"} or (clause.modal not in {"", "would"}):
        return []
    if _ABOUT_ANSWERS.search(clause.rest):
        return []
    versus = re.match(
        r"(?P<one>[^,]+?) (?P<link>to|over|than|rather than|instead of) (?P<two>[^,]+)$", object_of(clause.rest)
    )
    if versus and not versus["one"].startswith("to ") and versus["one"] != "not":
        one, two = in_third_person(versus["one"]), in_third_person(re.sub(r" ones$", "", versus["two"]))
        two = f"{two} ones" if two and versus["two"].endswith(" ones") else two
        if one and two and slug(one) and slug(two) and len(one.split()) < 6 and len(two.split()) < 6:
            both = "_or_".join(sorted((slug(one, words=3), slug(two, words=3))))
            return draft("profile", join("preference", both), f"Prefers {one} {versus['link']} {two}", 0.9)
        return []
    text = re.sub(r"^to be ", "being ", clause.rest)
    text = re.sub(r"^to (?!the)", "", text) if re.match(r"to [a-z]+", text) else text
    if clause.modal == "would" or re.match(
        r"(?:not|if|that|a different|another|the (?:first|second|latter|former|other|one))\b", clause.rest
    ):
        return []
    phrase = noun_phrase(text)
    infinitive = clause.rest.startswith("to ") and not clause.rest.startswith("to the")
    return draft(
        "profile",
        ("preference", phrase or ""),
        f"Prefers {'to ' if infinitive else ''}{phrase}" if phrase else None,
        0.85,
    )


def wanted(clause: Clause, said: date) -> list[Draft]:
    """I want to visit Japan; I would love to learn X; my dream is to X: lasting wishes, not requests of the moment."""
    wish = re.match(r"to (?:one day |someday |really |finally |also )?(?P<verb>[a-z]+)\b(?P<what>.*)", clause.rest)
    if clause.negated or not wish or wish["verb"] not in _WISHED_VERBS or clause.tense in {"past"}:
        return []
    what = predicate_phrase(wish["what"].strip()) or ""
    light = wish["verb"] in {
        "go",
        "see",
        "get",
        "start",
        "play",
        "run",
        "work",
        "write",
        "return",
        "buy",
        "move",
        "study",
        "attend",
        "live",
        "learn",
        "become",
    }
    concrete = re.search(
        r"\b[A-Z]\w|\b(?:marathon|job|business|house|company|book|novel|country|abroad|language|instrument|fit|married|degree|phd|piano|guitar|pilot|doctor|vegan|northern lights|world)\b",
        what,
    )
    if (light and not concrete and wish["verb"] not in {"learn", "become", "study", "live"}) or (
        wish["verb"] not in {"retire", "travel", "emigrate", "volunteer"} and not what
    ):
        return []
    if re.match(
        r"(?:about|more|how (?!to)|a (?:bit|movie|film|new (?:skill|thing))|some(?:thing)?\b(?! (?:\w+ )?(?:cities|countries|skills))|better|from|what|if|why|when|the (?:result|code|list|answer))",
        what,
    ):
        return []
    if wish["verb"] == "go" and not re.match(
        r"(?:back )?to (?:the )?(?:[A-Z]|university|college|med|law|grad)|(?:skydiving|diving|abroad)", what
    ):
        return []
    intent = {"want": "Wants", "would": "Would like"}.get(clause.verb, "Would like")
    return draft("profile", ("goal", f"{wish['verb']} {what}"), f"{intent} to {wish['verb']} {what}", 0.75)


def eat(clause: Clause, said: date) -> list[Draft]:
    """I don't eat pork; I can't eat peanuts; I don't drink; I no longer smoke; I drink tea every morning."""
    rest = re.sub(r"\b(?:any ?more|any longer|at all|any|much|a lot of)\b\s*", "", clause.rest).strip(" ,")
    if not clause.negated and clause.tense != "formerly":
        return habit(clause, said) if clause.verb != "smoke" or not rest else []
    stopped = clause.no_longer or bool(re.search(r"any ?more|any longer", clause.rest))
    start = (
        "Used to"
        if clause.tense == "formerly"
        else "Cannot"
        if clause.modal == "can"
        else "No longer"
        if stopped
        else "Does not"
    )
    passing = re.search(r"\b(?:now|today|tonight|yet|and (?:drive|run|talk|sleep))\b", clause.rest)
    if (
        clause.tense in {"past", "perfect", "future"}
        or (clause.modal and clause.modal != "can")
        or (clause.modal and passing)
    ):
        return []
    verb = clause.verb + ("s" if start == "No longer" else "")
    if not rest or rest in {"cigarettes", "alcohol"}:
        key = {"drink": "diet.alcohol", "smoke": "smoking"}.get(clause.verb)
        return draft("profile", key, f"{start} {verb} {rest}", 0.9) if key else []
    things = items(re.sub(r"^(?:anything|food|foods|things) (?:with|containing|that contains?) ", "", rest))
    return [
        found
        for thing in things
        if not re.search(r"\b(?:today|tonight|yet|right now|lunch|breakfast|dinner)\b", thing)
        for found in draft("profile", ("diet", thing), f"{start} {verb} {thing}", 0.9)
    ]


def avoid(clause: Clause, said: date) -> list[Draft]:
    """I avoid gluten; I follow a keto diet; I keep kosher; I quit smoking; I stopped eating meat."""
    if clause.verb in {"quit", "stop", "give"} and clause.tense in {"past", "perfect"} and not clause.negated:
        rest, _ = timed(clause, said, future=False)
        return _given_up(re.sub(r"^up ", "", object_of(rest)))
    if clause.tense != "present" or clause.negated or clause.verb in {"quit", "stop", "give"}:
        return []
    if clause.verb in {"keep", "follow", "observe"}:
        diet = re.match(r"(?:an? )?(?P<diet>kosher|halal|(?:[\w-]+ ){0,2}diet)\b", clause.rest)
        return draft("profile", "diet", clause.predicate(diet[0]) if diet else None, 0.85)
    return [
        found
        for thing in items(clause.rest)
        if not is_gerund(thing.split()[0].lower())
        for found in draft("profile", ("diet", thing), f"Avoids {thing}", 0.8)
    ]


def _given_up(what: str) -> list[Draft]:
    """Return what "I stopped ..." says: smoking, drinking (coffee), eating meat, sugar."""
    done = re.match(r"(?P<verb>smoking|drinking|eating|using)(?: (?P<thing>[\w -]{2,25}))?$", what)
    if done:
        verb, thing = third(lemma(done["verb"])), done["thing"] or ""
        if thing and usable(thing) is None:
            return []
        alone = {"smoking": "smoking", "drinking": "diet.alcohol"}.get(done["verb"], "")
        area = "tools" if done["verb"] == "using" else "diet"
        if not thing:
            return draft("profile", alone, f"No longer {verb}", 0.85) if alone else []
        return draft(
            "profile", "smoking" if done["verb"] == "smoking" else (area, thing), f"No longer {verb} {thing}", 0.85
        )
    if what in {
        "meat",
        "sugar",
        "coffee",
        "caffeine",
        "alcohol",
        "dairy",
        "gluten",
        "bread",
        "soda",
        "cigarettes",
        "wine",
    }:
        return draft("profile", "smoking" if what == "cigarettes" else ("diet", what), f"Gave up {what}", 0.85)
    return []


_HABIT_VERBS = frozenset(
    "run jog swim cycle bike hike walk ride climb meditate journal cook bake garden paint draw sing dance knit read write "
    "practice practise play train exercise stretch commute drive travel eat drink listen watch sleep wake get go do take "
    "spend volunteer teach attend visit call explore study fish sail ski surf row skate lift pray fast blog stream use "
    "have wear shop order buy work start finish meet grow make program code discuss".split()
)
_WEAK_HABIT = frozenset(
    "get go do take have start finish make use wear call buy watch meet work sleep order discuss".split()
)


def habit(clause: Clause, said: date) -> list[Draft]:
    """I run every morning; I usually listen to jazz. Needs a frequency, else it is no habit."""
    if clause.negated or clause.verb not in _HABIT_VERBS or clause.tense not in {"present", "perfect_progressive"}:
        return []
    opening = FREQUENCY.search(clause.opening)
    rest = f"{clause.rest} {opening[0].lower()}" if opening else clause.rest
    frequency = FREQUENCY.search(rest)
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
        not frequency
        and (clause.habit not in rare or clause.verb in _WEAK_HABIT)
        or clause.tense == "perfect_progressive"
    ):
        return []
    phrase = predicate_phrase(rest)
    if not phrase or re.match(r"(?:up|to|home|back|here|out)$", phrase) or len(phrase) < 3:
        return []
    bare = FREQUENCY.sub("", rest)
    bare = (
        re.sub(r"\bat \d[\d:.]*\s*(?:am|pm)?|\b(?:about|for|at least|around|roughly)\b.*", "", bare)
        if clause.verb != "spend"
        else bare
    )
    name = f"{gerund(clause.verb)} {re.split(',', object_of(bare))[0] if bare else ''}"
    return draft("profile", ("habit", name), clause.predicate(phrase), 0.8)


def use(clause: Clause, said: date) -> list[Draft]:
    """I use Neovim; we use Postgres for X; I write in Rust; I code in Go; I drive a Skoda."""
    if clause.tense not in {"present", "perfect_progressive", "progressive"}:
        return []
    in_language = re.match(
        r"(?:(?:my|our|most|all|the|code|software|programs|backend|scripts) ?){0,4}in (?P<name>[A-Z][\w+#]*|[\w]+(?:#|\+\+))(?: and (?P<more>[A-Z][\w+#]*))?",
        clause.rest,
    )
    if clause.verb in {"write", "code", "program", "develop", "script"}:
        if in_language and not clause.negated:
            verb = clause.predicate(in_language[0])
            return draft("semantic", ("tools", in_language["name"]), in_third_person(verb), 0.8)
        return habit(clause, said)
    if clause.verb == "drive" or clause.verb == "ride":
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


_HOBBY_VERBS = frozenset(
    "knit crochet sew garden paint juggle meditate surf ski snowboard box fence fish hike climb swim dance sculpt journal sail "
    "skate birdwatch row bake quilt embroider woodwork brew".split()
)


def hobby(clause: Clause, said: date) -> list[Draft]:
    """I knit; I sing in a choir; I collect vinyl records; I wear glasses: lasting without a frequency."""
    lasting = clause.tense == "perfect_progressive" and bool(re.search(r"\b(?:for|since) ", clause.rest))
    if clause.negated or (clause.tense != "present" and not lasting) or clause.subject != "I":
        return habit(clause, said)
    phrase = noun_phrase(clause.rest, max_words=8) if clause.rest else ""
    if clause.verb == "wear":
        worn = phrase and re.match(
            r"(?:glasses|hearing aids?|contact lenses|contacts|an? (?:hijab|kippah|pacemaker|insulin pump|prosthe\w+))",
            phrase,
        )
        return draft("profile", ("health", phrase or ""), clause.predicate(phrase) if worn else None, 0.85)
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
            r"(?:yoga|pilates|karate|judo|ballet|crossfit|volunteer work|pottery|improv|tai chi|aikido|taekwondo|triathlons|gymnastics|calligraphy|archery|woodworking|ceramics)\b",
            phrase,
        )
    )
    plain = exercise or clause.verb in _HOBBY_VERBS and (not clause.rest or (phrase and len(phrase.split()) <= 3))
    if (plain or together or gathers) and not FREQUENCY.search(clause.rest) and phrase is not None:
        clause_name = re.sub(r"\s+(?:for|since) .*", "", phrase)
        return draft("profile", ("habit", f"{gerund(clause.verb)} {clause_name}"), clause.predicate(phrase), 0.8)
    return habit(clause, said)


def support(clause: Clause, said: date) -> list[Draft]:
    """I support Arsenal: a club, not a cause of the moment."""
    club = re.match(r"[A-Z][\w.-]*(?: [A-Z][\w.-]*){0,2}$", object_of(clause.rest))
    return (
        draft("profile", ("supports", club[0]), f"Supports {club[0]}", 0.8)
        if club and clause.tense == "present" and not clause.negated
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
    r"(?:an?|my|our)(?: (?:own|new|first|second|little|small|old))* (?:[\w-]+ ){0,2}?(?:novel|book|memoir|thesis|dissertation|screenplay|"
    r"play|musical|album|game|video game|app|mobile app|telescope|house|tiny house|boat|canoe|cabin|shed|treehouse|guitar|robot|"
    r"startup|company|compiler|programming language|synthesizer|greenhouse|campervan|van|motorcycle|kitchen|bathroom|"
    r"cookbook|podcast|documentary|film|short film|quilt|blog|newsletter|saas|marketplace|chicken coop|model railway|dollhouse|phd thesis)s?\b.*",
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
    verb = "Does not speak" if clause.negated else "Speaks"
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
    if clause.tense == "present" and not re.match(r"[A-Z]\w+$", object_of(clause.rest)):
        return []
    rest = re.sub(r"\s+(?:recently|lately|these days|now)\b", "", clause.rest)
    skill = re.match(r"(?:how )?to (?P<verb>[a-z]+)(?P<what>.*)", rest)
    if skill:
        what = noun_phrase(skill["what"].strip(), max_words=5) or ""
        if (
            skill["what"].strip()
            and not what
            and not re.match(r"\s+(?:recently|lately|but|and|because)|\W", skill["what"])
        ):
            return []
        return draft(
            "profile", ("learning", f"{gerund(skill['verb'])} {what}"), f"Is learning to {skill['verb']} {what}", 0.85
        )
    thing = noun_phrase(re.sub(r"^(?:about|some|more about) ", "", rest), max_words=6)
    if not thing or re.match(r"(?:a )?(?:lot|new|so|from|how|what|many|much|the hard)\b", thing):
        return []
    name = re.split(r"\s+(?:for|on|at|with|since|in|through|from|by)\b", thing)[0]
    lasting = re.search(r"\b(?:for|since) ", thing) and clause.tense == "perfect_progressive"
    return draft("profile", ("learning", name), clause.predicate(thing) if lasting else f"Is learning {thing}", 0.85)


def play(clause: Clause, said: date) -> list[Draft]:
    """I play the cello; I have been playing chess for ten years; I used to play football."""
    if clause.tense in {"past", "future"} or clause.negated or (clause.modal and clause.modal != "can"):
        return []
    thing = noun_phrase(clause.rest, max_words=10)
    name = re.split(r"\s+(?:for|in|with|at|on|since|every|as|and|once|twice)\b", thing or "")[0]
    bare = re.sub(r"^(?:the|some|a|a bit of) ", "", name)
    known = bare.lower() in INSTRUMENTS or re.fullmatch(
        r"(?:the )?(?:chess|football|soccer|tennis|basketball|volleyball|handball|hockey|golf|cricket|rugby|badminton|table tennis|squash|"
        r"padel|bridge|poker|go|baseball|softball|video games|board games|darts|d&d|dungeons|minecraft|ping pong|ultimate frisbee|"
        r"lacrosse|water polo|[\w ]{0,20}(?:guitar|piano|drums|flute))|[A-Z][\w' ]{2,25}",
        bare,
    )
    if not thing or not known or (clause.modal and bare.lower() not in INSTRUMENTS):
        return hobby(clause, said)
    return draft("profile", ("plays", bare), clause.predicate(thing), 0.85)
