"""Cut the object out of what follows a verb and put it into the third person; must not know any rule."""

import re

from llm.offline_rules.verbs import gerund, is_gerund, lemma
from llm.offline_rules.words import (
    EMPTY_MODIFIERS,
    EMPTY_NOUNS,
    EMPTY_VERBS,
    LANGUAGES,
    NATIONALITIES,
    PRONOUNS,
    VAGUE,
    word_set,
)

_END = re.compile(
    r"(?<!Prof)(?<!Dr)(?<!Mr)(?<!Mrs)(?<!Ms)(?<!St)\.(?=\s|$)"
    r"|(?::(?!\d))|[;!?()\[\]{}<>|]|\s[-–—]+\s|,? and [\w' ]{1,30}? (?:can|is|are|was|were|will|would|"
    r"helps?|makes?)\b|,?\s+(?:because|cause|since|although|though|but|which|who|whose|where|when|whenever|while|"
    r"so that|so|as (?!a\b|an\b|the\b)|that|if|unless|until|even|once|whereas|especially|particularly|including|"
    r"like|such as|even though|"
    r"whether|thanks to|due to|despite|hoping|feeling|in order|mostly because|by the way|btw|and (?:I|we|my|it|they|"
    r"he|she|you|"
    r"am|have|had|then|so|that|want|would|will|can|feel|felt|find|found|think|need|always|also|loved|enjoyed|liked|"
    r"hated|wanted|visited|decided|realized|learned|really|"
    r"just|still|usually|sometimes|often|never|cannot|do not)|or (?:something|so|anything|whatever))\b",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:[\s,]+(?:too|after all|as well|very much|so much|a lot|the most|the best|most of all|in general|in particular|"
    r"generally|at all|"
    r"these days|lately|recently|sometimes|right now|right|at the moment|currently|now|today|next|anymore|any more|"
    r"any longer|"
    r"already|again|"
    r"actually|though|tho|haha|lol|please|thanks|thank you|here|now and then|a bit|a little|overall|and|or|with|to|"
    r"of|for|etc|and so on|and more|and stuff|and such|either|alone|more|btw|fyi|yet|of course|you know|mostly|usually|"
    r"in my (?:free|spare) time|for fun|on the side|nowadays|for now|for sure|as always|too much|someday|some day|"
    r"one day|sometime|eventually|soon))+$",
    re.IGNORECASE,
)
_TO_THIRD = {
    "my": "their",
    "our": "their",
    "me": "them",
    "us": "them",
    "myself": "themselves",
    "ourselves": "themselves",
    "mine": "theirs",
    "ours": "theirs",
}
_EASY = re.compile(
    r"^(?:all (?:kinds|sorts|types) of |any kind of |lots of |a lot of |some |both |the idea of |to be |good |nice |"
    r"really |very |just |also |mostly |mainly |more |a good |a nice |any |doing |all )+",
    re.IGNORECASE,
)
_PLACE_WORDS = word_set(
    "sea beach outdoors mountains mountain ocean forest woods rain snow cold heat sun countryside water theater "
    "theatre "
    "gym arts dark stars night smell sound beatles cure opera cinema blues color colour winter summer"
)
MAX_WORDS = 8


def object_of(rest: str) -> str:
    """Return the object at the start of `rest`, up to a sensible boundary; it may hold commas of a list."""
    end = _END.search(" " + rest)
    text = rest[: max(end.start() - 1, 0)] if end else rest
    return _TAIL.sub("", text.strip(" ,")).strip(" ,\"'" if text.count('"') == 1 else " ,")


def noun_phrase(rest: str, *, max_words: int = MAX_WORDS) -> str | None:
    """Return one noun phrase (no list) in the third person, or None when it says nothing on its own."""
    text = re.split(r",\s", object_of(rest), maxsplit=1)[0]
    return in_third_person(text) if 0 < len(text.split()) <= max_words and not is_empty(text) else None


def predicate_phrase(rest: str, *, max_words: int = 14) -> str | None:
    """Return the whole object, commas included, in the third person, or None when it leans on what is not there."""
    text = object_of(rest)
    return in_third_person(text) if 0 < len(text.split()) <= max_words and not is_empty(text) else None


def is_empty(phrase: str) -> bool:
    """Say whether a phrase names a class of things and not which: "at a company", "learning some new skills"."""
    words = [word.strip(",.'\"") for word in phrase.lower().split()]
    while len(words) > 1 and words[0] in _LEADING_IN:
        words.pop(0)
    return bool(words) and words[-1] in EMPTY_NOUNS and all(word in EMPTY_MODIFIERS for word in words[:-1])


def in_third_person(text: str) -> str | None:
    """Return `text` with my -> their and the like, or None when it speaks of somebody who is not named in it."""
    words = []
    for word in text.split():
        bare = word.lower().strip(",.'\"")
        if bare in PRONOUNS or bare in {"we", "im"}:
            return None
        words.append(word.lower().replace(bare, _TO_THIRD[bare]) if bare in _TO_THIRD else word)
    return " ".join(words) or None


_LEADING_IN = EMPTY_VERBS | word_set("in at on for with to about into how")


def items(rest: str) -> list[str]:
    """Return the things of an enumeration ("painting, playing piano and tea tasting"), each usable on its own."""
    text = _EASY.sub("", object_of(_normal_infinitive(rest)))
    if not text:
        return []
    parts = [part.strip(" ,") for part in re.split(r",\s*(?:and |or |& )?|\s+(?:and|or)\s+", text) if part.strip(" ,")]
    if not 1 < len(parts) <= 8 or not _separable(parts):
        parts = [text]
    found = []
    for part in parts:
        thing = usable(_EASY.sub("", _TAIL.sub("", part)))
        if thing:
            found.append(thing)
    return found


_ADJECTIVE = re.compile(
    r"(?:simple|comfortable|quiet|loud|hot|cold|sweet|spicy|salty|sour|bitter|fresh|light|dark|red|white|black|green|big|"
    r"small|old|new|modern|classic|warm|soft|strong|short|long|funny|scary|dry|rainy|sunny|cloudy|cheap|fast|slow|rich|crispy|healthy|"
    r"baked|fried|grilled|fine|foreign|local|\w+(?:ical|ional|able|ible|ful|less|ous|ive|ese|ish|ern|ental))",
    re.IGNORECASE,
)


def _separable(parts: list[str]) -> bool:
    """A list can be taken apart unless its first member governs the others ("listening to jazz and soul")."""
    first, others = parts[0].split(), parts[1:]
    first_is_phrase = len(first) > 1 and is_gerund(first[0].lower())
    if first_is_phrase and not all(is_gerund(part.split()[0].lower()) or len(part.split()) > 1 for part in others):
        return False
    shared_head = len(parts[0].split()) == 1 and parts[0][0].isupper() and re.match(r"[A-Z]\w+ [a-z]", parts[-1])
    adjective = len(parts) == 2 and _ADJECTIVE.fullmatch(parts[0]) and len(parts[1].split()) == 2
    pair = " ".join(parts).lower() in _PAIRS
    return not (pair or shared_head or adjective or _share_noun(parts) or _share_origin(parts))


# Two words that name one thing.
_PAIRS = word_set(
    "rock_roll drum_bass rhythm_blues fish_chips mac_cheese macaroni_cheese arts_crafts bed_breakfast bread_butter "
    "food_drink track_field salt_vinegar gin_tonic war_peace peace_quiet pen_paper sun_sand song_dance"
)


_GENRES = word_set(
    "action adventure comedy horror romance romantic drama thriller sci-fi fantasy mystery crime detective war western "
    "documentary animated classical jazz rock pop folk country electronic indie metal blues soul funk latin historical "
    "military board card video team water winter street"
)
_KINDS = word_set(
    "movies films shows series books novels stories music songs games sports dramas literature art fiction "
    "documentaries concerts dance dances"
)
_CULTURE = word_set(
    "culture music cuisine food dishes history art literature film films movies dramas books language architecture "
    "traditions design poetry cinema dance theater theatre philosophy folklore fashion customs wine cheese"
)


def _share_noun(parts: list[str]) -> bool:
    """Say whether the last noun belongs to all: "action and comedy movies"."""
    last = parts[-1].lower().split()
    return len(last) > 1 and last[-1] in _KINDS and all(part.lower() in _GENRES for part in parts[:-1])


def _share_origin(parts: list[str]) -> bool:
    """Say whether the origin of the first belongs to all: "Spanish culture, music and cuisine"."""
    first = parts[0].lower().split()
    return (
        len(first) == 2
        and first[0] in NATIONALITIES | LANGUAGES | {"european", "asian", "african", "western", "eastern", "ancient"}
        and all(part.lower() in _CULTURE for part in [first[1], *parts[1:]])
    )


def _normal_infinitive(rest: str) -> str:
    """Turn "to swim and (to) listen to jazz" into "swimming and listening to jazz"."""
    found = re.match(r"to ((?:not |always |just |really )?)([a-z]+)\b", rest)
    if not found:
        return rest
    text = gerund(found[2]) + rest[found.end() :]
    return re.sub(r"(,| and| or)( to)? ([a-z]+)\b(?= |,|$)", _also_gerund, text)


_BARE_VERBS = word_set(
    "go listen watch read play swim run hike cook bake draw paint sing dance travel ski walk ride write try visit "
    "eat drink "
    "take spend meet make collect shop volunteer solve study drink photograph knit sew build code garden camp "
    "climb explore learn jog cycle bike fish sail surf meditate relax"
)


def _also_gerund(found: re.Match[str]) -> str:
    return f"{found[1]} {gerund(found[3])}" if found[2] or found[3] in _BARE_VERBS else found[0]


def usable(thing: str) -> str | None:
    """Return the thing in the third person, or None when it is vague, about the listener or leans on the context."""
    thing = thing.strip(" ,.!")
    words = thing.split()
    if not 1 <= len(words) <= 7 or len(thing) < 2:
        return None
    lowered = [word.lower().strip(",.'\"") for word in words]
    if (
        lowered[0]
        in {
            "the",
            "how",
            "to",
            "as",
            "at",
            "in",
            "on",
            "with",
            "about",
            "for",
            "being",
            "having",
            "when",
            "by",
            "her",
            "more",
            "not",
            "no",
        }
        and not (
            lowered[0] == "the"
            and (words[-1][0].isupper() or (words[1:2] and (words[1][0].isupper() or lowered[1] in _PLACE_WORDS)))
        )
        and not re.match(r"the (?:\w+ ){1,2}of (?:the )?[A-Z]", thing)
    ):
        return None
    if lowered[-1] in VAGUE and len(words) <= 2 and not words[0].istitle():
        return None
    if is_empty(thing) or (lowered[0] in {"chatting", "talking"} and "with" in lowered[:2]):
        return None
    return in_third_person(thing)


def skill(thing: str) -> tuple[str, str]:
    """Return a skill's name and its words after "learn": ("cooking", "to cook") for "to cook" and for "cooking"."""
    found = re.match(
        r"(?:how )?to (?P<adverb>(?:(?:better|properly|really|actually|more|\w+ly) )*)(?P<verb>[a-z]+)\b(?P<what>.*)",
        thing,
    )
    if found:
        words = f"{found['verb']}{found['what']}"
        return f"{gerund(found['verb'])}{found['what']}", f"to {found['adverb']}{words}"
    first, _, what = thing.partition(" ")
    if is_gerund(first):
        return thing, f"to {lemma(first)} {what}".strip()
    return thing, thing
