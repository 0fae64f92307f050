"""Split a member's own words into sentences and clauses and find which carry a fact; must not judge what they say."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

from extraction import markers
from screening.text import WORD, compiled, fold_visible, spoken, visible, word_set

# Signs of scripts that write no space after them.
_SPACED_OUT: Final = {ord(sign): f"{sign} " for sign in "。！？，、；،؟"}
# Runs are taken whole and only from their start, so that it is linear; Python's own `re` finds them all in one call.
_SENTENCE_END: Final = re.compile(r"(?<![.!?])[.!?]++[)\"']*+(?:[\t\n\f\r ]|\Z)|\n++|\.{3,}+")
_CLAUSE_END: Final = compiled(
    r"[,;:](?:\s|$)|\s-+\s|[()]"
    r"|\s(?:but|because|cause|although|though|so that|so|while|however|aber|sondern|weil|obwohl|deshalb|drum"
    r"|mais|parce que|car"
    r"|pero|sino|porque|aunque|mas|embora|ma|però|perché|maar|omdat|want|dus|ale|lecz|bo|więc)\s"
    r"|\s(?:and|und|et|y|e|en|i) (?:i|i'm|we|they|he|she|it|my|er|sie|ils|elle|ze|ich|wir|je|j'|on|yo|eu|io|ik"
    r"|love|loves|like|hate|also)(?:\s|')"
    r"|\snot (?:a |an |the )?\pL+[.!]*$"
    r"|但是|但|不过|けど|けれど|でも|لكن"
)
_CJK: Final = compiled(r"[\p{Han}\p{Katakana}\p{Hiragana}\p{Hangul}]+")
_HEAVY_CJK: Final = compiled(r"[\p{Han}\p{Katakana}\p{Hangul}]")
_ARABIC: Final = compiled(r"^[\x{0600}-\x{06ff}]+$")
MAX_CHARACTERS: Final = 20_000  # one character may stand for eighteen
MAX_SENTENCES: Final = 400  # of all cited messages; a message of 16,000 characters rarely has more

# Words that carry no content of their own: they occur in any fact and any message.
_EMPTY: Final = word_set(
    """
    a an the this that these those it its he she they his her their him them i me my mine you your we us our
    own member user
    is are was were be been being am has have had having do does did done get gets got will would can could
    should may might
    of in on at to for from with by as and or but if so than then when while who which what where how why not
    no yes about
    into out up down over under also too very more most some any all only just still now ever never there here
    one called
    named name s t re ve ll d m im ive dont doesnt isnt cant wont didnt ok okay please pls thanks thank hi
    hello hey well
    said says ich du er sie es wir ihr mein meine meinen sein seine ihre ihren der die das den dem des ein eine
    einen einem
    einer ist sind war hat habe haben hatte wird werden und oder aber mit von zu im in am an auf fur bei nach
    aus als auch
    nicht kein keine keinen nur noch schon mal ja nein dass wenn wie was
    je tu il elle on nous vous ils elles mon ma mes son sa ses le la les un une des du de au aux est sont a ai
    as ont avons
    et ou mais avec sans pour par sur dans chez ne pas plus que qui se ce cet cette y en c qu n j l d
    yo el ella nosotros mi mis su sus los las unos unas del al es son soy tiene tengo tener ha he y o pero con
    sin para por
    en no si que se lo me ya muy
    eu ele ela nos meu minha seu sua os as um uma do da dos das ao e sou tem tenho ter mas com sem para por em
    nao que se
    io lui lei noi mio mia suo sua il lo gli i uno dei delle di del della e sono ho ma con senza per in non che si mi
    ik hij zij wij mijn zijn haar de het een van is ben heeft heb hebben en of maar met zonder voor op bij te
    niet geen dat
    die er ja nee ook
    ja on ona my moj moja jego jej jest sa jestem ma mam miec i lub ale z ze bez dla na w we do od nie sie to
    ten ta te ze
    انا هو هي عنده عندي لديه لي في من على الى إلى عن مع لا ليس هذا هذه كان و ما
    """
)


@dataclass(frozen=True, eq=False)
class Passage:
    """A clause, a sentence or a fact: visible lower-case text with its accents, read once whoever asks about it."""

    text: str = field(repr=False)
    _found: dict[Any, bool] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of the content words."""
        return frozenset(stems(self.text))

    @cached_property
    def _is_plain(self) -> bool:
        return not markers.ANY_UNCOMMON.is_in(self.text)

    def says(self, marker: Any) -> bool:
        """Return whether a pattern occurs, such as those of `markers`."""
        if self._is_plain and marker in markers.UNCOMMON:
            return False
        if marker not in self._found:
            self._found[marker] = marker.is_in(self.text)
        return self._found[marker]


@dataclass(frozen=True, eq=False)
class Sentence(Passage):
    """One sentence of a message. `place` is (message, sentence)."""

    place: tuple[int, int] = (0, 0)

    def may_say(self, *found: Any) -> bool:
        """Return False when no clause can hold any of the markers, without taking the sentence apart."""
        return not self.text.isascii() or any(self.says(marker) for marker in found)

    @cached_property
    def is_question(self) -> bool:
        if "?" in self.text or self.text.rstrip(".").endswith(("吗", "呢", "か", "嗎")):
            return True
        match = markers.QUESTION_START.search(self.text[:24])
        return match is not None and match.start() == 0

    @cached_property
    def clauses(self) -> list[Passage]:
        """The clauses that hold a word, in their order."""
        parts, start = [], 0
        for match in _CLAUSE_END.finditer(self.text):
            parts.append(self.text[start : match.start()])
            # A conjunction that names its subject stays with the clause that it opens.
            start = match.start() + 1 if match.group()[:1].isspace() and match.group().strip("- ") else match.end()
        parts.append(self.text[start:])
        return [Passage(part.strip()) for part in parts if any(c.isalnum() for c in part)]

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(stems(self.text))


def split(text: str, message: int = 0) -> list[Sentence]:
    """Return the sentences of a text, at most `MAX_SENTENCES`; the rest is one more."""
    shown = spoken(text.translate(_SPACED_OUT))[:MAX_CHARACTERS]
    found: list[Sentence] = []
    start = 0
    for match in _SENTENCE_END.finditer(shown):
        if len(found) == MAX_SENTENCES:
            break
        if any(c.isalnum() for c in shown[start : match.end()]):
            found.append(Sentence(shown[start : match.end()].strip(), (message, len(found))))
            start = match.end()
    if any(c.isalnum() for c in shown[start:]):
        found.append(Sentence(shown[start:].strip(), (message, len(found))))
    return found


def stems(shown: str) -> Iterator[str]:
    """Yield the stems of the content words of a visible text; of Chinese and Japanese, pairs of characters."""
    folded = fold_visible(_without_accents(shown))
    for word in WORD.findall(folded):
        yield from _stems_of(word)


def _stems_of(word: str) -> Iterable[str]:
    """Return the stem of a folded word, or none when it has no content."""
    if not word.isascii() and _CJK.search(word):
        return _pairs(word)
    return (_stem(word),) if word not in _EMPTY and (len(word) > 1 or word.isdigit()) else ()


def _without_accents(shown: str) -> str:
    if shown.isascii():
        return shown
    decomposed = unicodedata.normalize("NFD", shown)
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if not 0x0300 <= ord(c) <= 0x036F))


def _pairs(word: str) -> Iterator[str]:
    for run in _CJK.finditer(word):
        text = run.group()
        if len(text) == 1:
            yield text
        for a, b in pairwise(text):
            if _HEAVY_CJK.search(a) or _HEAVY_CJK.search(b):
                yield a + b


_ENDINGS: Final = ("ing", "ed", "es", "s")


def _stem(word: str) -> str:
    """Return what inflected forms of a word share; short, so that it errs towards taking words for the same."""
    if word.isdigit():
        return word
    if not word.isascii() and _ARABIC.search(word):
        word = word.removeprefix("و").removeprefix("ال")
        if len(word) > 3 and word[0] in "يتناأ":
            word = word[1:]
        return word[:3] if len(word) < 6 else word[:4]
    for ending in _ENDINGS if word.endswith(_ENDINGS) else ():
        if len(word) - len(ending) >= 3 and word.endswith(ending):
            word = word.removesuffix(ending)
            break
    bare = word.rstrip("aeiouy")
    word = bare if len(bare) >= 3 else word
    if len(word) > 3 and word[-1] == word[-2]:  # "stopped", "planned"
        word = word[:-1]
    return word[:5]


def overlap(wanted: dict[str, int], found: Set[str]) -> int:
    """Return the weight of the wanted stems that are found."""
    if wanted.keys().isdisjoint(found):
        return 0
    return sum(weight for stem, weight in wanted.items() if stem in found)


def weigh(body: str) -> dict[str, int]:
    """Return the stems of a body with their weights: names and numbers count double."""
    weights: dict[str, int] = {}
    for place, word in enumerate(WORD.findall(visible(body))):
        weight = 2 if (place > 0 and word[0].isupper()) or word.isdigit() else 1
        for stem in _stems_of(fold_visible(word)):
            if weights.get(stem, 0) < weight:
                weights[stem] = weight
    return weights


def carrying_clauses(sentence: Sentence, wanted: dict[str, int]) -> list[tuple[int, Passage]]:
    """Return the clauses of a sentence that carry most of a body, with their places."""
    scores = [overlap(wanted, clause.stems) for clause in sentence.clauses]
    best = max(scores, default=0)
    return [
        (n, clause)
        for n, (clause, score) in enumerate(zip(sentence.clauses, scores, strict=True))
        if score and score >= 0.7 * best
    ]
