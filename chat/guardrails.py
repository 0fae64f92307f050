"""An organization's guardrails at work (C06): judge a message, screen a reply as it is written; stores nothing.

No text leaves a `Reply` before every rule has judged it; how, is in docs/adr/0031-guardrails.md.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from chat.finders import ENDLESS, Finder, LengthFinder, PatternFinder, PiiFinder, Place, phrase_pattern
from chat.patterns import compile_pattern, longest_match
from chat.reading import LONGEST_WORD, Reading

type Kind = Literal["phrases", "pattern", "pii", "length"]
type Action = Literal["block", "replace"]

LEAST: Final = 16  # characters that are waited for before the rules look again


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a stage. `value` holds phrases (one a line), a pattern, kinds of PII (spaced), or a number."""

    id: str
    kind: Kind
    value: str
    action: Action = "block"
    replacement: str = ""


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules of both stages, and what stands in the place of a reply that is not given."""

    input_rules: tuple[Rule, ...] = ()
    output_rules: tuple[Rule, ...] = ()
    refusal: str = ""
    restriction: str = ""


@lru_cache(maxsize=512)
def _maker(rule: Rule) -> Callable[[int], Finder]:
    """Return what makes a finder for a rule; compiled once for all turns. Raises BadPattern."""
    if rule.kind == "phrases":
        phrases, longest = phrase_pattern(tuple(rule.value.splitlines()))
        return lambda number: PatternFinder(number, phrases, longest, folded=True)
    if rule.kind == "pattern":
        pattern, reach = compile_pattern(rule.value), longest_match(rule.value)
        return lambda number: PatternFinder(number, pattern, reach, folded=False)
    if rule.kind == "pii":
        kinds = frozenset(rule.value.split())
        return lambda number: PiiFinder(number, kinds)
    most = int(rule.value)
    return lambda number: LengthFinder(number, most)


def check_rule(rule: Rule) -> None:
    """Raise BadPattern when a rule cannot be used."""
    _maker(rule)


class Search:
    """Looks for all rules in one growing text and hands out what is certain, in order."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.settled = 0  # every place that starts before this has been handed out
        self.reading = Reading(views=any(rule.kind in ("phrases", "pii") for rule in rules))
        self._finders = [_maker(rule)(number) for number, rule in enumerate(rules)]
        self._found: list[Place] = []

    def look(self, text: str, *, final: bool) -> list[Place]:
        """Take more of the text and return the places that are certain by now, first things first."""
        self.reading.add(text, final=final)
        for finder in self._finders:
            for place in finder.find(self.reading, final=final):
                heapq.heappush(self._found, place)
        self.settled = min([self.reading.raw_to, *(finder.settled for finder in self._finders)])
        certain = []
        while self._found and (final or self._found[0].start < self.settled):
            certain.append(heapq.heappop(self._found))
        return certain

    def forget(self, sent: int) -> None:
        """Drop what no rule looks at any more and what was sent."""
        needs = [finder.needs(self.reading) for finder in self._finders]
        raw = min([sent, *(need[0] for need in needs)])
        self.reading.forget(raw=raw, view=min(need[1] for need in needs) if needs else self.reading.view_to)


class Screen:
    """Screens one text while it grows: replaces what is to be replaced and ends at what is to be blocked.

    Places that overlap are one place; what it is replaced by comes from the rule whose place begins first, and if any
    of them blocks, it blocks. `hits` counts by rule id.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.blocked = False
        self.cut = False  # too long: the rest does not matter
        self.hits: Counter[str] = Counter()
        self._rules = rules
        self._search = Search(rules)
        self._waiting: list[str] = []
        self._length = 0  # of what waits
        self._open: Place | None = None  # a place whose end may still move
        self._sent = 0

    @property
    def over(self) -> bool:
        return self.blocked or self.cut

    def add(self, text: str) -> str:
        """Take a piece of the text and return what may be sent by now."""
        if self.over:
            return ""
        self._waiting.append(text)
        self._length += len(text)
        # The more is held back, the more is waited for, so that all looking together is linear in the text.
        if self._length < max(LEAST, len(self._search.reading.raw) // 8):
            return ""
        return self._advance(final=False)

    def close(self) -> str:
        """Return what may be sent of the rest, the text being at its end."""
        return "" if self.over else self._advance(final=True)

    def _advance(self, *, final: bool) -> str:
        places = self._search.look("".join(self._waiting), final=final)
        self._waiting.clear()
        self._length = 0
        out: list[str] = []
        for place in places:
            if self._open is not None and self._open.end == ENDLESS:
                break  # nothing after it goes out
            if self._open is None or place.start >= self._open.end:
                out.append(self._replaced())
                self._open = place
            elif place.end > self._open.end:
                self._open = Place(self._open.start, place.end, self._open.rule)
            self.hits[self._rules[place.rule].id] += 1
            if self._rules[place.rule].action == "block":
                self.blocked = True
                return "".join([*out, self._raw(self._word_start(self._open.start))])
        settled = self._search.settled
        if self._open is not None and (final or self._open.end <= settled or self._open.end == ENDLESS):
            out.append(self._replaced())
        if self._open is None and not self.cut:
            out.append(self._raw(settled if final else self._word_start(settled)))
        self._search.forget(self._sent - LONGEST_WORD)
        return "".join(out)

    def _raw(self, to: int) -> str:
        """Return the text that was not sent yet, up to a place."""
        reading = self._search.reading
        start, self._sent = self._sent, max(self._sent, to)
        return reading.raw[start - reading.raw_from : self._sent - reading.raw_from]

    def _word_start(self, place: int) -> int:
        """Return where the word of a place begins. Text ends there when the rest is blocked: half a word would be
        another word, which no rule has judged. In words that are too long it is the place itself."""
        reading = self._search.reading
        start = max(0, place - LONGEST_WORD)
        before = reading.raw[start - reading.raw_from : place - reading.raw_from]
        length = len(before.split()[-1]) if before[-1:].strip() else 0
        return place if length == LONGEST_WORD else place - length

    def _replaced(self) -> str:
        """Close the open place and return what is sent up to its end."""
        if self._open is None:
            return ""
        place, self._open = self._open, None
        self.cut = place.end == ENDLESS
        before = self._raw(place.start)
        self._sent = max(self._sent, place.end)
        return before + self._rules[place.rule].replacement


class Reply:
    """A reply on its way out. `text` is what may be stored of it: what was handed out, or the restriction.

    Where rules replace, a second screen looks at what goes out and blocks whatever a replacement has put together.
    """

    def __init__(self, policy: Policy) -> None:
        rules = policy.output_rules
        self.restricted = False
        self.begun = False
        self._restriction = policy.restriction
        self._screens = [Screen(rules)] if rules else []
        if any(rule.action == "replace" and rule.kind != "length" for rule in rules):
            self._screens.append(Screen([_blocking(rule) for rule in rules if rule.kind != "length"]))
        self._sent: list[str] = []
        self._closed = False

    @property
    def over(self) -> bool:
        """Whether nothing more of the model's text will be let through."""
        return any(screen.over for screen in self._screens)

    @property
    def cut(self) -> bool:
        return not self.restricted and any(screen.cut for screen in self._screens)

    @property
    def text(self) -> str:
        return self._restriction if self.restricted else "".join(self._sent)

    @property
    def hits(self) -> Counter[str]:
        return sum((screen.hits for screen in self._screens), Counter())

    def add(self, text: str) -> str:
        """Take a piece of the model's reply and return what may be sent by now."""
        self.begun = self.begun or bool(text)
        for screen in self._screens:
            text = screen.add(text)
        self._sent.append(text)
        return text

    def close(self, *, whole: bool) -> str:
        """Return the rest that may be sent. Of a reply that is not `whole` (stopped, broken off) the clean part stays;
        a whole one in which something is to be blocked becomes the restriction."""
        if self._closed:
            return ""
        self._closed = True
        rest = ""
        for screen in self._screens:
            rest = screen.add(rest) + screen.close()
        self._sent.append(rest)
        if whole and any(screen.blocked for screen in self._screens):
            before = any(self._sent)
            self.restricted = True
            return rest + ("\n\n" if before else "") + self._restriction
        return rest


def _blocking(rule: Rule) -> Rule:
    return Rule(rule.id, rule.kind, rule.value)


def find_all(rules: Sequence[Rule], text: str) -> list[Place]:
    """Return every place of a whole text where a rule finds something; the ends lie inside the text."""
    places = Search(rules).look(text, final=True)
    return [Place(place.start, min(place.end, len(text)), place.rule) for place in places]


def hits_in(rules: Sequence[Rule], texts: Iterable[str]) -> Counter[str]:
    """Return how often each rule, by id, finds something in whole texts."""
    return Counter(rules[place.rule].id for text in texts for place in find_all(rules, text))


@dataclass(frozen=True, slots=True)
class Refused:
    """A message that does not reach the model: what is answered instead, and what was found, by rule id."""

    text: str
    hits: Counter[str]


@dataclass(frozen=True, slots=True)
class Guard:
    """The guardrails of one turn."""

    policy: Policy = Policy()

    def judge(self, texts: Iterable[str]) -> Refused | None:
        """Return the refusal when a rule of the input stage finds something in what the user says now."""
        hits = hits_in(self.policy.input_rules, texts) if self.policy.input_rules else None
        return Refused(self.policy.refusal, hits) if hits else None

    def without_blocked(self, history: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return a resent history without user messages that the input stage blocks: it may never have seen them."""
        rules = self.policy.input_rules
        return [pair for pair in history if not rules or pair[0] != "user" or not hits_in(rules, [pair[1]])]

    def reply(self) -> Reply:
        """Return what a reply goes through on its way out."""
        return Reply(self.policy)
