"""Split a sentence into clauses and each clause into subject, tense, verb and rest; must not decide what is a fact."""

import re
from dataclasses import dataclass, field, replace
from typing import Literal

from llm.offline_rules.verbs import is_gerund, is_past, lemma, third
from llm.offline_rules.words import LANGUAGES, NATIONALITIES

Tense = Literal["present", "progressive", "perfect", "perfect_progressive", "past", "future", "formerly", "modal"]

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
_ADVERBS = frozenset(
    "always usually often sometimes really just also actually currently now already still mostly generally normally "
    "typically regularly occasionally rarely seldom basically only recently lately finally absolutely definitely honestly "
    "both totally mainly particularly especially even simply truly personally originally officially primarily soon then "
    "first frequently literally kinda ever strictly severely highly very so proudly happily presently temporarily "
    "newly long thoroughly genuinely deeply fully all together too otherwise mildly moderately extremely partly "
    "slightly pretty quite super daily constantly quietly either obviously clearly naturally of course".split()
)
KEPT_ADVERBS = frozenset(
    "always usually often sometimes mostly generally normally typically regularly occasionally rarely seldom mainly "
    "frequently primarily strictly severely only originally temporarily".split()
)
_DOUBT = frozenset(
    "maybe perhaps probably possibly hardly almost nearly supposedly apparently hopefully barely".split()
)
_MODALS = frozenset("will would can could should must might may shall ought".split())
_BE = frozenset("am is are was were be been being 's".split())
_SUBJECT = r"(?:I|we|you|he|she|it|they|this|there|these|everyone|people)\b"
_OWNED = r"(?:my|our)(?: [\w'’-]+){1,5}? (?:is|are|was|were|has|have|had|does|did|do|will|can|just|also|lives?|works?|likes?|loves?|hates?|says?|said|wants?|thinks?|told|got|plays?|studies|studied|started|moved|turn(?:s|ed)|died|passed|eats?|drinks?)\b"
_CONJUNCTION = (
    r"(?:and then|and so|so that|and|but|so|because|cause|cuz|since|as|while|although|though|however|plus|or|when|"
    r"whenever|where|until|till|before|after|that|yet|even though|whereas|unless|even if|if)"
)
_BOUNDARY = re.compile(
    rf"\s*(?:[;()]|\s[-–—]+\s|:\s)\s*|,?\s+(?P<link>{_CONJUNCTION}),?\s+(?={_SUBJECT}|{_OWNED})|,\s+(?={_SUBJECT}|{_OWNED})"
    r"|,?\s+(?:but|because|although|though|however|whereas|which|so that)\b,?\s+",
    re.IGNORECASE,
)
_SHARED_SUBJECT = re.compile(
    r"(?:,?\s+(?:and|but)|,)\s+(?=(?:(?:also|now|currently|usually|often|just|still|never|really|mostly|sometimes|then) )*"
    r"(?:live|work|have|am|are|love|hate|prefer|speak|moved|study|studied|use|play|own|do not|can not|will|went|got|"
    r"started|bought|became|teach|run a|commute|volunteer|switched|deploy|build|code|adopted|saw|tried|made|found|want to|need to|is|was|"
    r"lives|works|has|loves|hates|speaks|studies|plays|graduated|grew up|write|drink|eat|would)\b)",
    re.IGNORECASE,
)
_OPENERS = re.compile(
    r"^(?:(?:oh|well|yes|yeah|yep|nope|nah|ok|okay|alright|so|and|but|or|also|plus|then|hmm+|um+|uh|ah|wow|hey|hi|hello|haha+|"
    r"actually|honestly|basically|anyway|anyways|besides|personally|currently|recently|lately|nowadays|these days|"
    r"at the moment|right now|now|since|because|although|though|while|as|in fact|of course|for context|fyi|btw|by the way|"
    r"ps|p\.s\.|tl;dr|tldr|just so you know|just to let you know|for your information|for the record|as you know|as i said|"
    r"like i said|as i mentioned|one more thing|thing is|the thing is|to be honest|tbh|imo|unfortunately|fortunately|sadly|"
    r"luckily|thankfully|finally|speaking of which|on a brighter note|in general|in my (?:free|spare) time|for fun|"
    r"for a living|at work|at home|on the side|good morning|good evening|thanks|thank you|please|pls|sorry|additionally|"
    r"moreover|furthermore|usually|normally|mostly|sometimes|often|after all|i mean|you know|that's why|this is why)\b\s*[,.!:-]*\s*"
    r"|(?:no|sure|right|context|great|nice|cool|about me|background|intro|to start|first of all|first|second|update|news|"
    r"good news|big news|correction|reminder|true|exactly|i see|i know|got it|guess what|hi there|my friend|friend|there|"
    r"everyone|all|team|folks|ai companion|dear|fun fact)[,.!:;-]+\s*"
    r"|(?:besides|apart from|speaking of|in addition to|regarding|as for|when it comes to|for) [^,]{1,50},\s*)"
    r"(?=\S)",
    re.IGNORECASE,
)
_KEEPS_HABIT = re.compile(r"^(usually|normally|mostly|sometimes|often)\b,?\s*", re.IGNORECASE)
_FACTIVE = re.compile(
    r"^I (?:(?:just|also|should|must|have to|wanted to|want to|would like to|forgot to) )*(?:know|mean|admit|mention|say|"
    r"tell you|note|confess|add|realized|noticed|found out|learned|am (?:glad|happy|sure|sad|sorry|afraid|proud|aware|"
    r"certain)|said|told you|mentioned|discovered)(?: that)?,? (?=I\b|we\b|my\b|our\b)",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"^(?:I (?:really |also |just )?(?:think|guess|believe|suppose|feel like|feel|suspect|am not sure(?: if| whether)?|"
    r"am worried|assume|imagine)(?: that| as if| as though)?,? (?=I\b|we\b|my\b|our\b)|it (?:feels|seems|looks) like )",
    re.IGNORECASE,
)
_UNREAL = re.compile(
    r"\b(?:if (?:I|we|my|our)\b|if only|(?:I|we) (?:wish|hope|pretend|doubt|wonder|dreamt|dreamed)\b(?! to)|suppose\b|"
    r"imagine\b|what if|as if|as though|would have|in (?:my|the|this|a|that) (?:dream|novel|story|game|movie|film|song|play|"
    r"scenario|example|simulation|other life|next life)|once upon a time|let's say|assuming|say I\b|were I\b|had I\b)",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    r"(?:^|[,;.]\s|\b(?:and|but|because|when|since|as|that)\s)(?!I\b|we\b)(?:[\w'-]+ ){0,4}?[\w'-]+ (?:always |just |often |also |"
    r"sometimes )?(?:said|says|say|thinks?|thought|told|tells|asked|asks|claims?|claimed|believes?|wrote|writes that|insists?|"
    r"joked|guesse[sd]|call(?:s|ed)? me|kept saying|keeps saying)\b",
    re.IGNORECASE,
)
_DOCTOR = re.compile(
    r"\b(?:doctor|gp|dermatologist|allergist|cardiologist|neurologist|dentist|blood test|test)s? ", re.IGNORECASE
)
_QUESTION_START = re.compile(
    r"^(?:(?:so|and|but|ok|okay|hi|hey|hello|well),? )*(?:what|who|whom|whose|which|when|where|why|how|do|does|did|can|could|would|"
    r"will|should|shall|may|might|is|are|am|was|were|have you|has|any(?:one|body)?|wanna|tell me|give me|show me|help|let|"
    r"let's|write|make|create|find|explain|translate|suggest|recommend|list|compare|describe|add|remove|fix|change|convert|"
    r"generate|draft|rewrite|summari[sz]e|check|look|think of|try|wish|proofread|edit|review|correct|improve)\b(?! (?:is|are)\b)",
    re.IGNORECASE,
)
_IMPLIED = re.compile(
    r"^(?:just |also |currently |recently |now )*(?P<word>allergic to|based in|born in|born and raised|vegetarian|vegan|married|retired|living in|new to|learning|studying [A-Z]|training for|working (?:at|as|for) |self-employed)\b",
    re.IGNORECASE,
)
_IMPLIED_VERB = re.compile(
    r"^(?:just |also |currently |recently |finally )*(?:moved to|live in|lives in|work as|work at|work for|got (?:a|two|three|my)\b|have (?:a|two|three)\b|"
    r"been (?:\w+ing|living|working)|can't eat|cannot eat|do not eat|don't eat|dont eat|don't drink|grew up in|switched to|adopted|bought (?:a|my|our) |started (?:a|my) |quit my|broke my|passed my|retired )\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause. `subject` is "I", "we" or the noun phrase after my/our; `verb` is a base form, `word` as written.

    `rest` is what follows the verb, as written. `modal` is set with tense "modal" and "future". `opening` holds what
    stood before the subject ("last year").
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
    whole: str = ""

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


def expand(text: str) -> str:
    """Return `text` with its contractions written out, also those without an apostrophe."""
    for pattern, replacement in _CONTRACTIONS:
        text = pattern.sub(replacement, text)
    return " ".join(text.split())


def clauses(sentence: str, *, is_question: bool = False, remembered: bool = False) -> list[Clause]:
    """Return the clauses of `sentence` whose subject is the member or something of hers.

    Questions, requests, hypotheticals and what others said or thought yield nothing.
    """
    text = expand(sentence)
    if is_question or _UNREAL.search(text):
        text = _statement_before_question(text) if is_question and not _UNREAL.search(text) else ""
    text = _rephrased(_without_reported(text))
    if not text or (_QUESTION_START.match(text) and not remembered):
        return []
    found: list[Clause] = []
    for segment in _segments(text):
        clause = parse(segment)
        if clause is not None:
            found.append(replace(clause, remembered=remembered))
    return found


def _rephrased(text: str) -> str:
    """Turn a few inverted statements around: "As a nurse, I ..." says "I am a nurse", "Music is my passion" "I love music"."""
    inverted = re.match(
        r"^(?:[\w ]{1,20}, )?(?P<what>[\w' -]{3,40}?) (?:is|are|has been|has always been) (?:also )?(?:one of )?my (?:\w+ )?(?:passions?|hobby|hobbies|pastimes?|favorite things?)"
        r"(?P<more>[,;.].*)?$",
        text,
        re.IGNORECASE,
    )
    if inverted and inverted["what"].lower().split()[0] not in {
        "this",
        "that",
        "it",
        "one",
        "my",
        "what",
        "those",
        "these",
    }:
        what = inverted["what"]
        proper = what.split()[0].lower() in NATIONALITIES | LANGUAGES
        return f"I love {what if proper else what[:1].lower() + what[1:]}{inverted['more'] or ''}"
    text = re.sub(r"^one of my (?:\w+ )?(?:hobbies|passions|interests) is ", "I love ", text, flags=re.IGNORECASE)
    return re.sub(r"^as (an? [^,]{3,40}), (?=(?:I|my|we)\b)", r"I am \1; ", text, flags=re.IGNORECASE)


def _statement_before_question(text: str) -> str:
    """Keep the statement in "I like tea, do you have some?"."""
    cut = re.search(
        r",\s+(?:(?:and|but|so|or|any)\s+)?(?:do|does|did|can|could|would|will|should|what|how|where|which|who|why|any|are|is|have) ",
        text,
        re.IGNORECASE,
    )
    return (
        text[: cut.start()]
        if cut and re.match(r"(?:besides|also|I|we|my)\b", _without_openers(text)[1], re.IGNORECASE)
        else ""
    )


def _without_reported(text: str) -> str:
    reported = _REPORTED.search(text)
    if not reported or _FACTIVE.match(_without_openers(text)[1]):
        return text
    if _DOCTOR.search(reported[0]):
        return re.sub(r"^\W*(?:me )?(?:that )?", "", text[reported.end() :])
    return text[: reported.start()]


def _segments(text: str) -> list[str]:
    """Cut at the boundaries of clauses; a verb that shares the subject of its neighbor gets it back."""
    segments: list[str] = []
    for part in _split(text):
        subject = re.match(r"(?:I|we)\b", _without_openers(part)[1])
        pieces, start = [], 0
        for cut in _SHARED_SUBJECT.finditer(part):
            if not subject or _governs(part[: cut.start()], part[cut.end() :]):
                continue
            pieces.append(part[start : cut.start()])
            start = cut.end()
        pieces.append(part[start:])
        segments.append(pieces[0])
        segments.extend(f"{subject[0] if subject else ''} {piece}" for piece in pieces[1:])
    return [segment.strip(" ,.;:!") for segment in segments if segment.strip(" ,.;:!")]


def _governs(before: str, after: str) -> bool:
    """Say whether a verb before "and" governs the base form after it: "I will try to study and practice"."""
    finite = re.match(
        r"(?:am|are|is|was|do not|can not|will|would|has|lives|works|\w+ed|went|got|bought|became|saw|made|found)\b",
        after,
    )
    moved = re.match(
        r"\W*(?:I|we) (?:have |just |recently |had )*(?:moved|relocated|went|go|am from)\b", before, re.IGNORECASE
    )
    return (
        not finite
        and not moved
        and bool(re.search(r"\b(?:will|would|could|should|can|might|not|to (?!the\b|a\b)[a-z]+)\b", before))
    )


def _split(text: str) -> list[str]:
    parts, start, link = [], 0, ""
    for boundary in _BOUNDARY.finditer(text):
        before = text[start : boundary.start()]
        if boundary["link"] and re.search(r"\b(?:think|guess|believe|know|mean|sure|say|mention|feel|glad)$", before):
            continue  # "I think that I ..." is one clause; the opener is judged with it
        if not (link == "that" and parts) and link not in {"if", "unless", "even if"}:
            parts.append(before)
        start, link = boundary.end(), (boundary["link"] or "").lower()
    if link not in {"if", "unless", "even if"}:
        parts.append(text[start:])
    return parts


def _without_openers(text: str) -> tuple[str, str]:
    """Return the habit adverb that was found among the openers, and the rest."""
    adverb = ""
    for _ in range(6):
        habit = _KEEPS_HABIT.match(text)
        opener = _OPENERS.match(text)
        if not opener:
            break
        if habit:
            adverb = habit[1].lower()
        text = text[opener.end() :]
    return adverb, text


def parse(segment: str) -> Clause | None:
    """Return the Clause of one segment, or None when its subject is neither the member nor something of hers."""
    adverb, text = _without_openers(segment)
    text = _FACTIVE.sub("", text)
    hedge = _HEDGE.match(text)
    if hedge:
        text = text[hedge.end() :]
    if implied := _IMPLIED.match(text):
        text = f"I am {text[implied.start('word') :][:1].lower()}{text[implied.start('word') + 1 :]}"
    elif _IMPLIED_VERB.match(text):
        text = expand(f"I have {text}" if re.match(r"(?:\w+ )*been \w+ing", text, re.IGNORECASE) else f"I {text}")
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
    return replace(clause, opening=opening, adverbs=adverbs, hedged=clause.hedged or hedge is not None, whole=text)


_OPENING = re.compile(
    r"^(?:(?:in|on|at|since|last|next|this|during|for|every|each|after|before|by|until|from|tomorrow|today|tonight|yesterday|"
    r"earlier|over|around|back|once|twice|as|with|\d+|one|two|three|four|five|ten|january|february|march|april|june|july|"
    r"august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|outside|"
    r"most|because of|both)\b[\w\s',:-]{0,60}|my (?:wife|husband|partner|family|brother|sister|boyfriend|girlfriend) and)$",
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


_ACTIVITY_NOUNS = frozenset(
    "hobby hobbies passion passions interest interests job dream goal plan pastime favorite fear".split()
)
_FINITE = frozenset(
    "lives works likes loves hates studies plays eats drinks started moved died speaks teaches owns runs turns turned "
    "enjoys prefers goes went got graduated uses passed broke switched meets ships lets starts includes include begins "
    "ends deploys hosts closes opens requires consists retired wants says said thinks told plans needs moved live work "
    "like love hate use meet deploy ship".split()
)


def _looks_finite(word: str) -> bool:
    return word in _FINITE


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
    names_activity = bool(owner) and subject.split()[-1:] and subject.split()[-1].lower() in _ACTIVITY_NOUNS
    if reading.be and (names_activity or not (is_gerund(word) and reading.tense != "past")):
        verb, spoken = "be", reading.be
        tense: Tense = reading.tense
    else:
        verb, spoken, rest_from = lemma(word), word, position + 1
        tense = _tense_of(word, reading)
        if word == "got" and position and words[position - 1].lower() in {"have", "has"}:
            verb, spoken, tense = "have", "has", "present"
    return Clause(
        subject=subject,
        owner=owner,
        tense=tense,
        verb=verb,
        word=spoken,
        rest=" ".join(words[rest_from:]).strip(" ,"),
        negated=reading.negated,
        no_longer=reading.no_longer,
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
    if (word in _ADVERBS or word.endswith("ally")) and not (
        reading.be and word in {"very", "so", "pretty", "quite"} and False
    ):
        if not reading.be or word != "all":
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
