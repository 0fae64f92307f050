"""Write out contractions and shorthand ("im", "dont", "we're"); must not change what is said."""

import re

_CONTRACTIONS = tuple(
    (re.compile(pattern, re.IGNORECASE), text)
    for pattern, text in (
        (r"\bi\b", "I"),
        (r"\bI'?m\b(?! \w+'?s\b)|\bi am\b", "I am"),
        (r"\bI'm\b", "I am"),
        (r"\bI'?ve\b", "I have"),
        (r"\bI'd (?=(?:always |never |really )?(?:been|had|gone|done)\b)", "I had "),
        (
            r"\bI'?d (?=(?:really |also |just |absolutely |much )*(?:love|like|prefer|rather|hate)\b)|\bI'd\b",
            "I would ",
        ),
        (r"\bI'll\b", "I will"),
        (r"\bwe're\b", "we are"),
        (r"\bwe've\b", "we have"),
        (r"\bwe'll\b", "we will"),
        (r"\bwe'd\b", "we would"),
        (r"\bca(?:nno|n'?)t\b|\bcannot\b", "can not"),
        (r"\bwon'?t\b(?! the| a\b)", "will not"),
        (r"\b(do|does|did|is|are|was|were|have|has|had|could|would|should)n'?t\b", r"\1 not"),
        (r"\bmy name'?s\b", "my name is"),
        (r"\b(he|she|it|that|there|who|what|here|where)'s\b", r"\1 is"),
        (r"'re\b", " are"),
        (r"\bgonna\b", "going to"),
        (r"\bwanna\b", "want to"),
        (r"\bgotta\b", "have to"),
        (r"\bluv\b", "love"),
        (r"\bfav(?:e|ou?rite)?\b", "favorite"),
        (r" & | \+ ", " and "),
        (r"\bwith w/\b|\bw/(?=\s)", "with"),
    )
)


def expand(text: str) -> str:
    """Return `text` with its contractions written out, also those without an apostrophe."""
    for pattern, replacement in _CONTRACTIONS:
        text = pattern.sub(replacement, text)
    return " ".join(text.split())
