"""Finds the fenced code blocks of a message, so that a page can set them as code; everything stays text. Pure."""

import re
from dataclasses import dataclass
from typing import Final

# A fence stands at the beginning of a line; one that is never closed goes to the end of the message.
_FENCE: Final = re.compile(
    r"^ {0,3}(?P<fence>```+|~~~+)[^\n`]*\n(?P<code>.*?)(?:^ {0,3}(?P=fence)[`~]*[ \t]*$\n?|\Z)",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a message: its text, and whether it is code."""

    text: str
    code: bool = False


def parts(text: str) -> list[Part]:
    """Return a message as prose and code, in order; fences and line breaks around code are left out."""
    found, at = list[Part](), 0
    for match in _FENCE.finditer(text):
        if before := text[at : match.start()].strip("\n"):
            found.append(Part(before))
        found.append(Part(match["code"].removesuffix("\n"), code=True))
        at = match.end()
    rest = text[at:].strip("\n") if found else text
    return [*found, Part(rest)] if rest or not found else found
