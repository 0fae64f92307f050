"""Plain statements in German, French and Spanish; content stays in that language; must not translate."""

import re
from datetime import date
from typing import Final

from llm.offline_rules.drafts import Draft, draft
from llm.offline_rules.words import word_set

_NAME: Final = r"(?P<x>[A-ZÀ-Þ][\w'’-]+(?: (?:(?:de|del|la|am|an der|sur|upon) )*[A-ZÀ-Þ][\w'’-]+){0,2})"
_THING: Final = r"(?P<x>[\w'’-]+(?: [\w'’-]+){0,2})"
_ILLNESS: Final = (
    r"(?P<x>Asthma|Diabetes|Migräne|Zöliakie|Rheuma|Epilepsie|ADHS|Heuschnupfen|Bluthochdruck|l'asthme|(?:du |le "
    r")?diabète|"
    r"la maladie cœliaque|des migraines|asma|diabetes|migrañas?|celiaquía|epilepsia|hipertensión)"
)
_DE_KIN: Final = (
    r"(?P<who>Frau|Mann|Tochter|Sohn|Schwester|Bruder|Mutter|Vater|Freundin|Freund|Partnerin|Partner|Hund|Katze|Kater|"
    r"Hündin|Oma|Opa)"
)
_FR_KIN: Final = (
    r"(?P<who>femme|mari|fille|fils|sœur|soeur|frère|mère|père|compagne|compagnon|chien|chienne|chat|chatte)"
)
_ES_KIN: Final = (
    r"(?P<who>mujer|marido|esposa|esposo|hija|hijo|hermana|hermano|madre|padre|novia|novio|pareja|perro|perra|gato|"
    r"gata)"
)
_PET: Final = word_set("hund katze kater hündin chien chienne chat chatte perro perra gato gata")
# Pattern, key, content. "{x}" is the thing; a key of _MANY gets it as its last part, so that things never disagree.
_STATEMENTS: Final[tuple[tuple[str, str, str], ...]] = (
    (rf"[Ii]ch hei(?:ß|ss)e {_NAME}", "name", "Heißt {x}"),
    (rf"[Mm]ein Name ist {_NAME}", "name", "Heißt {x}"),
    (rf"(?:[Ii]ch (?:wohne|lebe)|wohne ich|lebe ich) in {_NAME}", "home.city", "Wohnt in {x}"),
    (rf"(?:[Ii]ch komme|[Ii]ch bin|komme ich) aus (?:der |dem )?{_NAME}", "origin", "Kommt aus {x}"),
    (
        rf"(?:[Ii]ch arbeite|arbeite ich) (?:als [A-ZÄÖÜ][\w-]+ )?(?:bei|für) (?:der |dem )?{_NAME}",
        "work.employer",
        "Arbeitet bei {x}",
    ),
    (
        r"(?:[Ii]ch arbeite als|arbeite ich als|[Ii]ch bin von Beruf|[Vv]on Beruf bin ich) (?P<x>[A-ZÄÖÜ][\w-]+)",
        "work.role",
        "Arbeitet als {x}",
    ),
    (
        r"[Ii]ch bin (?P<x>[A-ZÄÖÜ]\w+(?:lehrer|ärztin|pfleger|schwester|techniker|meister|arbeiter|berater|ler)"
        r"(?:in)?)",
        "work.role",
        "Ist {x}",
    ),
    (r"[Ii]ch bin (?P<x>Vegetarier(?:in)?|Veganer(?:in)?|vegetarisch|vegan)", "diet", "Ist {x}"),
    (rf"[Ii]ch bin (?:\w+ )?allergisch (?:gegen|auf) {_THING}", "allergy", "Ist allergisch gegen {x}"),
    (r"[Ii]ch esse (?P<at>kein(?:e|en)?) (?P<x>[A-ZÄÖÜ]\w+)", "diet", "Isst {at} {x}"),
    (r"[Ii]ch trinke (?P<at>kein(?:e|en)?) (?P<x>[A-ZÄÖÜ]\w+)", "diet", "Trinkt {at} {x}"),
    (rf"[Ii]ch habe {_ILLNESS}", "health", "Hat {x}"),
    (
        rf"[Ii]ch (?:mag|liebe) (?:sehr )?(?:gerne? )?(?!nicht|kein|das|es|dich|die|den|ihn|sie|dein){_THING}",
        "likes",
        "Mag {x}",
    ),
    (r"[Ii]ch lerne (?P<x>[A-ZÄÖÜ]\w+)", "learning", "Lernt {x}"),
    (r"[Ii]ch spreche (?P<x>[A-ZÄÖÜ]\w+(?:sch|isch))", "language", "Spricht {x}"),
    (r"[Ii]ch spiele (?!mit |gegen |auf |heute )(?P<x>[A-ZÄÖÜ]\w+)", "plays", "Spielt {x}"),
    (r"[Ii]ch bin (?P<x>verheiratet|ledig|geschieden|verwitwet|verlobt)", "relationship.status", "Ist {x}"),
    (
        r"[Ii]ch habe (?P<x>(?:einen?|zwei|drei|vier) (?:Hund|Katzen?|Hunde|Kinder|Kind|Söhne|Töchter|Tochter|"
        r"Sohn|Schwester|Bruder|Brüder|Schwestern))",
        "family",
        "Hat {x}",
    ),
    (rf"[Mm](?P<at>eine?) {_DE_KIN} hei(?:ß|ss)t {_NAME}", "kin", "Hat {at} {who} namens {x}"),
    (r"(?:[Bb]itte )?(?P<x>[Dd]uze|[Ss]ieze) mich", "answers.address", "Möchte ge{x}t werden"),
    (rf"[Jj]e m'appelle {_NAME}", "name", "S'appelle {x}"),
    (rf"[Jj]'habite (?P<at>à|en|au|aux|près de) {_NAME}", "home.city", "Habite {at} {x}"),
    (rf"[Jj]e (?:viens|suis originaire) (?P<at>de |d'|du ){_NAME}", "origin", "Vient {at}{x}"),
    (rf"[Jj]e travaille (?P<at>chez|à|pour) {_NAME}", "work.employer", "Travaille {at} {x}"),
    (r"[Jj]e travaille comme (?P<x>\w+)", "work.role", "Travaille comme {x}"),
    (r"[Jj]e suis (?P<x>végétarien(?:ne)?|végan(?:e)?)", "diet", "Est {x}"),
    (r"[Jj]e suis (?P<x>marié|mariée|célibataire|divorcé|divorcée|veuf|veuve)", "relationship.status", "Est {x}"),
    (rf"[Jj]e suis allergique (?P<at>aux?|à la|à l'|à) ?{_THING}", "allergy", "Est allergique {at} {x}"),
    (rf"[Jj]'ai {_ILLNESS}", "health", "A {x}"),
    (r"[Jj]e ne mange pas (?:de |d')(?P<x>\w+)", "diet", "Ne mange pas de {x}"),
    (rf"[Jj]'(?:adore|aime) (?P<at>le |la |l'|les )(?!idée){_THING}", "likes", "Aime {at}{x}"),
    (r"[Jj]'apprends (?P<at>le |l'|la )?(?P<x>\w+)", "learning", "Apprend {at}{x}"),
    (rf"(?P<at>[Mm]on|[Mm]a) {_FR_KIN} s'appelle {_NAME}", "kin", "A {at} {who} qui s'appelle {x}"),
    (rf"[Mm]e llamo {_NAME}", "name", "Se llama {x}"),
    (rf"(?:[Yy]o )?[Vv]ivo en {_NAME}", "home.city", "Vive en {x}"),
    (rf"(?:[Yy]o )?[Ss]oy de {_NAME}", "origin", "Es de {x}"),
    (rf"(?:[Yy]o )?[Tt]rabajo (?P<at>en|para) {_NAME}", "work.employer", "Trabaja {at} {x}"),
    (r"(?:[Yy]o )?[Tt]rabajo como (?P<x>\w+)", "work.role", "Trabaja como {x}"),
    (r"(?:[Yy]o )?[Ss]oy (?P<x>vegetarian[oa]|vegan[oa]|celíac[oa])", "diet", "Es {x}"),
    (r"(?:[Yy]o )?[Ee]stoy (?P<x>casad[oa]|solter[oa]|divorciad[oa])", "relationship.status", "Está {x}"),
    (
        rf"(?:[Yy]o )?[Ss]oy (?P<at>alérgic[oa] (?:a los|a las|al|a la|a)) {_THING}",
        "allergy",
        "Es {at} {x}",
    ),
    (rf"(?:[Yy]o )?[Tt]engo {_ILLNESS}", "health", "Tiene {x}"),
    (r"(?:[Yy]o )?[Nn]o como (?P<x>\w+)", "diet", "No come {x}"),
    (
        rf"[Mm]e (?:gustan?|encantan?) (?P<at>el |la |los |las )?(?!que|tu|su|como|cuando|esto|eso){_THING}",
        "likes",
        "Le gusta {at}{x}",
    ),
    (r"(?:[Ee]stoy aprendiendo|[Aa]prendo) (?P<x>\w+)", "learning", "Aprende {x}"),
    (r"(?:[Yy]o )?[Tt]engo (?P<x>(?:un|una|dos|tres|cuatro) (?:perr|gat|hij|herman)[oa]s?)", "family", "Tiene {x}"),
    (rf"(?P<at>[Mm]i) {_ES_KIN} se llama {_NAME}", "kin", "Tiene {at} {who} que se llama {x}"),
)
_PATTERNS: Final = tuple((re.compile(f"^{pattern}$"), key, content) for pattern, key, content in _STATEMENTS)
_AVOIDS: Final = ("Isst {at}", "Trinkt {at}", "Ne mange", "No come")
_MANY: Final = frozenset({"allergy", "likes", "learning", "family", "health", "language", "plays"})
# When something began or how firmly it holds says nothing of what it is: taken out before the patterns look.
_SINCE: Final = re.compile(
    r"\s*\b(?:seit (?:\d{4}|\w+ (?:\w+ )?(?:Jahr(?:en)?|Monat(?:en)?|Woche(?:n)?|Kindheit)|\d+ \w+|Jahren|Kurzem"
    r"|kurzem|Langem|"
    r"langem|meiner Kindheit|immer)|depuis (?:\d{4}|toujours|peu|longtemps|(?:un|une|deux|trois|quatre|cinq|six|dix"
    r"|\d+|"
    r"quelques|des) (?:ans?|années?|mois|semaines?)|l'enfance)|desde (?:\d{4}|siempre|pequeñ[oa]|hace (?:\w+ "
    r")?(?:años?|"
    r"meses|semanas?|tiempo))|jetzt|zurzeit|derzeit|momentan|aktuell|inzwischen|gerade|eigentlich|auch|maintenant|"
    r"actuellement|en ce moment|aussi|ahora|actualmente|también|mehr)\b\s*",
    re.IGNORECASE,
)
_GREETING: Final = re.compile(
    r"^(?:hallo|hi|hey|guten tag|moin|bonjour|salut|hola|buenas|buenos días)[,!]? ", re.IGNORECASE
)
_LABEL: Final = re.compile(r"^[^\W\d_][\w ]{1,20} ?: (?=\S)")
_CUT: Final = re.compile(
    r",? (?:und|et|y|aber|mais|pero|mit (?:meine?[mnr]?|unsere?[mnr]?)|avec (?:mon|ma|mes)|con mi|con mis|weil|parce "
    r"que|car|"
    r"porque|immer$|toujours$|siempre$)(?: |$)|, | comme (?=\w+$)"
)


def foreign_drafts(sentence: str, said: date) -> list[Draft]:
    """Return the facts of one German, French or Spanish sentence (or its first clause)."""
    text = _LABEL.sub("", _GREETING.sub("", sentence.replace("’", "'")))
    head = " ".join(_SINCE.sub(" ", f" {_CUT.split(text, maxsplit=1)[0]} ").split())
    for pattern, key, content in _PATTERNS:
        found = pattern.match(head)
        if found:
            return _draft(found, key, content)
    return []


_ARTICLES: Final = {"ein": "einen", "eine": "eine", "mon": "un", "ma": "une"}


def _draft(found: re.Match[str], key: str, content: str) -> list[Draft]:
    parts = {name: value or "" for name, value in found.groupdict().items()}
    thing, who = parts["x"], parts.get("who", "")
    if key == "kin":
        spanish = "una" if who.endswith("a") or who in {"mujer", "madre"} else "un"
        text = content.format(x=thing, who=who, at=_ARTICLES.get(parts["at"].lower(), spanish))
        return draft("profile", ("pet" if who.lower() in _PET else "family", who), text, 0.85)
    if key == "answers.address":
        thing = thing.lower().removesuffix("e")
    avoided = key == "diet" and content.startswith(_AVOIDS)
    where = (key, thing) if key in _MANY or avoided else key
    return draft("profile", where, content.format(**{**parts, "x": thing}), 0.85)
