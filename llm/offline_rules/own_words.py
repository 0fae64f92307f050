"""Cut a message down to the sentences that its author says in her own words; must not judge what they mean."""

import re
from dataclasses import dataclass

from llm.speakers import own_voice

MAX_SENTENCES = 500  # of one message; more is a list or a dump
MAX_SENTENCE = 400  # characters; a longer run without a full stop is a dump, not a statement

_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|<(pre|code|blockquote)\b.*?(?:</\1>|\Z)", re.DOTALL)
_QUOTED_LINE = re.compile(r"^\s*(?:>|\||\d{1,2}:\d{2}\b.*:|\[\d|#{1,6} )")
_MAIL_STARTS = re.compile(
    r"^\s*(?:-{2,} ?(?:original|forwarded)|begin forwarded message|(?:from|to|sent|subject|date|cc|von|an|betreff|de|"
    r"objet|asunto): \S|on .{4,80} wrote:|am .{4,80} schrieb\b|le .{4,80} a écrit)",
    re.IGNORECASE,
)
# "She wrote:", "Translate this:", "Here is the text:" - what follows is not the member's statement.
_HANDS_OVER = re.compile(
    r"\b(?:wrote|writes|said|says|told me|replied|texted|answered|posted|translate|proof-?read|rewrite|rephrase|"
    r"paraphrase|correct|fix|improve|summari[sz]e|polish|edit|review|check|reads|goes like this|lyrics|quote|excerpt|"
    r"transcript|the following|this (?:text|e-?mail|message|letter|paragraph|sentence|note|post|bio|story)|"
    r"(?:draft|bio|cover letter|e-?mail|letter|speech|essay|paragraph|sentence|story|poem)|schrieb|sagte|übersetze)\b"
    r"[^.!?\n]{0,80}:\s*(?=\S|$)",
    re.IGNORECASE,
)
_PLAY = re.compile(
    r"\b(?:pretend (?:that|to|you|i)|imagine (?:you|i)|"
    r"just kidding|only joking|jk\b|hypothetically|for the sake of argument|"
    r"off the record|do ?n[o']?t (?:remember|store|save|note|keep) (?:this|that|it|any)|"
    r"(?<!n\'t )(?<!not )(?<!nt )\bforget (?:that|what|about|this|it|i)\b|write (?:me )?(?:a|an|the) (?:story|poem|"
    r"song|bio|letter|essay|speech))",
    re.IGNORECASE,
)
_QUOTES = re.compile(r"[\"“”«»„]([^\"“”«»„\n]{1,200})[\"“”«»„]")
_SAYING = re.compile(
    r"(?:said|says|say|saying|wrote|writes|told \w+|asked|asks|replied|texted|read|:)[,:]?\s*$", re.IGNORECASE
)
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|my|me|we|our|you|your)\b", re.IGNORECASE)
_ABBREVIATION = re.compile(
    r"\b(?:e\.g|i\.e|etc|dr|mr|mrs|ms|prof|st|vs|approx|no|a\.m|p\.m|u\.s|u\.k|jr|sr|[A-Z])\.$", re.IGNORECASE
)
_ENDS = re.compile(r"[.!?…]+[\"')\]]*(?=\s|$)")
_BULLET = re.compile(r"^\s*(?:[-*•–+]|\d{1,2}[.)])\s+")
_JUNK = re.compile(
    r"[*_`]{1,3}(?=\w)|(?<=\w)[*_`]{1,3}|[:;]-?[)(DP](?=\s|$)|[\u2600-\u27bf\U0001f000-\U0001faff\u200d\ufe0f]"
)
_JOKE = re.compile(r"\b(?:lol|lmao|rofl|jk|haha+|kidding|joking)\b|[😂🤣😜😅]|/s\b", re.IGNORECASE)
_REMEMBER = re.compile(
    r"^(?:(?:please|and|also|ok|okay|hey|hi|so|just|pls)[,:]? )*(?:can you |could you )?(?:please )?"
    r"(?:remember|note|keep in mind|bear in mind|don'?t forget|make a note|save this|for the record|memorize|"
    r"you should know|take note)(?:,? (?:please|that|this|down)){0,2},?(?:: | (?=(?:i|we|my|our|the|that)\b))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a message. `asked_to_remember`: it was introduced by "remember that" or the like."""

    text: str
    is_question: bool
    is_joke: bool
    asked_to_remember: bool


def own_sentences(text: str) -> list[Sentence]:
    """Return the sentences of `text` without code, quotations, other voices, pasted mail and play (E04a)."""
    text = text.replace("’", "'").replace("‘", "'").replace("\u00a0", " ")
    text = own_voice(_FENCE.sub("\n", re.sub(r"\btl;? ?dr[:;]?\s", "", text, flags=re.IGNORECASE)))
    if _PLAY.search(text):
        return []
    handed_over = _HANDS_OVER.search(text)
    if handed_over:
        text = (
            text[: handed_over.start()].rpartition("\n")[0]
            if _starts_own_line(text, handed_over)
            else text[: handed_over.start()]
        )
    sentences: list[Sentence] = []
    for line in _paragraphs(text):
        pieces = _pieces(_without_quotations(line))
        sentences.extend(_sentence(piece) for piece in pieces[:MAX_SENTENCES] if len(piece) <= MAX_SENTENCE)
        if len(sentences) >= MAX_SENTENCES:
            break
    return sentences[:MAX_SENTENCES]


def _starts_own_line(text: str, found: re.Match[str]) -> bool:
    return "." not in text[text.rfind("\n", 0, found.start()) + 1 : found.start()]


def _paragraphs(text: str) -> list[str]:
    """Join lines that were only wrapped; stop at the head of a pasted mail."""
    paragraphs: list[str] = []
    joinable = False
    for line in text.splitlines():
        if _MAIL_STARTS.match(line):
            break
        if not line.strip() or _QUOTED_LINE.match(line):
            joinable = False
            continue
        stripped = _BULLET.sub("", line).strip()
        if joinable and stripped == line.strip() and stripped[:1].islower() and len(paragraphs[-1]) < 4 * MAX_SENTENCE:
            paragraphs[-1] += " " + stripped
        else:
            paragraphs.append(stripped)
        joinable = len(line) > 50 and not line.rstrip().endswith((".", "!", "?", ":"))
    return paragraphs


def _without_quotations(line: str) -> str:
    """Keep quoted titles such as "The Great Gatsby"; drop quoted speech."""

    def keep_title(found: re.Match[str]) -> str:
        inner = found[1].strip()
        words = inner.split()
        named = sum(word[:1].isupper() or word[:1].isdigit() for word in words)
        introduced = _SAYING.search(line[max(0, found.start() - 40) : found.start()])
        speech = introduced or (len(words) > 3 and _FIRST_PERSON.search(inner))
        if words and named * 2 >= len(words) and len(words) <= 8 and not speech:
            return f'"{inner.rstrip(",.")}"' + ("," if inner.endswith(",") else "")
        return " it "  # a pronoun, so that no fact is built upon the gap

    return _QUOTES.sub(keep_title, line)


def _pieces(line: str) -> list[str]:
    pieces, start = [], 0
    for end in _ENDS.finditer(line):
        if _ABBREVIATION.search(line[start : end.start() + 1][-8:]) and end.end() < len(line):
            following = line[end.end() :].lstrip()[:1]
            if (
                following.islower()
                or following.isdigit()
                or not line[start : end.end()].lower().endswith(("a.m.", "p.m.", "etc."))
            ):
                continue
        pieces.append(line[start : end.end()])
        start = end.end()
    pieces.append(line[start:])
    return [piece.strip() for piece in pieces if piece.strip()]


def _sentence(piece: str) -> Sentence:
    is_joke = bool(_JOKE.search(piece)) and not re.match(r"haha+\b", piece, re.IGNORECASE)
    clean = " ".join(_JUNK.sub(" ", piece).split())
    is_question = "?" in clean[-4:]
    introduction = _REMEMBER.match(clean)
    if introduction:
        clean = clean[introduction.end() :]
        is_question = False
    return Sentence(clean.rstrip(" .!?…,;"), is_question, is_joke, introduction is not None)
