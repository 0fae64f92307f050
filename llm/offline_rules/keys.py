"""Make a fact's key and fit it to the keys already in use (F03); must not read sentences."""

import re
import unicodedata
from collections.abc import Iterable

from llm.offline_rules.words import word_set

MAX_KEY = 60
_SKIP = word_set(
    "a an the my our their your his her some any really very so just also more most much lot bit is are was be been"
)
# First words of keys that mean the same; another model may have named them differently.
_LOOSE_ENDS = word_set("of in on at to for with and or by from about near them themselves")
_SYNONYMS = {
    "allergies": "allergy",
    "allergic": "allergy",
    "hobby": "likes",
    "hobbies": "likes",
    "like": "likes",
    "love": "likes",
    "loves": "likes",
    "enjoys": "likes",
    "interests": "interest",
    "dislike": "dislikes",
    "pets": "pet",
    "job": "work",
    "career": "work",
    "languages": "language",
    "response": "answers",
    "responses": "answers",
    "answer": "answers",
    "replies": "answers",
    "goals": "goal",
    "habits": "habit",
    "plans": "plan",
    "favourite": "favorite",
    "favorites": "favorite",
    "user": "",
    "profile": "",
    "personal": "",
    "member": "",
}
_SAME = {
    "city": "home.city",
    "location": "home.city",
    "location.city": "home.city",
    "home": "home.city",
    "home.location": "home.city",
    "residence": "home.city",
    "residence.city": "home.city",
    "lives.in": "home.city",
    "country": "home.country",
    "location.country": "home.country",
    "employer": "work.employer",
    "company": "work.employer",
    "work.company": "work.employer",
    "occupation": "work.role",
    "profession": "work.role",
    "work": "work.role",
    "work.title": "work.role",
    "work.occupation": "work.role",
    "first.name": "name",
    "name.first": "name",
    "nickname": "name.preferred",
    "preferred.name": "name.preferred",
    "name.nickname": "name.preferred",
    "diet.type": "diet",
    "diet.vegetarian": "diet",
    "diet.vegan": "diet",
    "birth.month": "birthday",
    "birth.day": "birthday",
    "marital.status": "relationship.status",
    "family.status": "relationship.status",
    "answers.style": "answers.length",
}


def slug(phrase: str, *, words: int = 5, characters: int = 40) -> str:
    """Return `phrase` as lower-case ASCII words joined by "_", without articles; "" when nothing is left."""
    folded = unicodedata.normalize("NFKD", phrase.lower().replace("ß", "ss").replace("ø", "o").replace("'s", ""))
    found = re.findall(r"[a-z0-9+#]+", folded.encode("ascii", "ignore").decode())
    kept = [word.replace("+", "plus").replace("#", "sharp") for word in found if word not in _SKIP][:words]
    while kept and (len("_".join(kept)) > characters or kept[-1] in _LOOSE_ENDS):
        kept.pop()
    return "_".join(kept)


def join(*parts: str) -> str:
    """Return the dotted key of the non-empty parts, at most MAX_KEY characters."""
    return ".".join(part for part in parts if part)[:MAX_KEY].rstrip("._")


def fit(memory_type: str, key: str, known: Iterable[tuple[str, str]]) -> tuple[str, str]:
    """Return the known (memory_type, key) that names the same thing, or the pair as it is.

    A dislike of what is known as liked takes the known key, so that the disagreement comes to light (E05).
    """
    wanted = canonical(key)
    opposite = {"dislikes": "likes", "likes": "dislikes"}
    first, _, tail = wanted.partition(".")
    turned = f"{opposite[first]}.{tail}" if first in opposite else None
    fallback = None
    for known_type, known_key in known:
        name = canonical(known_key)
        if name == wanted and known_type == memory_type:
            return known_type, known_key
        if name in {wanted, turned}:
            fallback = fallback or (known_type, known_key)
    return fallback or (memory_type, key)


def canonical(key: str) -> str:
    """Return the form in which two keys are compared."""
    parts = [part for part in re.split(r"[._\-/: ]+", key.lower()) if part]
    while len(parts) > 1 and _SYNONYMS.get(parts[0]) == "":
        parts = parts[1:]
    if parts:
        parts[0] = _SYNONYMS.get(parts[0], parts[0]) or parts[0]
    name = ".".join(parts)
    return _SAME.get(name, name)
