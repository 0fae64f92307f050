"""What the offline model does when it is asked for the time: it calls the tool that knows, and repeats the answer."""

import re
from typing import Final

TOOL: Final = "current_time"
_ASKED: Final = re.compile(
    r"\b(?:what time is it|what(?:'s| is) the time(?! of)|(?:tell|give) me the (?:current )?time(?! of)|"
    r"what(?:'s| is) (?:today'?s date|the date(?: today)?[?.!]*$)|what (?:day|date) is (?:it|today))\b",
    re.IGNORECASE,
)


def asks_for_time(said: str) -> bool:
    """Whether a message asks what time or which day it is now."""
    return bool(_ASKED.search(said.replace("\u2019", "'")))


def tell(result: str) -> str:
    """Return the sentence for the tool's result."""
    if result.startswith("Error"):
        return "I cannot tell the time: the tool that knows it failed."
    return f"It is {result}."
