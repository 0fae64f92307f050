"""Judge whether the member asserted a fact in her own words, here and now (E04a); must not ask a model or a database.

Grounding asks whether the words occur; this module asks what was done with them: asserted, asked, imagined, joked,
denied, told of others, ordered, or taken back.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import Final, Literal

from extraction import markers
from extraction.own_words import MAX_READ, Cited
from extraction.sentences import Passage, Sentence, carrying_clauses, overlap, split, stems, weigh
from extraction.tasks_said import is_one_off
from screening.text import spoken, visible


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a fact is not stored; `rule` names the rule and never holds text."""

    reason: Literal["ungrounded", "shape"]
    rule: str


SHORT_ANSWER: Final = 3  # content words; "ok makes sense" asserts nothing that a fact could rest on
# What is left of a question when its inquiry is taken out must carry at least this part of the fact.
ASSERTED_SHARE: Final = 0.5
MAX_NAMED: Final = 50  # things of one question that are looked at
NAMED_WORDS: Final = 6  # words after "my" that belong to what is named: "my 4 year old son"


@dataclass(frozen=True)
class Said:
    """What the member says herself in the messages that a fact cites."""

    sentences: tuple[Sentence, ...]

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """In which sentences each stem stands."""
        found: dict[str, list[int]] = {}
        for place, sentence in enumerate(self.sentences):
            for stem in sentence.stems:
                found.setdefault(stem, []).append(place)
        return found

    def carriers(self, wanted: dict[str, int]) -> list[Sentence]:
        """Return the sentences that carry a body: nearly as much of it as the one that carries most; or none."""
        scores: dict[int, int] = {}
        for stem, weight in wanted.items():
            for place in self.places.get(stem, ()):
                scores[place] = scores.get(place, 0) + weight
        best = max(scores.values(), default=0)
        return [self.sentences[place] for place in sorted(scores) if scores[place] >= 0.7 * best]


class Heard:
    """The messages that the model saw, in their order, read once for all the candidates of a run."""

    def __init__(self, messages: Sequence[Cited]):
        self.messages = messages
        self._said: dict[frozenset[tuple[str, datetime]], Said] = {}
        self.own = [split(m.own_words, n) for n, m in enumerate(messages)]
        self.everything = [sentence for sentences in self.own for sentence in sentences]
        self.mine = frozenset(stem for sentence in self.everything for stem in sentence.stems)
        # What is her own words throughout adds nothing to the words of others.
        others = [m.text[:MAX_READ] for m in messages if m.own_words != m.text]
        self.theirs = frozenset(stem for text in others for stem in stems(spoken(text)[:MAX_READ])) - self.mine

    @cached_property
    def named_back(self) -> list[frozenset[str]]:
        """The stems of what the member named to be forgotten: "forget my old job"."""
        found = [(s.text, markers.NAMED_BACK.search(s.text)) for s in self.everything if s.says(markers.NAMED_BACK)]
        return [frozenset(stems(text[match.start() :])) for text, match in found]

    @cached_property
    def taken_back(self) -> frozenset[tuple[int, int]]:
        """The places of the sentences that the member took back."""
        gone: set[tuple[int, int]] = set()
        for sentence in self.everything:
            plain = _plain(sentence)
            if not plain.says(markers.TAKEN_BACK):
                continue
            message, place = sentence.place
            here = [s for s in self.own[message] if s.place[1] <= place and s.stems - sentence.stems] or [sentence]
            gone |= {s.place for s in here}
            announced = sentence.says(markers.ANNOUNCED_BACK)
            # "Forget that, I moved to Lisbon": what follows the order in its own sentence is new.
            start = markers.TAKEN_BACK.search(plain.text).start()
            if start < 2 and len(sentence.clauses) > 1 and not announced:
                gone.discard(sentence.place)
            else:
                gone.add(sentence.place)
            if announced:
                gone |= {s.place for s in self.own[message]}
            if place == 0 and message > 0:  # the message begins with it, so it speaks of the one before
                before = next((m for m in range(message - 1, -1, -1) if self.own[m]), None)
                gone |= {s.place for s in self.own[before]} if before is not None else set()
        return frozenset(gone)

    def said_in(self, cited: Sequence[Cited]) -> Said:
        """Return the member's own sentences of the cited messages; facts often cite the same ones."""
        keys = frozenset((message.text, message.at) for message in cited if message.own)
        if keys not in self._said:
            own = (s for n, m in enumerate(self.messages) if (m.text, m.at) in keys for s in self.own[n])
            self._said[keys] = Said(tuple(own))
        return self._said[keys]


def find_doubt(body: str, cited: Sequence[Cited], heard: Heard | None = None) -> Doubt | None:
    """Return why the cited messages do not assert a body, or None.

    `heard` shows who else said the words, and whether the member took them back; without it only the cited messages do.
    """
    heard = heard or Heard(cited)
    told = heard.said_in(cited)
    said = told.sentences
    wanted = weigh(body)
    shown = Passage(spoken(body))
    if is_one_off(shown, said):
        return Doubt("shape", "one_off")
    if _is_echo(wanted, told, heard):
        return Doubt("ungrounded", "echo")
    carrying = told.carriers(wanted) or [s for s in said if not s.is_question]
    if _is_taken_back(carrying, wanted, heard):
        return Doubt("ungrounded", "taken_back")
    for name, judge in _JUDGES:
        if carrying and all(judge(sentence, shown, wanted, heard.everything) for sentence in carrying):
            return Doubt("ungrounded", name)
    if _is_denied_alone(shown, said):
        return Doubt("ungrounded", "polarity")
    return Doubt("ungrounded", "gossip") if _is_gossip(body, shown, carrying, said) else None


def _is_echo(wanted: dict[str, int], told: Said, heard: Heard) -> bool:
    """Return whether the words of a fact come from others: the assistant, the memory block, a quoted or pasted text."""
    if not wanted:
        return False
    mine = overlap(wanted, told.places.keys())
    theirs = overlap(wanted, heard.theirs)
    if mine == 0:
        asserts = any(len(s.stems) >= SHORT_ANSWER and not s.is_question for s in told.sentences)
        return theirs > 0 or not asserts
    return theirs >= 3 * mine and theirs + mine >= 0.6 * sum(wanted.values())


def _asks(sentence: Sentence, _shown: Passage, wanted: dict[str, int], _said: Sequence[Sentence]) -> bool:
    """Return whether a sentence only asks. What a question takes for granted is asserted: "how old is my son Tim?"."""
    if not sentence.is_question:
        return False
    granted: set[str] = set()
    for number, clause in enumerate(sentence.clauses):
        opens = markers.QUESTION_START.search(clause.text[:24])
        asks = (opens is not None and opens.start() == 0) or (number == 0 and len(sentence.clauses) == 1)
        if not asks and clause.says(markers.FIRST_PERSON):
            granted |= clause.stems
    for match in islice(markers.POSSESSIVE.finditer(sentence.text), MAX_NAMED):
        named = sentence.text[match.end() : match.end() + 120].split()[:NAMED_WORDS]
        granted.update(stems(" ".join(named)))
    return overlap(wanted, granted) < ASSERTED_SHARE * overlap(wanted, sentence.stems)


def _imagines(sentence: Sentence, shown: Passage, wanted: dict[str, int], _said: Sequence[Sentence]) -> bool:
    """Return whether a sentence speaks of a world that is not, or of a wish or a chance that the fact tells as true."""
    if sentence.says(markers.IMAGINED) and not (shown.says(markers.OPEN_BODY) or shown.says(markers.IMAGINED)):
        return True
    if sentence.says(markers.CONDITION) and sentence.says(markers.UNREAL):
        return True
    if not sentence.may_say(markers.CONDITION, markers.HEDGE, markers.DESIRE):
        return False
    clauses = carrying_clauses(sentence, wanted)
    if sentence.is_question and clauses and all(clause.says(markers.CONDITION) for _place, clause in clauses):
        return True
    if shown.says(markers.OPEN_BODY):
        return False
    return bool(clauses) and all(
        (clause.says(markers.HEDGE) or clause.says(markers.DESIRE)) and not shown.says(markers.HEDGE)
        for _place, clause in clauses
    )


def _jokes(sentence: Sentence, _shown: Passage, _wanted: dict[str, int], said: Sequence[Sentence]) -> bool:
    """Return whether a sentence, or the one after it, says that it is not meant."""
    place = said.index(sentence)
    after = said[place + 1] if place + 1 < len(said) else None
    if _is_joke(sentence) or sentence.says(markers.IRONY):
        return True
    return after is not None and _is_joke(after) and len(after.stems) <= SHORT_ANSWER


def _is_joke(sentence: Sentence) -> bool:
    return sentence.says(markers.JOKE) and not sentence.says(markers.NO_JOKE)


def _denies(sentence: Sentence, shown: Passage, wanted: dict[str, int], _said: Sequence[Sentence]) -> bool:
    """Return whether the words of an affirmative fact stand in a clause that denies, ends or dislikes them."""
    if not sentence.may_say(*_DENIALS):
        return False
    clauses = carrying_clauses(sentence, wanted)
    if clauses and all(_has_not(clause, shown) for _place, clause in clauses):
        return True
    if _is_negative(shown) or shown.says(markers.CHANGED_BODY):
        return False
    return bool(clauses) and all(_is_clause_denied(sentence, place) for place, _clause in clauses)


_DENIALS: Final = (
    markers.DENIED,
    markers.ENDED,
    markers.DISLIKED,
    markers.DISLIKED_STRONGLY,
    markers.NO_AVERSION,
)


def _has_not(clause: Passage, shown: Passage) -> bool:
    """Return whether a clause denies the very aversion that a fact asserts: "not allergic to milk"."""
    plain = _plain(clause)
    if shown.says(markers.DENIED) or shown.says(markers.ENDED) or not plain.says(markers.NO_AVERSION):
        return False
    denied = (match.group().split() for match in markers.NO_AVERSION.finditer(plain.text))
    return any(words[-1].strip(".,!")[:6] in shown.text for words in denied)


def _is_clause_denied(sentence: Sentence, place: int) -> bool:
    """Return whether a clause denies; a bare list goes on denying: "no meat, fish, eggs"."""
    clauses = sentence.clauses
    while place > 0 and len(clauses[place].text.split()) <= 2 and not _is_negative(clauses[place]):
        if clauses[place].says(markers.FIRST_PERSON) or len(clauses[place].text.split()) == 0:
            break
        place -= 1
        if not _is_negative(clauses[place]):
            return False
    return _is_negative(clauses[place], dislikes_only=True)


def _is_negative(passage: Passage, *, dislikes_only: bool = False) -> bool:
    """Return whether a text denies, ends or dislikes; `dislikes_only` passes what merely narrows ("only", "out")."""
    plain = _plain(passage)
    disliked = markers.DISLIKED_STRONGLY if dislikes_only else markers.DISLIKED
    return plain.says(markers.DENIED) or plain.says(markers.ENDED) or plain.says(disliked)


def _plain(passage: Passage) -> Passage:
    """Return the passage without what only sounds negative."""
    if not passage.says(markers.NOT_NEGATIVE):
        return passage
    return Passage(markers.NOT_NEGATIVE.sub(" ", passage.text))


def _is_denied_alone(shown: Passage, said: Sequence[Sentence]) -> bool:
    """Return whether a fact denies at its start what nobody denied: "Does not smoke" from "I smoke"."""
    if not shown.says(markers.DENIED):
        return False
    opening = Passage(" ".join(shown.text.split()[:3]))
    if not _plain(opening).says(markers.DENIED) or "cannot" in opening.text:
        return False
    return bool(said) and not any(_is_negative(sentence) for sentence in said)


def _is_gossip(body: str, shown: Passage, carrying: Sequence[Sentence], said: Sequence[Sentence]) -> bool:
    """Return whether a fact tells of the private life of somebody outside the member's own circle."""
    if not shown.says(markers.PRIVATE):
        return False
    subject = Passage(" ".join(shown.text.split()[:4]) if " " in shown.text else shown.text[:6])
    if subject.says(markers.OUTSIDER):
        return True
    heard = any(sentence.says(markers.HEARSAY) for sentence in said)
    named = _named_subject(body, said)
    family = subject.says(markers.FAMILY)
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


def _is_taken_back(carrying: Sequence[Sentence], wanted: dict[str, int], heard: Heard) -> bool:
    """Return whether the member took back every sentence that carries a fact, in the same window."""
    if any(overlap(wanted, named) for named in heard.named_back):
        return True
    return bool(carrying) and bool(heard.taken_back) and all(s.place in heard.taken_back for s in carrying)


_Judge = Callable[[Sentence, Passage, dict[str, int], Sequence[Sentence]], bool]
_JUDGES: Final[tuple[tuple[str, _Judge], ...]] = (
    ("joke", _jokes),
    ("hypothetical", _imagines),
    ("polarity", _denies),
    ("question", _asks),
)
