"""Find orders to the model hidden in a fact, by the kind of act, object and target; must not hold whole phrases."""

from typing import Any, Final

from screening.declared import DECLARED
from screening.english import ENGLISH
from screening.languages import (
    OVERRIDE,
    OVERRIDE_UNSPACED,
    PERSONA,
    PROMPT_WORDS,
    REVEAL_WORDS,
    SCOPE,
    STANDING,
    STANDING_UNSPACED,
)
from screening.text import any_of, compiled, either, unleet, unspaced

_START: Final = r"(?:^|[^\pL\pN])"
_END: Final = r"(?:$|[^\pL\pN])"

_MARKS: Final = compiled(
    r"<\|[\pL_| ]+\|>|\[/?inst\]|<</?sys>>|</?(?:system|assistant|tool|function|instructions?|memory|admin"
    r"|prompt|context|important|start_of_turn|end_of_turn|bos|eos|s)[ >]"
    r"|#{2,} ?(?:system|instructions?|assistant|human|new|user|response|end|admin|important)|(?:^|\n) "
    r"?(?:system|developer|assistant)(?: message| note)? ?[:>]"
    r"|\[(?:system|admin|developer|internal|important|assistant)[^\]\n]*\]|begin (?:system|admin)|end of "
    r"(?:system |the )?(?:prompt|instructions|memory|context|conversation)"
    r"|<(?:tool_calls?|function_calls?|invoke|antml|tool_use)|\"(?:arguments|parameters|tool_input)\" ?:"
    r"|\"(?:name|tool|function|action)\" ?: ?\"[\pL_.]+\" ?, ?\"(?:arguments|args|parameters|input)"
    r"|functions\.\pL+\(|(?:to=|recipient=)\pL+"
    r"|!\[[^\]\n]*\]\(|<img |\b(?:save|write|update|add|store|create|delete)_memor(?:y|ies)\b|</?(?:god|dan"
    r"|dev|developer|admin|root|override)(?: mode)?>"
)
_BINARY: Final = compiled(
    r"(?:[01]{8}[ ,]?){4,}|(?:\\x[0-9a-f]{2}){6,}|(?:\\u[0-9a-f]{4}){5,}|(?:%[0-9a-f]{2}){10,}|decode (?:and"
    r"|this|the|then)[^.!?\n]*(?:follow|execute|obey|run|do|base64|cipher)"
)


def _pairs(pairs: tuple[tuple[str, str], ...], *, spaced: bool, either_order: bool) -> str:
    """Return a pattern for an act and an object of one language in one sentence."""
    start, between = (_START, r"(?:[^\pL][^.!?\n]*)?[^\pL]") if spaced else ("", r"[^.!?\n]*")
    patterns = []
    for acts, objects in pairs:
        act, thing = any_of(acts), any_of(objects)
        patterns.append(f"{start}{act}{between}{thing}")
        if either_order:
            patterns.append(f"{start}{thing}{between}{act}")
    return "|".join(patterns)


_RULES_BY_NAME: Final[tuple[tuple[str, Any], ...]] = (
    ("markup", _MARKS),
    ("encoded", _BINARY),
    *((name, compiled(pattern)) for name, pattern in (*ENGLISH.items(), *DECLARED.items())),
    ("foreign_override", compiled(_pairs(OVERRIDE, spaced=True, either_order=True))),
    ("foreign_override", compiled(_pairs(OVERRIDE_UNSPACED, spaced=False, either_order=True))),
    ("later", compiled(_pairs(STANDING, spaced=True, either_order=False))),
    ("later", compiled(_pairs(STANDING_UNSPACED, spaced=False, either_order=False))),
    ("persona", compiled(PERSONA)),
    (
        "prompt",
        compiled(f"{REVEAL_WORDS}[^.!?\\n]*{PROMPT_WORDS}|{PROMPT_WORDS}[^.!?\\n]*{REVEAL_WORDS}"),
    ),
)
_ANY_RULE: Final = either(*(pattern for _name, pattern in _RULES_BY_NAME))  # most texts match none: one pass
_SCOPE: Final = compiled(SCOPE)
_HIDDEN: Final = compiled(
    r"[\x{e0020}-\x{e007e}]{4,}|[\x{fe00}-\x{fe0f}\x{e0100}-\x{e01ef}]{3,}|[\x{202d}\x{202e}]"
    r"|[\x{200b}\x{2060}-\x{2064}\x{feff}]{8,}"
)
_FLAG: Final = compiled(r"\x{1f3f4}[\x{e0061}-\x{e007a}]{2,6}\x{e007f}")


_DAN: Final = compiled(r"\bDAN\b[^.!?\n]*(?:mode|can|will|does|has|prompt|AI|rules|filter)|(?:are|as|is|be) DAN\b")


# A fact is about the member; whoever says "you" three times speaks to the model.
_SECOND_PERSON: Final = compiled(_START + r"(?:you|your|yourself|you're|you'll)" + _END)


def find_injection(raw: str, folded: str) -> str | None:
    """Return the name of the rule that finds an order to the model, or None.

    `raw` is the text as it came, for what it hides; `folded` is its folded form, on which words are judged.
    """
    if not raw.isascii() and _HIDDEN.search(_FLAG.sub("", raw)):
        return "hidden_text"
    if "DAN" in raw and _DAN.search(raw):
        return "jailbreak"
    if "you" in folded and sum(1 for _ in zip(range(3), _SECOND_PERSON.finditer(folded), strict=False)) == 3:
        return "addressed"
    for text in dict.fromkeys((folded, unspaced(folded), unleet(folded))):
        for name, pattern in _RULES_BY_NAME if _ANY_RULE.search(text) else ():
            if pattern.search(text) and (name != "foreign_override" or _SCOPE.search(text)):
                return name
    return None
