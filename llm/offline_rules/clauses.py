"""Read one segment as subject, tense, verb and rest; must not decide what is a fact."""

import re
from dataclasses import dataclass, field, replace
from typing import Literal

from llm.offline_rules.contractions import expand
from llm.offline_rules.segments import (
    FACTIVE,
    HEDGE,
    QUESTION_START,
    UNREAL,
    rephrased,
    segments,
    statement_before_question,
    without_openers,
    without_reported,
)
from llm.offline_rules.verbs import is_gerund, is_past, lemma, third
from llm.offline_rules.words import word_set

Tense = Literal["present", "progressive", "perfect", "perfect_progressive", "past", "future", "formerly", "modal"]


_ADVERBS = word_set(
    "always usually often sometimes really just also actually currently now already still mostly generally normally "
    "typically regularly occasionally rarely seldom basically only recently lately finally absolutely definitely "
    "honestly "
    "both totally mainly particularly especially even simply truly personally originally officially primarily soon "
    "then "
    "first frequently literally kinda ever strictly severely highly very so proudly happily presently temporarily "
    "newly long thoroughly genuinely deeply fully all together too otherwise mildly moderately extremely partly "
    "slightly pretty quite super daily constantly quietly either obviously clearly naturally of course"
)


KEPT_ADVERBS = word_set(
    "always usually often sometimes mostly generally normally typically regularly occasionally rarely seldom mainly "
    "frequently primarily strictly severely only originally temporarily"
)


_DOUBT = word_set("maybe perhaps probably possibly hardly almost nearly supposedly apparently hopefully barely")


_MODALS = word_set("will would can could should must might may shall ought")


_BE = word_set("am is are was were be been being 's")


_IMPLIED = re.compile(
    r"^(?:just |also |currently |recently |now )*(?P<word>allergic to|based in|born in|born and raised|"
    r"(?:vegetarian|vegan|married|retired|self-employed)(?=$|[,.;]| (?:here|btw|too|now|and|since|for)\b)|"
    r"living (?:in|near)|originally from|new to|learning|studying (?-i:[A-Z])|training for|working (?:at|as|for) )",
    re.IGNORECASE,
)
# "Learning is fun" has a subject of its own, and "vegan here" has not.
_HAS_VERB = re.compile(
    r"\b(?:is|are|was|were|can|will|would|should|helps?|makes?|takes?|has|does|means)\b", re.IGNORECASE
)


_IMPLIED_VERB = re.compile(
    r"^(?:just |also |currently |recently |finally )*(?:moved to|live in|work as|work at|work for|got (?:a|"
    r"two|three|my)\b|have (?:a|two|three)\b|"
    r"been (?:\w+ing|living|working|an? )|got diagnosed with|can't eat|cannot eat|do not eat|don't eat|dont eat|don't "
    r"drink|grew up in|"
    r"switched to|adopted|bought (?:a|my|our) |started (?:a|my) |quit my|broke my|passed my|retired )\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause. `subject` is "I", "we" or the noun phrase after my/our; `verb` is a base form, `word` as written.

    `rest` is what follows the verb, as written; "not ... anymore" is `no_longer`, not rest.
    `modal` is set with tense "modal" and "future". `opening` holds what stood before the subject ("last year").
    """

    subject: str
    owner: str
    tense: Tense
    verb: str
    word: str
    rest: str
    negated: bool = False
    no_longer: bool = False
    modal: str = ""
    adverbs: tuple[str, ...] = ()
    opening: str = ""
    hedged: bool = False
    remembered: bool = False

    @property
    def is_own(self) -> bool:
        """The member speaks of herself, alone or with others."""
        return not self.owner

    @property
    def habit(self) -> str:
        """The adverb of frequency that belongs to the statement, or ""."""
        return next((word for word in self.adverbs if word in KEPT_ADVERBS), "")

    def predicate(self, rest: str | None = None) -> str:
        """Return the clause in the third person without its subject: "Usually writes in Rust"."""
        tail = self.rest if rest is None else rest
        words = [*self._verb_words(), tail]
        text = " ".join(word for word in words if word)
        return text[:1].upper() + text[1:]

    def _verb_words(self) -> list[str]:
        adverb = self.habit
        negation = "no longer" if self.no_longer else "not" if self.negated else ""
        match self.tense:
            case "progressive":
                return ["is", negation, adverb, self.word]
            case "perfect_progressive":
                return ["has", negation, adverb, "been", self.word]
            case "perfect":
                return ["has", negation, adverb, self.word]
            case "past":
                return ["did not", self.verb] if self.negated else [adverb, self.word]
            case "formerly":
                return ["used to", self.verb]
            case "future" | "modal":
                modal = "cannot" if (self.modal, negation) == ("can", "not") else f"{self.modal} {negation}".strip()
                return [modal, adverb, self.verb]
            case _:
                if self.verb == "be":
                    return ["is", negation, adverb]
                if self.no_longer:
                    return ["no longer", third(self.verb)]
                return ["does not", adverb, self.verb] if self.negated else [adverb, third(self.verb)]


@dataclass(slots=True)
class _Reading:
    """What the walk over the words before the main verb has seen so far."""

    tense: Tense = "present"
    modal: str = ""
    negated: bool = False
    no_longer: bool = False
    doubt: bool = False
    be: str = ""
    adverbs: list[str] = field(default_factory=list)


def clauses(text: str, *, is_question: bool = False, remembered: bool = False) -> list[Clause]:
    """Return the clauses of a sentence, its contractions written out, whose subject is the member or something of hers.

    Questions, requests, hypotheticals and what others said or thought yield nothing.
    """
    if is_question or UNREAL.search(text):
        text = statement_before_question(text) if is_question and not UNREAL.search(text) else ""
    text = rephrased(without_reported(text))
    if not text or (QUESTION_START.match(text) and not remembered):
        return []
    found: list[Clause] = []
    for segment in segments(text):
        clause = parse(segment)
        if clause is not None:
            found.append(replace(clause, remembered=remembered))
    return found


def parse(segment: str) -> Clause | None:
    """Return the Clause of one segment, or None when its subject is neither the member nor something of hers."""
    adverb, text = without_openers(segment)
    text = FACTIVE.sub("", text)
    hedge = HEDGE.match(text)
    if hedge:
        text = text[hedge.end() :]
    if (implied := _IMPLIED.match(text)) and not _HAS_VERB.search(text):
        text = f"I am {text[implied.start('word') :][:1].lower()}{text[implied.start('word') + 1 :]}"
    elif _IMPLIED_VERB.match(text):
        text = expand(
            f"I have {text}" if re.match(r"(?:\w+ )*been (?:\w+ing|an? )", text, re.IGNORECASE) else f"I {text}"
        )
    start = re.search(r"\b(?:I|we|my|our)\b", text, re.IGNORECASE)
    if start is None:
        return None
    opening = text[: start.start()].strip(" ,")
    if opening and not _may_open(opening):
        return None
    clause = _read(text[start.start() :])
    if clause is None:
        return None
    adverbs = (adverb, *clause.adverbs) if adverb else clause.adverbs
    return replace(clause, opening=opening, adverbs=adverbs, hedged=clause.hedged or hedge is not None)


_OPENING = re.compile(
    r"^(?:(?:in|on|at|since|last|next|this|during|for|every|each|after|before|by|until|from|tomorrow|today|tonight|"
    r"yesterday|"
    r"earlier|over|around|back|once|twice|as|with|\d+|one|two|three|four|five|ten|january|february|march|april|june|"
    r"july|"
    r"august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|outside|"
    r"most|because of|both)\b[\w\s',:-]{0,60}|my (?:wife|husband|partner|family|brother|sister|boyfriend|"
    r"girlfriend) and)$",
    re.IGNORECASE,
)


def _may_open(opening: str) -> bool:
    return bool(_OPENING.match(opening)) and not re.search(
        r"\b(?:you|he|she|they|it|if|that|what)\b", opening, re.IGNORECASE
    )


def _read(text: str) -> Clause | None:
    words = text.split()
    first = words[0].lower().strip(",")
    if first in {"i", "we"}:
        return _predicate("I" if first == "i" else "we", "", words, 1)
    for position in range(2, min(len(words), 8)):
        word = words[position].lower().strip(",")
        following = words[position + 1].lower() if position + 1 < len(words) else ""
        finite = word in _BE - {"be", "being", "been"} or word in _MODALS | {"has", "have", "had", "does", "did", "do"}
        if finite or (word in _ADVERBS and following not in {"and", ""} and position > 1) or _looks_finite(word):
            subject = " ".join(words[1:position]).strip(" ,")
            return _predicate(subject, first, words, position)
    return None


_ACTIVITY_NOUNS = word_set(
    "activity activities sport sports exercise exercises "
    "hobby hobbies passion passions interest interests job dream goal plan pastime favorite fear"
)


_FINITE = word_set(
    "lives works likes loves hates studies plays eats drinks started moved died speaks teaches owns runs turns "
    "turned "
    "happens occurs takes falls lands enjoys prefers goes went got graduated uses passed broke switched meets ships "
    "lets starts includes include begins "
    "ends leaves departs arrives expires deploys hosts closes opens requires consists retired wants "
    "says said thinks told plans needs moved live work "
    "like love hate use meet deploy ship"
)


def _looks_finite(word: str) -> bool:
    return word in _FINITE


_ANY_MORE = re.compile(r",?\s*\b(?:any ?more|any longer)\b", re.IGNORECASE)


def _predicate(subject: str, owner: str, words: list[str], position: int) -> Clause | None:
    reading = _Reading()
    while position < len(words):
        word = words[position].lower().strip(",")
        following = [later.strip(",") for later in words[position + 1 : position + 4]]
        step = _auxiliary(word, following, reading)
        if step == 0:
            break
        position += step
    if position >= len(words) and not reading.be:
        return None
    rest_from = position
    word = words[position].lower().strip(",") if position < len(words) else ""
    names_activity = bool(owner) and subject.split()[-1:] and subject.rsplit(maxsplit=1)[-1].lower() in _ACTIVITY_NOUNS
    if reading.be and (names_activity or not (is_gerund(word) and reading.tense != "past")):
        verb, spoken = "be", reading.be
        tense: Tense = reading.tense
    else:
        verb, spoken, rest_from = lemma(word), word, position + 1
        tense = _tense_of(word, reading)
        if word == "got" and position and words[position - 1].lower() in {"have", "has"}:
            verb, spoken, tense = "have", "has", "present"
    rest = " ".join(words[rest_from:])
    ended = reading.negated and bool(_ANY_MORE.search(rest))
    return Clause(
        subject=subject,
        owner=owner,
        tense=tense,
        verb=verb,
        word=spoken,
        rest=(_ANY_MORE.sub("", rest) if ended else rest).strip(" ,"),
        negated=reading.negated,
        no_longer=reading.no_longer or ended,
        modal=reading.modal,
        adverbs=tuple(reading.adverbs),
        hedged=reading.doubt,
    )


def _tense_of(word: str, reading: _Reading) -> Tense:
    if reading.be and is_gerund(word):
        return "perfect_progressive" if reading.tense == "perfect" else "progressive"
    if reading.tense == "present" and (is_past(word) or word == "quit"):
        return "past"
    return reading.tense


def _auxiliary(word: str, following: list[str], reading: _Reading) -> int:
    """Take one word before the main verb into the reading; return how many words it used, 0 at the main verb."""
    nxt = following[0].lower() if following else ""
    if word in {"not", "never"}:
        reading.negated = True
        return 1
    if word == "no" and nxt == "longer":
        reading.no_longer = reading.negated = True
        return 2
    if word in _DOUBT:
        reading.doubt = True
        return 1
    if (word in _ADVERBS or word.endswith("ally")) and not (reading.be and word == "all"):
        reading.adverbs.append(word)
        return 1
    if reading.be:
        if word == "going" and nxt == "to" and len(following) > 1 and _is_bare_verb(following[1]):
            reading.tense, reading.modal, reading.be = "future", "is going to", ""
            return 2
        return 0
    return _first_auxiliary(word, following, reading)


def _first_auxiliary(word: str, following: list[str], reading: _Reading) -> int:
    nxt = next((w.lower() for w in following if w.lower() not in _ADVERBS | {"not", "never"}), "")
    if word in _BE:
        reading.be = word
        if word in {"was", "were"}:
            reading.tense = "past"
        return 1
    if word in _MODALS:
        reading.modal, reading.tense = word, "future" if word == "will" else "modal"
        return 1
    if word in {"have", "has", "had"} and (is_past(nxt) or nxt in {"been", "become", "come", "run", "got", "had"}):
        if nxt == "got":
            return 1  # "have got" means "have", see _predicate
        reading.tense = "perfect"
        return 1
    if word in {"do", "does", "did"} and following[:1] == ["not"]:
        reading.tense = "past" if word == "did" else reading.tense
        return 1
    if word == "used" and following[:1] == ["to"]:
        reading.tense = "formerly"
        return 2
    return 0


def _is_bare_verb(word: str) -> bool:
    return (
        word.isalpha()
        and word not in {"the", "a", "an", "my", "our", "some"}
        and word == lemma(word)
        and word.islower()
    )
