"""Take out of a message what its writer only quotes, pastes or reports (E04a); must not judge what is left."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from llm.speakers import own_voice
from screening.text import compiled, word_set

_FENCE: Final = compiled(r"(?s)(?:```|~~~|\"{3}|'{3}).*?(?:```|~~~|\"{3}|'{3}|$)")
_MARKED: Final = compiled(
    r"(?is)<(?:blockquote|quote|pre|code)>.*?(?:</(?:blockquote|quote|pre|code)>|$)"
    r"|\[quote[^\]]*\].*?(?:\[/quote\]|$)"
)
_FORWARDED: Final = compiled(
    r"(?im)^[ >*]*(?:-{2,} ?(?:original|forwarded|urspr\S+|weitergeleitete|message|messaggio|mensaje|mensagem)[^\n]*"
    r"|begin forwarded message[^\n]*|(?:on|am|le|el|il|em|op|w dniu) [^\n]*\b(?:wrote|schrieb|a écrit"
    r"|escribió|ha scritto|escreveu|schreef)\b[^\n]*:?"
    r"|(?:from|von|de|da|van|od) ?: [^\n]+\n[ >*]*(?:sent|date|to|cc|subject|gesendet|datum|an|betreff|envoyé"
    r"|à|objet|enviado|para|asunto|data|inviato|assunto) ?:[^\n]*)$"
    r"|^[^\n]*\b(?:here is|here's|this is|see|below is|pasted|pasting|forwarding|hier ist|voici|aquí está"
    r"|ecco)\b[^\n]*\b(?:e-?mail|mail|message|letter|article|text|post|review|transcript|conversation|chat"
    r"|log|document|note|brief|nachricht|artikel|lettre|correo|carta|lettera)\b[^\n]*:[ ]*$"
)
_SAID: Final = (
    r"(?:wrote|writes|said|says|replied|replies|answered|asked|texted|told me|messaged|posted|schrieb"
    r"|schreibt|sagte|sagt|meinte|a écrit|écrit|a dit|dit"
    r"|escribió|escribe|dijo|dice|ha scritto|scrive|ha detto|escreveu|escreve|disse|diz|schreef|zei|zegt"
    r"|napisał\w*|powiedział\w*|написал\w*|сказал\w*|说|說|写道|寫道|言った|書いた)"
)
_REPORTED: Final = compiled(
    r"(?i)(?:^|[.!?\n] ?|, |\band |\bthen |\bwhat )([^.!?\n:,\"“„«]*?)\b"
    + _SAID
    + r"(?: [^.!?\n:\"“„«]{0,40})?[:,]? ?(?:\"[^\"\n]*(?:\"|$)|“[^”\n]*(?:”|$)|„[^“”\n]*(?:[“”]|$)|«[^»\n]*(?:»|$))"
    r"|(?i)(?:^|[.!?\n] ?)([^.!?\n:]*?)\b" + _SAID + r"(?: [^.!?\n:]{0,40})?: ?[^\n]*"
)
_OWN_SUBJECT: Final = compiled(r"(?i)(?:^|[^\pL])(?:i|ich|je|j'ai|yo|io|eu|ik|ja|я|我|私)(?:[^\pL]|$)")
# A block of recalled facts that was copied into the message proves nothing new.
_RECALLED: Final = compiled(
    r"(?im)^[ >*#\[<-]*(?:remembered|recalled|stored|saved|known|gemerkte|gespeicherte|souvenirs|recuerdos)"
    r"(?: (?:facts?|memor(?:y|ies)|notes?|fakten|notizen))?(?: (?:about|of|on|for|über|sur|sobre) "
    r"(?:the |this |den |die |le |el )?(?:user|member|me|nutzer\pL*|mitglied|membre|miembro))? ?"
    r"[:\]>][^\n]*(?:\n[ ]*[-*•][^\n]*)*"
    r"|^[^\n]*\bwhat this person has told you[^\n]*(?:\n[^\n]+)*"
)
_LONG_QUOTE: Final = compiled(
    r"(?m)(?:^|[ (:])'(?:[^'\s]+(?:'\pL+[^'\s]*)?\s+){7,}[^'\n]*'(?:$|[ .,;:!?)])|"
    r"\"(?:[^\"\s]+\s+){7,}[^\"]*\"|“(?:[^”\s]+\s+){7,}[^”]*”|„(?:[^“”\s]+\s+){7,}[^“”]*[“”]"
    r"|«(?:[^»\s]+\s+){7,}[^»]*»"
)
_SPEAKER: Final = compiled(
    r"^[ \-*]*(?:[\[(]?\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?: ?[APap][Mm])?[\])]?,? ?-? ?)?[<\[*]{0,2}([\pL][\pL\pN "
    r"._'-]{0,24}?)[>\]*]{0,2} ?[:>] ?\S"
)
_STAMPED: Final = compiled(r"^[ \-*]*[\[(]?\d{1,2}[:.]\d\d")
# Without one of these nothing but a forwarded mail can be found; most messages have none.
_QUOTING: Final = re.compile(r"[\"“„«<>\[\]|＞:`~]|(?:^|[\s(])'|'{3}|(?i:what this person has told you)")
_ROLES: Final = word_set("user assistant bot ai human agent customer support system chatgpt claude gemini gpt q a")


MAX_READ: Final = 16_000  # characters of one message; the model is shown no more


@dataclass(frozen=True)
class Cited:
    """One cited message. `own`: the scope's member wrote it. `at` is aware, in the member's time zone."""

    text: str = field(repr=False)
    own: bool
    at: datetime

    @cached_property
    def own_words(self) -> str:
        """What the member says herself in it; read once, however many facts cite it. Empty when it is another's."""
        return own_words(self.text[:MAX_READ]) if self.own else ""


def own_words(text: str) -> str:
    """Return what the writer says herself: no code, quotes, forwarded mail, pasted chats, other voices or reports."""
    text = text.replace("\r\n", "\n")
    quoting = _QUOTING.search(text)
    if quoting:
        text = _MARKED.sub("\n", _FENCE.sub("\n", text))
    forwarded = _FORWARDED.search(text)
    if forwarded:
        text = text[: forwarded.start()]
    if not quoting:
        return own_voice(text).strip()
    lines = [line for line in text.split("\n") if not line.lstrip().startswith((">", "|", "＞"))]
    pasted = _pasted_speakers(lines)
    text = own_voice(_RECALLED.sub("", "\n".join(line for line in lines if _speaker(line) not in pasted)))
    text = str(_REPORTED.sub(_keep_own, text))
    return str(_LONG_QUOTE.sub(" ", text)).strip()


def _keep_own(match: Any) -> str:
    """Return reported speech when the writer reports herself ("I said: ..."), else only who spoke."""
    subject = match.group(1) or match.group(2) or ""
    return match.group() if _OWN_SUBJECT.search(subject) else " "


def _speaker(line: str) -> str:
    match = _SPEAKER.search(line)
    if match is None:
        return ""
    return f"[{match.group(1).casefold()}" if _STAMPED.search(line) else str(match.group(1)).casefold()


def _pasted_speakers(lines: Sequence[str]) -> frozenset[str]:
    """Return the speakers of a pasted chat: roles, stamped lines, or names that take several turns."""
    speakers = [speaker for line in lines if (speaker := _speaker(line))]
    if len(speakers) < 2:
        return frozenset()
    several = {s for s in speakers if speakers.count(s) > 1 or s.startswith("[") or s in _ROLES}
    return frozenset(speakers) if several and len(set(speakers)) > 1 else frozenset(several)
