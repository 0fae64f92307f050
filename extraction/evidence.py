"""Judge whether the member asserted a fact in her own words, here and now (E04a); must not ask a model or a database.

Grounding asks whether the words occur; this module asks what was done with them: asserted, asked, imagined, joked,
denied, told of others, ordered, or taken back.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

from extraction import markers
from extraction.own_words import Cited, own_words
from extraction.sentences import Sentence, carriers, carrying_clauses, overlap, split, stems, weigh
from extraction.tasks_said import is_one_off
from screening.text import spoken, visible


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a fact is not stored; `rule` names the rule and never holds text."""

    reason: Literal["ungrounded", "shape"]
    rule: str


MAX_READ: Final = 16_000  # characters of one message; the model is shown no more
SHORT_ANSWER: Final = 3  # content words; "ok makes sense" asserts nothing that a fact could rest on
# What is left of a question when its inquiry is taken out must carry at least this part of the fact.
ASSERTED_SHARE: Final = 0.5
MAX_NAMED: Final = 50  # things of one question that are looked at
NAMED_WORDS: Final = 6  # words after "my" that belong to what is named: "my 4 year old son"


class Heard:
    """The messages that the model saw, in their order, read once for all the candidates of a run."""

    def __init__(self, messages: Sequence[Cited]):
        self.messages = messages
        self.own = [split(own_words(m.text[:MAX_READ]), n) if m.own else [] for n, m in enumerate(messages)]
        self.mine = frozenset(stem for sentences in self.own for sentence in sentences for stem in sentence.stems)
        self.all = frozenset(stem for m in messages for stem in stems(spoken(m.text[:MAX_READ])[:MAX_READ]))

    def said_in(self, cited: Sequence[Cited]) -> list[Sentence]:
        """Return the member's own sentences of the cited messages."""
        keys = {(message.text, message.at) for message in cited if message.own}
        return [s for n, m in enumerate(self.messages) if (m.text, m.at) in keys for s in self.own[n]]


def find_doubt(body: str, cited: Sequence[Cited], heard: Heard | None = None) -> Doubt | None:
    """Return why the cited messages do not assert a body, or None.

    `heard` shows who else said the words, and whether the member took them back; without it only the cited messages do.
    """
    heard = heard or Heard(cited)
    said = heard.said_in(cited)
    wanted = weigh(body)
    shown = spoken(body)
    if is_one_off(shown, said):
        return Doubt("shape", "one_off")
    if _is_echo(wanted, said, heard):
        return Doubt("ungrounded", "echo")
    carrying = carriers(said, wanted) or [s for s in said if not _is_question(s)]
    if _is_taken_back(carrying, wanted, heard.own):
        return Doubt("ungrounded", "taken_back")
    everything = [sentence for sentences in heard.own for sentence in sentences]
    for name, judge in _JUDGES:
        if carrying and all(judge(sentence, shown, wanted, everything) for sentence in carrying):
            return Doubt("ungrounded", name)
    if _is_denied_alone(shown, said):
        return Doubt("ungrounded", "polarity")
    return Doubt("ungrounded", "gossip") if _is_gossip(body, shown, carrying, said) else None


def _is_echo(wanted: dict[str, int], said: Sequence[Sentence], heard: Heard) -> bool:
    """Return whether the words of a fact come from others: the assistant, the memory block, a quoted or pasted text."""
    if not wanted:
        return False
    mine = overlap(wanted, {stem for sentence in said for stem in sentence.stems})
    theirs = overlap(wanted, heard.all - heard.mine)
    if mine == 0:
        asserts = any(len(s.stems) >= SHORT_ANSWER and not _is_question(s) for s in said)
        return theirs > 0 or not asserts
    return theirs >= 3 * mine and theirs + mine >= 0.6 * sum(wanted.values())


def _is_question(sentence: Sentence) -> bool:
    text = sentence.text
    if "?" in text:
        return True
    if text.rstrip(".").endswith(("吗", "呢", "か", "嗎")):
        return True
    match = markers.QUESTION_START.search(text[:24])
    return match is not None and match.start() == 0


def _asks(sentence: Sentence, _shown: str, wanted: dict[str, int], _said: Sequence[Sentence]) -> bool:
    """Return whether a sentence only asks. What a question takes for granted is asserted: "how old is my son Tim?"."""
    if not _is_question(sentence):
        return False
    granted: set[str] = set()
    for number, clause in enumerate(sentence.clauses):
        opens = markers.QUESTION_START.search(clause.text[:24])
        asks = (opens is not None and opens.start() == 0) or (number == 0 and len(sentence.clauses) == 1)
        if not asks and markers.FIRST_PERSON.search(clause.text):
            granted |= clause.stems
    for match in islice(markers.POSSESSIVE.finditer(sentence.text), MAX_NAMED):
        named = sentence.text[match.end() : match.end() + 120].split()[:NAMED_WORDS]
        granted.update(stems(" ".join(named)))
    return overlap(wanted, granted) < ASSERTED_SHARE * overlap(wanted, sentence.stems)


def _imagines(sentence: Sentence, shown: str, wanted: dict[str, int], _said: Sequence[Sentence]) -> bool:
    """Return whether a sentence speaks of a world that is not, or of a wish or a chance that the fact tells as true."""
    text = sentence.text
    if markers.IMAGINED.search(text) and not (markers.OPEN_BODY.search(shown) or markers.IMAGINED.search(shown)):
        return True
    if markers.CONDITION.search(text) and markers.UNREAL.search(text):
        return True
    clauses = carrying_clauses(sentence, wanted)
    if _is_question(sentence) and clauses and all(markers.CONDITION.search(clause.text) for _place, clause in clauses):
        return True
    if markers.OPEN_BODY.search(shown):
        return False
    return bool(clauses) and all(
        (markers.HEDGE.search(clause.text) or markers.DESIRE.search(clause.text)) and not markers.HEDGE.search(shown)
        for _place, clause in clauses
    )


def _jokes(sentence: Sentence, _shown: str, _wanted: dict[str, int], said: Sequence[Sentence]) -> bool:
    """Return whether a sentence, or the one after it, says that it is not meant."""
    place = said.index(sentence)
    after = said[place + 1] if place + 1 < len(said) else None
    if _is_joke(sentence.text) or markers.IRONY.search(sentence.text):
        return True
    return after is not None and _is_joke(after.text) and len(after.stems) <= SHORT_ANSWER


def _is_joke(text: str) -> bool:
    return bool(markers.JOKE.search(text)) and not markers.NO_JOKE.search(text)


def _denies(sentence: Sentence, shown: str, wanted: dict[str, int], _said: Sequence[Sentence]) -> bool:
    """Return whether the words of an affirmative fact stand in a clause that denies, ends or dislikes them."""
    clauses = carrying_clauses(sentence, wanted)
    if clauses and all(_has_not(clause.text, shown) for _place, clause in clauses):
        return True
    if _is_negative(shown) or markers.CHANGED_BODY.search(shown):
        return False
    return bool(clauses) and all(_is_clause_denied(sentence, place) for place, _clause in clauses)


def _has_not(clause: str, shown: str) -> bool:
    """Return whether a clause denies the very aversion that a fact asserts: "not allergic to milk"."""
    if markers.DENIED.search(shown) or markers.ENDED.search(shown):
        return False
    denied = (match.group().split() for match in markers.NO_AVERSION.finditer(markers.NOT_NEGATIVE.sub(" ", clause)))
    return any(words[-1].strip(".,!")[:6] in shown for words in denied)


def _is_clause_denied(sentence: Sentence, place: int) -> bool:
    """Return whether a clause denies; a bare list goes on denying: "no meat, fish, eggs"."""
    clauses = sentence.clauses
    while place > 0 and len(clauses[place].text.split()) <= 2 and not _is_negative(clauses[place].text):
        if markers.FIRST_PERSON.search(clauses[place].text) or len(clauses[place].text.split()) == 0:
            break
        place -= 1
        if not _is_negative(clauses[place].text):
            return False
    return _is_negative(clauses[place].text, dislikes_only=True)


def _is_negative(text: str, *, dislikes_only: bool = False) -> bool:
    """Return whether a text denies, ends or dislikes; `dislikes_only` passes what merely narrows ("only", "out")."""
    plain = markers.NOT_NEGATIVE.sub(" ", text)
    if markers.DENIED.search(plain) or markers.ENDED.search(plain):
        return True
    found = (markers.DISLIKED_STRONGLY if dislikes_only else markers.DISLIKED).search(plain)
    return found is not None


def _is_denied_alone(shown: str, said: Sequence[Sentence]) -> bool:
    """Return whether a fact denies at its start what nobody denied: "Does not smoke" from "I smoke"."""
    opening = " ".join(shown.split()[:3])
    if not markers.DENIED.search(markers.NOT_NEGATIVE.sub(" ", opening)) or "cannot" in opening:
        return False
    return bool(said) and not any(_is_negative(sentence.text) for sentence in said)


def _is_gossip(body: str, shown: str, carrying: Sequence[Sentence], said: Sequence[Sentence]) -> bool:
    """Return whether a fact tells of the private life of somebody outside the member's own circle."""
    if not markers.PRIVATE.search(shown):
        return False
    subject = " ".join(shown.split()[:4]) if " " in shown else shown[:6]
    if markers.OUTSIDER.search(subject):
        return True
    heard = any(markers.HEARSAY.search(sentence.text) for sentence in said)
    named = _named_subject(body, said)
    family = bool(markers.FAMILY.search(subject))
    if family:
        return heard
    if not named:
        return False
    near = next((s.text for s in carrying if named in s.text), "")
    before, _name, after = near.partition(named)
    return not markers.FAMILY.search(" ".join(before.split()[-3:]) + " / " + " ".join(after.split()[:3]))


def _named_subject(body: str, said: Sequence[Sentence]) -> str:
    """Return the name with which a body starts, as the member wrote it too, or ""."""
    words = visible(body).split()
    if len(words) < 2 or len(words[0]) < 3 or not words[0][0].isupper():
        return ""
    first = words[0].casefold().strip(",.")
    known = any(f" {first} " in f" {s.text} ".replace(",", " ").replace(".", " ").replace("'", " ") for s in said)
    return first if known and not markers.POSSESSIVE.search(first) else ""


def _is_taken_back(carrying: Sequence[Sentence], wanted: dict[str, int], own: Sequence[Sequence[Sentence]]) -> bool:
    """Return whether the member took back every sentence that carries a fact, in the same window."""
    everything = [sentence for sentences in own for sentence in sentences]
    gone: set[tuple[int, int]] = set()
    for sentence in everything:
        message, place = sentence.place
        named = markers.NAMED_BACK.search(sentence.text)
        if named and overlap(wanted, stems(sentence.text[named.start() :])):
            return True
        taken = markers.TAKEN_BACK.search(markers.NOT_NEGATIVE.sub(" ", sentence.text))
        if taken is None:
            continue
        here = [s for s in own[message] if s.place[1] <= place and s.stems - sentence.stems] or [sentence]
        gone |= {s.place for s in here}
        # "Forget that, I moved to Lisbon": what follows the order in its own sentence is new.
        if taken.start() < 2 and len(sentence.clauses) > 1 and not markers.ANNOUNCED_BACK.search(sentence.text):
            gone.discard(sentence.place)
        else:
            gone.add(sentence.place)
        if markers.ANNOUNCED_BACK.search(sentence.text):
            gone |= {s.place for s in own[message]}
        if place == 0 and message > 0:  # the message begins with it, so it speaks of the one before
            before = next((m for m in range(message - 1, -1, -1) if own[m]), None)
            gone |= {s.place for s in own[before]} if before is not None else set()
    return bool(carrying) and bool(gone) and all(sentence.place in gone for sentence in carrying)


_Judge = Callable[[Sentence, str, dict[str, int], Sequence[Sentence]], bool]
_JUDGES: Final[tuple[tuple[str, _Judge], ...]] = (
    ("joke", _jokes),
    ("hypothetical", _imagines),
    ("polarity", _denies),
    ("question", _asks),
)
