"""A few plain statements in German, French and Spanish; content stays in that language; must not translate."""

import re
from datetime import date

from llm.offline_rules.drafts import Draft, draft

_NAME = r"(?P<x>[A-ZÀ-Þ][\w'’-]+(?: [A-ZÀ-Þ][\w'’-]+){0,2})"
_THING = r"(?P<x>[\w'’-]+(?: [\w'’-]+){0,2})"
_STATEMENTS: tuple[tuple[str, str, str], ...] = (
    (rf"^(?:Hallo,? )?[Ii]ch hei(?:ß|ss)e {_NAME}$", "name", "Heißt {x}"),
    (rf"^[Mm]ein Name ist {_NAME}$", "name", "Heißt {x}"),
    (rf"^[Ii]ch (?:wohne|lebe) (?:jetzt |seit \w+ )?in {_NAME}$", "home.city", "Wohnt in {x}"),
    (rf"^[Ii]ch komme aus (?:der |dem )?{_NAME}$", "origin", "Kommt aus {x}"),
    (
        rf"^[Ii]ch arbeite (?:als (?P<role>[A-Z][\w-]+) )?(?:bei|für) (?:der |dem )?{_NAME}$",
        "work.employer",
        "Arbeitet bei {x}",
    ),
    (r"^[Ii]ch (?:arbeite als|bin von Beruf) (?P<x>[A-ZÄÖÜ][\w-]+)$", "work.role", "Arbeitet als {x}"),
    (r"^[Ii]ch bin (?P<x>Vegetarier(?:in)?|Veganer(?:in)?|vegetarisch|vegan)$", "diet", "Ist {x}"),
    (rf"^[Ii]ch bin (?:\w+ )?allergisch (?:gegen|auf) {_THING}$", "allergy", "Ist allergisch gegen {x}"),
    (
        rf"^[Ii]ch mag (?:sehr )?(?:gerne? )?(?!nicht|kein|das|es|dich|die|den|ihn|sie){_THING}$",
        "likes",
        "Mag {x}",
    ),
    (r"^[Ii]ch lerne (?:gerade )?(?P<x>[A-ZÄÖÜ]\w+)$", "learning", "Lernt {x}"),
    (
        r"^[Ii]ch habe (?P<x>(?:einen?|zwei|drei|vier) (?:Hund|Katzen?|Hunde|Kinder|Kind|Söhne|Töchter|Tochter|"
        r"Sohn|Schwester|Bruder|Brüder|Schwestern))$",
        "family",
        "Hat {x}",
    ),
    (rf"^[Jj]e m'appelle {_NAME}$", "name", "S'appelle {x}"),
    (rf"^[Jj]'habite (?:maintenant )?(?:à|en|au) {_NAME}$", "home.city", "Habite à {x}"),
    (rf"^[Jj]e viens (?:de |d'|du ){_NAME}$", "origin", "Vient de {x}"),
    (rf"^[Jj]e travaille (?:chez|à|pour) {_NAME}$", "work.employer", "Travaille chez {x}"),
    (r"^[Jj]e suis (?P<x>végétarien(?:ne)?|végan(?:e)?)$", "diet", "Est {x}"),
    (rf"^[Jj]e suis allergique (?:aux?|à la|à l'|à) ?{_THING}$", "allergy", "Est allergique à {x}"),
    (r"^[Jj]'apprends (?:le |l'|la )?(?P<x>\w+)$", "learning", "Apprend {x}"),
    (rf"^(?:[Hh]ola,? )?[Mm]e llamo {_NAME}$", "name", "Se llama {x}"),
    (rf"^(?:[Yy]o )?[Vv]ivo (?:ahora )?en {_NAME}$", "home.city", "Vive en {x}"),
    (rf"^(?:[Yy]o )?[Ss]oy de {_NAME}$", "origin", "Es de {x}"),
    (rf"^(?:[Yy]o )?[Tt]rabajo (?:en|para) {_NAME}$", "work.employer", "Trabaja en {x}"),
    (r"^(?:[Yy]o )?[Ss]oy (?P<x>vegetarian[oa]|vegan[oa])$", "diet", "Es {x}"),
    (
        rf"^(?:[Yy]o )?[Ss]oy alérgic[oa] (?:a los|a las|al|a la|a) {_THING}$",
        "allergy",
        "Es alérgico a {x}",
    ),
    (r"^(?:[Ee]stoy aprendiendo|[Aa]prendo) (?P<x>\w+)$", "learning", "Aprende {x}"),
)
_PATTERNS = tuple((re.compile(pattern), key, content) for pattern, key, content in _STATEMENTS)
_MANY = frozenset({"allergy", "likes", "learning", "family"})


def foreign_drafts(sentence: str, said: date) -> list[Draft]:
    """Return the facts of one German, French or Spanish sentence (or its first clause)."""
    head = re.split(r",? (?:und|et|y|aber|mais|pero) |, ", sentence, maxsplit=1)[0]
    for pattern, key, content in _PATTERNS:
        found = pattern.match(head)
        if found:
            thing = found["x"]
            return draft("profile", (key, thing) if key in _MANY else key, content.format(x=thing), 0.85)
    return []
