"""A few plain statements in German, French and Spanish; content stays in that language; must not translate."""

import re
from datetime import date

from llm.offline_rules.drafts import Draft, MemoryType, draft

_NAME = r"(?P<x>[A-ZÀ-Þ][\w'’-]+(?: [A-ZÀ-Þ][\w'’-]+){0,2})"
_THING = r"(?P<x>[\w'’-]+(?: [\w'’-]+){0,2})"
_PATTERNS: tuple[tuple[re.Pattern[str], MemoryType, str, str], ...] = tuple(
    (re.compile(pattern), kind, key, content)
    for pattern, kind, key, content in (
        (rf"^(?:Hallo,? )?[Ii]ch hei(?:ß|ss)e {_NAME}$", "profile", "name", "Heißt {x}"),
        (rf"^[Mm]ein Name ist {_NAME}$", "profile", "name", "Heißt {x}"),
        (rf"^[Ii]ch (?:wohne|lebe) (?:jetzt |seit \w+ )?in {_NAME}$", "profile", "home.city", "Wohnt in {x}"),
        (rf"^[Ii]ch komme aus (?:der |dem )?{_NAME}$", "profile", "origin", "Kommt aus {x}"),
        (
            rf"^[Ii]ch arbeite (?:als (?P<role>[A-Z][\w-]+) )?(?:bei|für) (?:der |dem )?{_NAME}$",
            "profile",
            "work.employer",
            "Arbeitet bei {x}",
        ),
        (r"^[Ii]ch (?:arbeite als|bin von Beruf) (?P<x>[A-ZÄÖÜ][\w-]+)$", "profile", "work.role", "Arbeitet als {x}"),
        (r"^[Ii]ch bin (?P<x>Vegetarier(?:in)?|Veganer(?:in)?|vegetarisch|vegan)$", "profile", "diet", "Ist {x}"),
        (rf"^[Ii]ch bin (?:\w+ )?allergisch (?:gegen|auf) {_THING}$", "profile", "allergy", "Ist allergisch gegen {x}"),
        (
            rf"^[Ii]ch mag (?:sehr )?(?:gerne? )?(?!nicht|kein|das|es|dich|die|den|ihn|sie){_THING}$",
            "profile",
            "likes",
            "Mag {x}",
        ),
        (r"^[Ii]ch lerne (?:gerade )?(?P<x>[A-ZÄÖÜ]\w+)$", "profile", "learning", "Lernt {x}"),
        (
            r"^[Ii]ch habe (?P<x>(?:einen?|zwei|drei|vier) (?:Hund|Katzen?|Hunde|Kinder|Kind|Söhne|Töchter|Tochter|Sohn|Schwester|Bruder|Brüder|Schwestern))$",
            "profile",
            "family",
            "Hat {x}",
        ),
        (rf"^[Jj]e m'appelle {_NAME}$", "profile", "name", "S'appelle {x}"),
        (rf"^[Jj]'habite (?:maintenant )?(?:à|en|au) {_NAME}$", "profile", "home.city", "Habite à {x}"),
        (rf"^[Jj]e viens (?:de |d'|du ){_NAME}$", "profile", "origin", "Vient de {x}"),
        (rf"^[Jj]e travaille (?:chez|à|pour) {_NAME}$", "profile", "work.employer", "Travaille chez {x}"),
        (r"^[Jj]e suis (?P<x>végétarien(?:ne)?|végan(?:e)?)$", "profile", "diet", "Est {x}"),
        (rf"^[Jj]e suis allergique (?:aux?|à la|à l'|à) ?{_THING}$", "profile", "allergy", "Est allergique à {x}"),
        (r"^[Jj]'apprends (?:le |l'|la )?(?P<x>\w+)$", "profile", "learning", "Apprend {x}"),
        (rf"^(?:[Hh]ola,? )?[Mm]e llamo {_NAME}$", "profile", "name", "Se llama {x}"),
        (rf"^(?:[Yy]o )?[Vv]ivo (?:ahora )?en {_NAME}$", "profile", "home.city", "Vive en {x}"),
        (rf"^(?:[Yy]o )?[Ss]oy de {_NAME}$", "profile", "origin", "Es de {x}"),
        (rf"^(?:[Yy]o )?[Tt]rabajo (?:en|para) {_NAME}$", "profile", "work.employer", "Trabaja en {x}"),
        (r"^(?:[Yy]o )?[Ss]oy (?P<x>vegetarian[oa]|vegan[oa])$", "profile", "diet", "Es {x}"),
        (
            rf"^(?:[Yy]o )?[Ss]oy alérgic[oa] (?:a los|a las|al|a la|a) {_THING}$",
            "profile",
            "allergy",
            "Es alérgico a {x}",
        ),
        (r"^(?:[Ee]stoy aprendiendo|[Aa]prendo) (?P<x>\w+)$", "profile", "learning", "Aprende {x}"),
    )
)
_MANY = frozenset({"allergy", "likes", "learning", "family"})


def foreign_drafts(sentence: str, said: date) -> list[Draft]:
    """Return the facts of one German, French or Spanish sentence (or its first clause)."""
    head = re.split(r",? (?:und|et|y|aber|mais|pero) |, ", sentence, maxsplit=1)[0]
    for pattern, kind, key, content in _PATTERNS:
        found = pattern.match(head)
        if found:
            thing = found["x"]
            return draft(kind, (key, thing) if key in _MANY else key, content.format(x=thing), 0.85)
    return []
