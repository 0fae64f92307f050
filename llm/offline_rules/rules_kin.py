"""Rules for the member's relatives, friends and pets, without gossip about colleagues; each reads one clause."""

import re
from datetime import date

from llm.offline_rules import dates
from llm.offline_rules.clauses import Clause
from llm.offline_rules.drafts import Draft, article, draft
from llm.offline_rules.keys import join, slug
from llm.offline_rules.phrases import items, noun_phrase, object_of
from llm.offline_rules.rules_work import employer_of, role_of
from llm.offline_rules.verbs import third
from llm.offline_rules.words import (
    BIRTH_YEAR,
    CIRCLE,
    COLLEAGUES,
    CONDITIONS,
    DIETS,
    FAMILY,
    HEALTH_WORDS,
    MONTH,
    PETS,
    WEEKDAYS,
)

RELATION = re.compile(
    r"^(?P<adj>(?:(?:older|younger|little|big|oldest|youngest|eldest|elder|middle|best|twin|old|late|good|baby|"
    r"first|other|only|dear|close|"
    r"new|beloved|wonderful|lovely|\d+[- ]year[- ]old|\w+[- ]year[- ]old|line|direct|tech|team|product|engineering|"
    r"german|piano|tennis) )*)"
    r"(?P<noun>guinea pig|[\w-]+)(?:,? (?P<name>[A-Z][\w'-]+(?: (?:and )?[A-Z][\w'-]+)?),?)?$"
)


def possessed(clause: Clause, who: str, what: str) -> list[Draft]:
    """My wife's name is X; my sister's birthday is in May."""
    relation = RELATION.match(who)
    noun = relation["noun"].lower() if relation else ""
    if clause.verb != "be" or clause.negated or noun not in FAMILY | CIRCLE | PETS | COLLEAGUES:
        return []
    area = _area(noun)
    if what == "name":
        name = re.match(r"[A-Z][\w'-]+(?: [A-Z][\w'-]+)?", clause.rest)
        return draft("profile", (area, who), f"Has {article(who)} called {name[0]}" if name else None, 0.9)
    when = noun_phrase(clause.rest, max_words=6)
    if not when or not MONTH.search(when) or BIRTH_YEAR.search(when):  # a full birth date is not kept
        return []
    return draft("profile", join(area, slug(who), "birthday"), f"Their {who}'s birthday is {when}", 0.85)


def _area(noun: str) -> str:
    return "pet" if noun in PETS else "family" if noun in FAMILY else "work" if noun in COLLEAGUES else "friend"


def relative(clause: Clause, said: date, relation: re.Match[str], noun: str) -> list[Draft]:
    """My sister (Ines) is a nurse / lives in X / is called X: one fact for each side of her life."""
    who, name = f"{relation['adj']}{relation['noun']}", relation["name"] or ""
    area = _area(noun)
    key = join(area, slug(noun) if area == "pet" else slug(who), slug(name))
    called = _called(clause) if not name else None
    if called:
        return draft("profile", key, f"Has {article(who)} called {called}", 0.9)
    distant = area == "work" or (area == "friend" and not name and "best" not in who)
    if distant or noun in {"ex", "ex-wife", "ex-husband"}:
        return []
    facet, phrase = _relative_facet(clause, said)
    if not facet or not phrase:  # that there is such a relative is news
        return draft("profile", key, f"Has {article(who)} called {name}", 0.75) if name and area != "friend" else []
    if facet == "work" and clause.verb == "be":
        person = f"{article(who)}, {name}," if name else article(who)
        return draft("profile", join(key, "work"), f"Has {person} who is {phrase}", 0.85)
    predicate = lower(clause.predicate(phrase))
    if clause.verb == "be" and clause.word == "are":
        predicate = re.sub(r"^is\b", "are", predicate)
    elif clause.tense == "present" and (noun.endswith("s") or noun in {"children", "grandchildren"}):
        predicate = predicate.replace(third(clause.verb), clause.verb, 1).replace("does not", "do not", 1)
    if clause.negated:  # under the key of what she is not, so that it never fills the place of what she is
        denied = re.sub(r"^(?:allergic|intolerant) to ", "", phrase)
        facet = facet if facet.startswith(("likes", "dislikes")) else join(facet, "not", slug(denied, words=3))
    return draft("profile", join(key, facet), f"Their {who} {name} {predicate}", 0.8)


def _called(clause: Clause) -> str | None:
    """Return the name in "is (called) X"; "is Spanish" names nobody."""
    if clause.verb != "be" or clause.negated or clause.tense != "present":
        return None
    found = re.match(r"(?P<how>called |named )?(?P<name>[A-Z][\w'-]+(?: [A-Z][\w'-]+)?)(?=$|,| and )", clause.rest)
    if not found or found["name"].lower() in WEEKDAYS:
        return None
    people = found["name"].endswith(("ish", "ese", "ian", "can", "man"))
    return found["name"] if found["how"] or not people else None


def lower(text: str) -> str:
    """Return the text with a lower-case first letter."""
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
        r"(?:at |in )?(?:(?:primary|elementary|high|middle|nursery|pre|secondary) ?)?(?:school|kindergarten|college|"
        r"university|daycare|preschool|first grade|walking|crawling)\b.*",
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
        return "", None
    phrase = noun_phrase(rest, max_words=8)
    if re.match(r"(?:an? )?(?:severely )?(?:allergic|intolerant) to ", rest):
        return "allergy", phrase
    if clause.negated or phrase is None:
        return "", None
    if re.match(
        r"\w+(?:[- ]\w+)? (?:years?|months?|weeks?) old\b|\d{1,2}(?:(?:, \d{1,2})* and \d{1,2})?$|(?:one|two|three|"
        r"four|five|six|seven|eight|nine|ten|eleven|twelve)$",
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
        r"an? (?:golden |german |border |black |old |\w+ )?(?:retriever|labrador|shepherd|collie|poodle|beagle|"
        r"corgi|husky|terrier|tabby|siamese|persian|mix|rescue|greyhound|dachshund|pug)\b",
        rest,
        re.IGNORECASE,
    ):
        return "breed", phrase
    return "", None
