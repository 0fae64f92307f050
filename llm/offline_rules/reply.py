"""Answer a chat message from the memory block of the prompt (C05), plainly; must not invent anything."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from llm.client import ChatMessage
from llm.offline_rules.extract import drafts_of
from llm.offline_rules.keys import canonical
from llm.offline_rules.verbs import lemma
from llm.offline_rules.words import word_set

BLOCK_STARTS = "What this person has told you in earlier conversations."

_LINE = re.compile(r"^- (?P<key>[^:\n]{1,120}): (?P<content>.+)$")
_STOP = word_set(
    "a an the i me my mine you your do does did is are was were am be been have has had can could will would should "
    "what "
    "who where when which why how whose whom of in on at to for from with about and or not it this that there tell "
    "know "
    "remember please any some again so we our us they them their he she say said told much many get there's again ever "
    "usually still also just really want wants give name called person something anything everything"
)
# What a question speaks of -> beginnings of keys that answer it.
_TOPICS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), prefixes)
    for pattern, prefixes in (
        (
            r"\b(?:where (?:do|did|am) (?:i|we) (?:live|living|based|move|reside)|my (?:home|city|town)|which "
            r"(?:city|town|country) (?:do|am) i)\b",
            ("home",),
        ),
        (
            r"\bwhere (?:am i|do i come) from\b|\bmy (?:home ?town|origin|nationality)\b|\bgrow up\b",
            ("origin", "nationality", "birthplace", "home.childhood"),
        ),
        (r"\bmy name\b|\bwho am i\b|\bcall me\b|\bwhat am i called\b", ("name",)),
        (
            r"\b(?:where|what|who|which company) (?:do|am) i (?:work|do for|employed)|\bmy (?:job|work|employer|"
            r"company|profession|occupation|role)\b|\bfor a living\b",
            ("work.role", "work.employer", "work.status", "work.field", "work.schedule"),
        ),
        (
            r"\b(?:can'?t|cannot|can not|should(?: not|n't)|may not|do(?: not|n't)) i eat\b|\bi (?:can'?t|cannot|"
            r"can not|should not|shouldn't|may not|don'?t|do not) eat\b|\bwhat (?:can|should) i (?:not )?eat\b|"
            r"\ballerg|\bmy diet\b|\bdietary\b|\bfoods?\b.*\bavoid\b|\bintoleran",
            ("allergy", "intolerance", "diet"),
        ),
        (
            r"\b(?:cook|dinner|lunch|recipe|restaurant|breakfast|snack)\b",
            ("allergy", "intolerance", "diet", "favorite.food", "dislikes"),
        ),
        (r"\b(?:drink|alcohol)\b", ("diet.alcohol", "preference")),
        (r"\bdo i smoke\b", ("smoking",)),
        (
            r"\bmy (?:hobb\w+|interests?)\b|\bwhat do i (?:like|enjoy|love)\b|\bfree time\b|\bfor fun\b",
            ("likes", "interest", "hobbies", "hobby", "plays", "habit"),
        ),
        (r"\b(?:dislike|hate|not like|don'?t (?:i )?like)\b|don'?t i like", ("dislikes",)),
        (r"\bmy (?:pets?|dogs?|cats?)\b|\bpets?\b", ("pet",)),
        (
            r"\bmy (?:family|kids?|children|sons?|daughters?|sisters?|brothers?|siblings|wife|husband|partner|"
            r"mother|father|mom|dad|parents)\b|\bsiblings\b",
            ("family", "relationship"),
        ),
        (r"\bmarried\b|\bsingle\b|\brelationship\b", ("relationship",)),
        (r"\bbirthday\b|\bwhen was i born\b", ("birthday", "birth")),
        (r"\bhow old am i\b|\bmy age\b", ("age", "birth")),
        (r"\blanguages?\b|\bdo i speak\b", ("language", "learning", "answers.language")),
        (
            r"\b(?:am i|are we) learning\b|\bi(?:'m| am) learning\b|\bmy studies\b|\bstud(?:y|ied|ying)\b|\bmy "
            r"(?:major|degree|school|university)\b",
            ("learning", "education", "studying"),
        ),
        (
            r"\b(?:plans?|planning|upcoming|coming up|calendar|appointments?|trips?|travel\w*|fly\w*|holidays?|"
            r"vacation)\b",
            ("plan", "travel", "event", "goal"),
        ),
        (r"\bgoals?\b|\bdreams?\b", ("goal", "plan")),
        (r"\bmy health\b|\bmedica\w+\b|\bcondition\b", ("health", "allergy")),
        (
            r"\b(?:how|what) (?:should|do) (?:you|i) (?:answer|reply|want (?:you|your|the))\b|\bmy (?:preferences|"
            r"answer)",
            ("answers", "preference", "name.preferred"),
        ),
        (r"\b(?:laptop|phone|computer|device|editor)\b", ("device", "possession", "tools")),
        (r"\b(?:tools?|tech stack|stack|programming)\b", ("tools", "work")),
        (r"\bhabits?\b|\broutine\b|\bevery (?:day|morning|week)\b", ("habit",)),
        (r"\binstruments?\b|\bsports?\b", ("plays", "habit", "likes")),
    )
)
_EVERYTHING = re.compile(
    r"\b(?:what (?:do|did) you (?:know|remember)|what have i told you|tell me (?:what you know )?about (?:me|"
    r"myself)|what you (?:know|remember) about me|"
    r"do you (?:know|remember) (?:me|anything about me|who i am)|summari[sz]e what you know)\b",
    re.IGNORECASE,
)
_ABOUT_MODEL = re.compile(
    r"\b(?:who are you|what are you|are you (?:an? )?(?:ai|bot|human|real|robot|person|chatgpt|llm|model|gpt|"
    r"machine|online)|what model|which model|"
    r"what can you do|your name|how do you work|are you offline|what is this)\b",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"^(?:hi|hello|hey|good (?:morning|afternoon|evening)|greetings|hallo|moin|hola|bonjour|salut|servus)\b",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"^(?:ok(?:ay)?,? |great,? |perfect,? )*(?:thanks|thank you|thx|cheers|merci|danke|gracias)\b", re.IGNORECASE
)
_BYE = re.compile(r"\b(?:good ?bye|bye|see you|good night|talk (?:to you )?(?:later|tomorrow))\b", re.IGNORECASE)
_QUESTION = re.compile(
    r"^(?:(?:so|and|ok|okay|hi|hey|hello|please|well)[,!]? )*(?:what|who|whose|which|when|where|why|how|do|does|did|"
    r"can|could|would|will|should|is|are|am|was|were|have|has|"
    r"tell me|remind me|give me|show me|explain|write|make|suggest|recommend|help|find|list|translate|plan|create|"
    r"draft|compare|summari[sz]e|fix)\b",
    re.IGNORECASE,
)
_MINE = re.compile(r"(?<!tell )(?<!show )(?<!give )(?<!help )\b(?:i|i'm|i've|my|me|mine|we|our|us)\b", re.IGNORECASE)
_ADVICE = re.compile(r"\b(?:recommend|suggest|should i|shall i|ideas? for|plan|cook|recipe)\b", re.IGNORECASE)
MAX_LINES = 8


@dataclass(frozen=True, slots=True)
class Known:
    """One line of the memory block."""

    key: str
    content: str


def answer(messages: Sequence[ChatMessage]) -> str:
    """Return a short answer to the last user message, from the memory block where that has it."""
    said = next((message.content for message in reversed(messages) if message.role == "user"), "").strip()
    known = memory_lines(messages)
    if not said:
        return "Your message is empty. Tell me something about yourself, or ask what I remember."
    if _ABOUT_MODEL.search(said):
        return (
            "I am the offline rule-based model of this server (offline-rules-1). I run without a network and without a "
            "language model: I can answer questions from what you told me in earlier conversations, and little else."
        )
    if _EVERYTHING.search(said):
        return _everything(known)
    if _is_question(said):
        return _from_memory(said, known)
    return _to_statement(said, known)


def memory_lines(messages: Sequence[ChatMessage]) -> list[Known]:
    """Return the lines "- key: content" that follow the heading of the memory block in system messages."""
    found = []
    for message in messages:
        if message.role != "system" or BLOCK_STARTS not in message.content:
            continue
        started = False
        for line in message.content.partition(BLOCK_STARTS)[2].splitlines():
            entry = _LINE.match(line.strip())
            if entry:
                started = True
                found.append(Known(entry["key"].strip(), entry["content"].strip()))
            elif started and line.strip():
                break
    return found


def _is_question(said: str) -> bool:
    return said.rstrip().endswith("?") or "? " in said or bool(_QUESTION.match(said))


def _everything(known: list[Known]) -> str:
    if not known:
        return "I have nothing noted about you in this conversation's memory."
    listed = "\n".join(f"- {line.content}" for line in known[:MAX_LINES])
    more = len(known) - MAX_LINES
    return f"From earlier conversations I know:\n{listed}" + (f"\n(and {more} more)" if more > 0 else "")


def _from_memory(said: str, known: list[Known]) -> str:
    question = _last_question(said)
    found = relevant(question, known)
    if found:
        lead = "From what you told me earlier:"
        if _ADVICE.search(question):
            lead = "I am a rule-based model and cannot advise you, but from what you told me earlier:"
        if len(found) == 1:
            return f"{lead} {found[0].content}"
        listed = "\n".join(f"- {line.content}" for line in found[:MAX_LINES])
        return f"{lead}\n{listed}"
    if _MINE.search(question):
        return "I do not know that: you have not told me, or it is not in what I may remember here."
    return (
        "I cannot answer that. I am the offline rule-based model of this server and know only what you have told me "
        "about yourself."
    )


def _last_question(said: str) -> str:
    sentences = re.split(r"(?<=[.!?])\s+", said)
    return next((sentence for sentence in reversed(sentences) if _is_question_alone(sentence)), said)


def _is_question_alone(sentence: str) -> bool:
    return sentence.endswith("?") or bool(_QUESTION.match(sentence))


def relevant(question: str, known: Sequence[Known]) -> list[Known]:
    """Return the lines that answer the question, best first: topic of the question, then words in common."""
    prefixes = [prefix for pattern, found in _TOPICS if pattern.search(question) for prefix in found]
    asked = _stems(question)
    scored = []
    for position, line in enumerate(known):
        words = len(asked & (_stems(line.content) | _stems(line.key.replace(".", " ").replace("_", " "))))
        name = canonical(line.key)
        topical = next((2.5 - 0.1 * at for at, prefix in enumerate(prefixes) if _under(name, prefix)), 0.0)
        if prefixes and not topical and words < 2:
            words = 0  # one shared word does not beat a clear topic
        score = topical + words
        if score >= 1:
            scored.append((-score, position, line))
    scored.sort(key=lambda entry: entry[:2])
    if not scored:
        return []
    best = -scored[0][0]
    specific = [line for score, _, line in scored if -score >= best - (1.6 if best < 3.5 else 0.9)]
    return specific[:MAX_LINES]


def _under(key: str, prefix: str) -> bool:
    return key == prefix or key.startswith((prefix + ".", prefix + "_"))


def _stems(text: str) -> set[str]:
    stems = set()
    for word in re.findall(r"[^\W_]+(?:'[a-z]+)?", text.lower()):
        if word not in _STOP and len(word) > 1:
            stems.add(lemma(word.removesuffix("'s")))
    return stems


def _to_statement(said: str, known: list[Known]) -> str:
    if _THANKS.match(said):
        return "You are welcome."
    if _BYE.search(said) and len(said.split()) < 12:
        return "Goodbye."
    noted = drafts_of(said, date(2000, 1, 3))  # only whether there is something; its dates are not shown
    hello = "Hello. " if _GREETING.match(said) else ""
    if noted:
        return f"{hello}Understood, thank you for telling me."
    if hello:
        name = next((line.content for line in known if line.key in {"name.preferred", "name"}), "")
        who = re.search(r"called (?P<name>[^.]+)", name)
        return f"Hello{', ' + who['name'] if who else ''}. What would you like to tell me or ask?"
    return "I have read that. I am the offline rule-based model: I can answer questions about what you have told me."
