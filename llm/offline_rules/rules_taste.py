"""Rules for tastes, wishes and diet; each reads one clause about the member."""

import re
from datetime import date

from llm.offline_rules.clauses import Clause
from llm.offline_rules.drafts import Draft, draft, timed, without_purpose
from llm.offline_rules.keys import join, slug
from llm.offline_rules.phrases import in_third_person, items, noun_phrase, object_of, predicate_phrase, skill, usable
from llm.offline_rules.rules_habit import habit
from llm.offline_rules.verbs import is_gerund, lemma, third
from llm.offline_rules.words import word_set

_ABOUT_ANSWERS = re.compile(
    r"\b(?:answers?|repl(?:y|ies)|responses?|explanations?|summaries|examples)\b", re.IGNORECASE
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
    return tastes(clause.rest, dislikes=dislikes, ended=clause.no_longer)


_SOUNDS_VIOLENT = re.compile(r"(?:shooting|killing|hurting|hitting) (?:people|men|women|kids)", re.IGNORECASE)


def tastes(rest: str, *, dislikes: bool = False, ended: bool = False) -> list[Draft]:
    """Return a taste for each thing of an enumeration; "especially X" adds X. `ended`: liked once, no longer."""
    more = re.search(r",?\s(?:especially|particularly|such as|like|including)\s+(?P<more>.+)$", rest)
    examples = more and not more["more"].startswith(("when", "if", "on ", "in ", "after", "the ", "going"))
    of_what = rest[: more.start()] if more else ""
    leans = re.search(r"\b(?:it|them|this|that)\b", of_what)  # "I like to wear it with things such as a belt"
    things = items(rest) + (items(more["more"]) if more and examples and not leans else [])
    kind, verb = ("dislikes", "No longer likes" if ended else "Dislikes") if dislikes else ("likes", "Likes")
    return [
        found
        for thing in things
        if not (_SOUNDS_VIOLENT.match(thing) or (thing.startswith("their ") and len(thing.split()) < 3))
        for found in draft("profile", (kind, thing), f"{verb} {_lower_start(thing)}", 0.85)
    ]


def _lower_start(thing: str) -> str:
    first = thing.split(maxsplit=1)[0]
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


_CONCRETE = (
    r".*(?:\b[A-Z]\w|\b(?:marathon|job|business|house|company|book|novel|country|abroad|language|instrument|degree|phd|"
    r"piano|guitar|northern lights|world|pyramids)\b)"
)
_CONCRETE_VERBS = word_set("move start write run attend see play work return buy")
# What must follow the verb, so that a wish is one for years and not for this conversation.
_WISHES = {
    "visit": r"(?:the )?[A-Z]|(?:some )?(?:[\w-]+ ){1,2}(?:cities|countries|places|islands|relatives)\b",
    "learn": (
        r"(?!about|more|from|what|if|why|when|better|new|a (?:lot|bit|new)|so |some(?:thing)?\b(?! \w+ )|how (?!to)|"
        r"the (?:answer|result|reason|difference|truth)).+"
    ),
    "become": r"(?:an? (?!better|more|good|happy|bit)|the first |vegan|vegetarian).*",
    "live": r"(?:in|on|near|by) (?!the moment|peace|fear|harmony).+|abroad",
    "study": r"(?!hard|better|more|well|for|in (?:the|a|my)|at (?:home|the)|with|every|and)\w+.*",
    "travel": r"$|abroad|(?:to|around|across|through|in) .+",
    "go": r"(?:back )?to (?:the )?(?:[A-Z]|university|college|med|law|grad)|(?:sky)?diving|abroad",
    "get": r"(?:fit|married|a (?:degree|phd|pilot|driver|driving|new job|dog|cat|tattoo)).*",
    "lose": r"(?:weight|(?:\d+|\w+) (?:kg|kilos|pounds)).*",
    "retire": r"",
    "emigrate": r"",
    "volunteer": r"",
    "open": r"an? |their ",
    "own": r"an? |their ",
    "build": r"an? (?:\w+ ){0,2}(?:house|cabin|boat|telescope|company|business|greenhouse|robot)\b",
    "climb": r"(?:Mount |Mt |the )?[A-Z]|a mountain",
    "speak": r"[A-Z]|fluent",
    "publish": r"an? |their ",
    "adopt": r"an? |two ",
    "master": r"\w+",
    "teach": r"[A-Z]|\w+ (?:at|in|to) ",
    "sail": r"(?:around|across|to) ",
    "swim": r"(?:across|the) ",
}


def wanted(clause: Clause, said: date) -> list[Draft]:
    """I want to visit Japan; I would love to learn X; my dream is to X: lasting wishes, always in the same words."""
    rest, when = timed(clause, said, future=True)
    wish = re.match(r"to (?:one day |someday |really |finally |also )?(?P<verb>[a-z]+)\b(?P<what>.*)", rest)
    if clause.negated or not wish or wish["verb"] not in _WISHES.keys() | _CONCRETE_VERBS or clause.tense == "past":
        return []
    verb, what = wish["verb"], predicate_phrase(wish["what"].strip()) or ""
    if (wish["what"].strip() and not what) or not re.match(_WISHES.get(verb, _CONCRETE), what):
        return []
    label = f" {when.label}" if when and when.after > said else ""
    name, words = skill(what) if verb == "learn" and what else (what, what)
    return draft("profile", ("goal", without_purpose(f"{verb} {name}")), f"Would like to {verb} {words}{label}", 0.75)


def eat(clause: Clause, said: date) -> list[Draft]:
    """I don't eat pork; I can't eat peanuts; I don't drink; I no longer smoke; I drink tea every morning."""
    rest = re.sub(r"\b(?:at all|any|(?:too |that |very )?(?:much|many)|a lot of)\b\s*", "", clause.rest).strip(" ,")
    if not clause.negated and clause.tense != "formerly":
        return habit(clause, said) if clause.verb != "smoke" or not rest else []
    start = (
        "Used to"
        if clause.tense == "formerly"
        else "Cannot"
        if clause.modal == "can"
        else "No longer"
        if clause.no_longer
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
    amount = "much " if re.search(r"\b(?:much|a lot of)\b", clause.rest) else ""
    things = items(re.sub(r"^(?:anything|food|foods|things) (?:with|containing|that contains?) ", "", rest))
    return [
        found
        for thing in things
        if not re.search(r"\b(?:today|tonight|yet|right now|lunch|breakfast|dinner)\b", thing)
        for found in draft("profile", ("diet", thing), f"{start} {verb} {amount}{thing}", 0.9)
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
