"""Rules for standing wishes about answers ("please keep answers short", "call me Sam"); one sentence each."""

import re

from llm.offline_rules.drafts import Draft, draft
from llm.offline_rules.words import LANGUAGES, word_set

_STANDING = re.compile(
    r"\b(?:always|from now on|in (?:the )?future|going forward|every time|when(?:ever)? you (?:explain|answer|reply|"
    r"write)|in general|generally|never|whenever|"
    r"(?:your |the |all |my )?(?:answers|replies|responses|explanations|summaries)|by default|remember)\b",
    re.IGNORECASE,
)
_THIS_ONE = re.compile(
    r"\b(?:this|that|these|the (?:last|previous|next|above|first|following)|it|again|here)\b", re.IGNORECASE
)
_WISH = re.compile(
    r"^(?:(?:please|pls|and|also|oh|hi|hey|ok|okay|btw|by the way|so|hello|actually|remember|could you|can you|"
    r"would you|would you please|you should|"
    r"you can|from now on|in (?:the )?future|going forward|generally|in general|to|I (?:would )?(?:really |much "
    r")?(?:like|prefer|want|need|love)|"
    r"I would rather have|it would be great|for me|when answering|when you (?:answer|reply))\b,?\s*)*",
    re.IGNORECASE,
)
_CALL_ME = re.compile(
    r"(?<!not )(?<!n't )(?<!nt )(?<!never )\b(?:call me|address me as|you can call me|friends call me|everyone "
    r"calls me|everybody calls me|people call me|"
    r"i go by|i prefer to be called|i(?:'d| would) (?:like|prefer) to be called)\s+(?P<name>(?:(?:dr|mr|mrs|ms|"
    r"prof)\.? )?[^\W\d_][\w'-]+(?: (?-i:[A-Z])[\w'-]+)?)(?=$|[,.!;]| (?:please|instead|if|and|not|from|btw|for short|"
    r"or)\b)",
    re.IGNORECASE,
)
_NOT_NAMES = word_set(
    "a an the when if later back crazy maybe tomorrow tonight today on at in old lazy names stupid for about "
    "anything whatever and it"
)
_REPLY = (
    r"(?:answers?|replies|reply|responses?|respond|explanations?|summaries|write|speak|talk|explain|answering|messages)"
)
_LENGTH = re.compile(
    r"\b(?P<size>short(?:er)?|brief|concise|terse|succinct|long(?:er)?|detailed|to the point|compact|thorough|"
    r"in[- ]depth)\b",
    re.IGNORECASE,
)
_LANGUAGE = re.compile(
    rf"\b(?:in|to) (?P<language>{'|'.join(sorted(LANGUAGES, key=len, reverse=True))})\b", re.IGNORECASE
)
_NO = re.compile(
    r"\b(?:do not|don't|dont|no|never|without|avoid|stop|skip|leave out)\s+(?:use |using |add |adding |include |"
    r"including |any |more |put |send |give me |the |start with |write )*"
    r"(?P<what>emojis?|emoticons|jargon|bullet points?|bullets|small talk|disclaimers|tables|markdown|slang|code "
    r"comments|exclamation marks|filler|flattery|spoilers|headings|lists|apologies|acronyms|abbreviations|"
    r"buzzwords)\b",
    re.IGNORECASE,
)
_FORMAT = re.compile(
    r"\b(?:in|as|with|use|using|give me|include|add|show)\s+(?P<what>bullet points?|bullets|tables?|numbered "
    r"(?:lists|steps)|code examples(?: in \w+)?|examples|plain text|markdown|simple (?:words|language|terms|"
    r"english)|plain (?:english|language)|"
    r"metric units?|metric|imperial units?|celsius|fahrenheit|kilometers|kilometres|24[- ]hour (?:time|clock)|iso "
    r"dates|british (?:spelling|english)|american (?:spelling|english)|sources|citations|type hints|large headings)\b",
    re.IGNORECASE,
)
_TONE = re.compile(
    r"\b(?P<tone>formal(?:ly)?|informal(?:ly)?|casual(?:ly)?|polite(?:ly)?|friendly|blunt|direct|honest|simple|"
    r"simply|slowly|step by step|like I(?:'m| am) (?:five|5))\b",
    re.IGNORECASE,
)


def standing_wishes(sentence: str) -> list[Draft]:
    """Return what the sentence asks of every answer; a wish about one answer ("make this shorter") gives nothing."""
    name = _CALL_ME.search(sentence)
    if (
        name
        and name["name"].lower() not in _NOT_NAMES
        and not sentence.lower().startswith(("she", "he ", "they", "if"))
    ):
        called = name["name"][:1].upper() + name["name"][1:]
        return draft("profile", "name.preferred", f"Wants to be called {called}", 0.95)
    if not _STANDING.search(sentence) or sentence.lower().startswith(
        (
            "how",
            "what",
            "why",
            "who",
            "when",
            "where",
            "which",
            "your",
            "those",
            "thank",
            "the answers",
            "all your",
            "i always",
            "we always",
            "she",
            "he ",
            "they",
        )
    ):
        return _units(sentence)
    wish = _WISH.match(sentence)
    tail = sentence[wish.end() :] if wish else sentence
    asked = bool(wish and wish.end()) or re.match(
        r"(?:keep|give|make|answer|reply|respond|write|use|be|do not|don't|dont|never|always|no|avoid|speak|talk|"
        r"explain|stop|skip|short|brief|concise|add|include|address|treat|format)\b",
        tail,
        re.IGNORECASE,
    )
    if not asked or re.search(
        r"\bthat (?:is|was) \b|\bmy (?:teacher|boss|students?|kids?|clients?)\b|\bto my\b", sentence
    ):
        return []
    if re.match(
        r"(?:always|never) (?!(?:answer|reply|respond|write|use|keep|be|give|explain|speak|talk|add|include|start|"
        r"format|address|put|show|call)\b)",
        tail,
        re.IGNORECASE,
    ):
        return []
    return _wish_of(tail)


def _units(sentence: str) -> list[Draft]:
    plain = re.match(
        r"(?:please |pls |and )*(?:use|no|do not use|don't use|dont use) (?P<what>.+?)(?: please)?$",
        sentence,
        re.IGNORECASE,
    )
    if not plain or _THIS_ONE.search(sentence):
        return []
    shape, no = _FORMAT.search(sentence), _NO.search(sentence)
    if shape and shape["what"].lower() in {
        "metric",
        "metric units",
        "imperial units",
        "celsius",
        "fahrenheit",
        "british spelling",
        "american spelling",
        "british english",
        "american english",
    }:
        return draft(
            "profile",
            "answers.units"
            if "spell" not in shape["what"] and "english" not in shape["what"].lower()
            else "answers.spelling",
            f"Wants {shape['what']} used",
            0.85,
        )
    if no and no["what"].lower().startswith(("emoji", "emoticon")):
        return draft("profile", "answers.emojis", f"Wants no {no['what'].lower()}", 0.85)
    return []


_LIMIT = re.compile(
    r"\b(?:under|within|below|at most|no more than|max(?:imum)?(?: of)?|up to|less than|fewer than) (?P<most>\d{1,4}"
    r"|two|three|"
    r"four|five|six|seven|eight|nine|ten|a hundred|one) (?P<unit>sentences?|words|lines?|paragraphs?|bullet points"
    r"|bullets)\b",
    re.IGNORECASE,
)


def _wish_of(tail: str) -> list[Draft]:
    tail = re.sub(r"^keep (?:it|them|things)\b", "keep answers", tail, flags=re.IGNORECASE)
    limit = _LIMIT.search(tail)
    if limit and re.search(rf"\b{_REPLY}", tail, re.IGNORECASE):
        return draft("profile", "answers.length", f"Wants answers {limit[0].lower()}", 0.9)
    if _THIS_ONE.search(tail):
        return []
    found: list[Draft] = []
    no = _NO.search(tail)
    if no:
        what = no["what"].lower()
        found += draft(
            "profile", ("answers", "emojis" if what.startswith("emoji") else what), f"Wants no {what} in answers", 0.9
        )
    length = _LENGTH.search(tail)
    if length and re.search(rf"\b{_REPLY}|be\b", tail, re.IGNORECASE):
        size = re.sub(r"(?<=short|.long)er$", "", length["size"].lower())
        found += draft(
            "profile",
            "answers.length",
            f"Wants {size} answers" if size != "to the point" else "Wants answers to the point",
            0.9,
        )
    language = _LANGUAGE.search(tail)
    if language and re.search(rf"\b{_REPLY}\b", tail, re.IGNORECASE):
        found += draft(
            "profile",
            "answers.language",
            f"Wants answers in {language['language'][:1].upper()}{language['language'][1:]}",
            0.9,
        )
    shape = _FORMAT.search(tail)
    if shape and not no:
        kind = (
            "units"
            if re.search(r"metric|imperial|celsius|fahrenheit|kilomet|hour|iso", shape["what"], re.IGNORECASE)
            else "format"
        )
        found += draft(
            "profile",
            f"answers.{kind}",
            f"Wants answers with {shape['what']}"
            if not re.match(r"simple|plain", shape["what"], re.IGNORECASE)
            else f"Wants answers in {shape['what']}",
            0.85,
        )
    tone = _TONE.search(tail)
    if tone and not (length or language or shape or no):
        found += draft("profile", "answers.tone", f"Wants {_adjective(tone['tone'].lower())} answers", 0.8)
    return found


def _adjective(tone: str) -> str:
    if tone.startswith("like"):
        return "very simple"
    if tone == "step by step":
        return "step-by-step"
    return {"simply": "simple", "slowly": "slow"}.get(
        tone, tone.removesuffix("ly") if tone not in {"friendly"} else tone
    )
