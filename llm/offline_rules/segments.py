"""Cut a sentence into segments of one clause each and drop what is not asserted; must not parse the clauses."""

import re

from llm.offline_rules.words import LANGUAGES, NATIONALITIES

_SUBJECT = r"(?:I|we|you|he|she|it|they|this|there|these|everyone|people)\b"


_OWNED = (
    r"(?:my|our)(?: [\w'’-]+){1,5}? (?:is|are|was|were|has|have|had|does|did|do|will|can|just|also|lives?|works?|"
    r"likes?|loves?|hates?|says?|said|wants?|thinks?|told|got|plays?|studies|studied|started|moved|turn(?:s|ed)|"
    r"died|passed|eats?|drinks?)\b"
)


_CONJUNCTION = (
    r"(?:and then|and so|so that|and|but|so|because|cause|cuz|since|as|while|although|though|however|plus|or|when|"
    r"whenever|where|until|till|before|after|that|yet|even though|whereas|unless|even if|if)"
)


_BOUNDARY = re.compile(
    rf"\s*(?:[;()]|\s[-–—]+\s|:\s)\s*|,?\s+(?P<link>{_CONJUNCTION}),?\s+(?={_SUBJECT}|{_OWNED})|,\s+(?={_SUBJECT}|"
    rf"{_OWNED}|(?:living|based) (?:in|near)\b|originally from\b)"
    r"|,?\s+(?:but|because|although|though|however|whereas|which|so that)\b,?\s+",
    re.IGNORECASE,
)


_SHARED_SUBJECT = re.compile(
    r"(?:,?\s+(?:and|but)|,)\s+(?=(?:(?:also|now|currently|usually|often|just|still|never|really|mostly|sometimes|"
    r"then) )*"
    r"(?:live|work|have|am|are|love|hate|prefer|speak|moved|study|studied|use|play|own|do not|can not|will|went|got|"
    r"read|started|bought|became|teach|run a|commute|volunteer|switched|deploy|build|code|adopted|saw|tried|made|found|"
    r"want to|need to|is|was|"
    r"lives|works|has|loves|hates|speaks|studies|plays|graduated|grew up|write|drink|eat|would)\b)",
    re.IGNORECASE,
)


_OPENERS = re.compile(
    r"^(?:(?:oh|well|yes|yeah|yep|nope|nah|ok|okay|alright|so|and|but|or|also|plus|then|hmm+|um+|uh|ah|wow|hey|hi|"
    r"hello|haha+|"
    r"actually|originally|honestly|basically|anyway|anyways|besides|personally|currently|recently|lately|nowadays"
    r"|these days|"
    r"at the moment|right now|now|since|because|although|though|while|as|in fact|of course|for context|just fyi|"
    r"fyi|btw|by the way|"
    r"ps|p\.s\.|tl;dr|tldr|just so you know|just to let you know|for your information|for the record|as you know|as "
    r"i said|"
    r"like i said|as i mentioned|one more thing|thing is|the thing is|to be honest|tbh|imo|unfortunately|"
    r"fortunately|sadly|"
    r"luckily|thankfully|finally|speaking of which|on a brighter note|in general|in my (?:free|spare) time|for fun|"
    r"for a living|at work|at home|on the side|good morning|good evening|thanks|thank you|please|pls|sorry|"
    r"additionally|"
    r"moreover|furthermore|usually|normally|mostly|sometimes|often|after all|i mean|you know|that's why|this is "
    r"why)\b\s*[,.!:-]*\s*"
    r"|(?:no|sure|right|context|great|nice|cool|about me|background|intro|to start|first of all|first|second|update|"
    r"news|"
    r"good news|big news|correction|reminder|true|exactly|i see|i know|got it|guess what|hi there|my friend|friend|"
    r"there|"
    r"everyone|all|team|folks|ai companion|dear|fun fact)[,.!:;-]+\s*"
    r"|(?:besides|apart from|speaking of|in addition to|regarding|as for|when it comes to|for) [^,]{1,50},\s*)"
    r"(?=\S)",
    re.IGNORECASE,
)


_KEEPS_HABIT = re.compile(r"^(usually|normally|mostly|sometimes|often)\b,?\s*", re.IGNORECASE)


FACTIVE = re.compile(
    r"^I (?:(?:just|also|should|must|have to|wanted to|want to|would like to|forgot to) )*(?:know|mean|admit|"
    r"mention|say|"
    r"tell you|note|confess|add|realized|noticed|found out|learned|am (?:glad|happy|sure|sad|sorry|afraid|proud|aware|"
    r"certain)|said|told you|mentioned|discovered)(?: that)?,? (?=I\b|we\b|my\b|our\b)",
    re.IGNORECASE,
)


HEDGE = re.compile(
    r"^(?:I (?:really |also |just )?(?:think|guess|believe|suppose|feel like|feel|suspect|am not sure(?: if| whether)?|"
    r"am worried|assume|imagine)(?: that| as if| as though)?,? (?=I\b|we\b|my\b|our\b)|it (?:feels|seems|looks) like )",
    re.IGNORECASE,
)


UNREAL = re.compile(
    r"\b(?:if (?:I|we|my|our)\b|if only|(?:I|we) (?:wish|hope|pretend|doubt|wonder|dreamt|dreamed)\b(?! to)|suppose\b|"
    r"imagine\b|what if|as if|as though|would have|in (?:my|the|this|a|that) (?:dream|novel|story|game|movie|film|"
    r"song|play|"
    r"scenario|example|simulation|other life|next life)|once upon a time|let's say|assuming|say I\b|were I\b|had I\b)",
    re.IGNORECASE,
)


_REPORTED = re.compile(
    r"(?:^|[,;.]\s|\b(?:and|but|because|when|since|as|that)\s)(?!I\b|we\b)(?:[\w'-]+ ){0,4}?[\w'-]+ (?:always |just "
    r"|often |also |"
    r"sometimes )?(?:said|says|say|thinks?|thought|told|tells|asked|asks|claims?|claimed|believes?|wrote|writes "
    r"that|insists?|"
    r"joked|guesse[sd]|call(?:s|ed)? me|kept saying|keeps saying)\b",
    re.IGNORECASE,
)


_DOCTOR = re.compile(
    r"\b(?:doctor|gp|dermatologist|allergist|cardiologist|neurologist|dentist|blood test|test)s? ", re.IGNORECASE
)


QUESTION_START = re.compile(
    r"^(?:(?:so|and|but|ok|okay|hi|hey|hello|well),? )*(?:what|who|whom|whose|which|when|where|why|how|do|does|did|"
    r"can|could|would|"
    r"will|should|shall|may|might|is|are|am|was|were|have you|has|any(?:one|body)?|wanna|tell me|give me|show me|"
    r"help|let|"
    r"let's|write|make|create|find|explain|translate|suggest|recommend|list|compare|describe|add|remove|fix|change|"
    r"convert|"
    r"generate|draft|rewrite|summari[sz]e|check|look|think of|try|wish|proofread|edit|review|correct|improve)\b(?! "
    r"(?:is|are)\b)",
    re.IGNORECASE,
)


def rephrased(text: str) -> str:
    """Turn statements around: "As a nurse, I ..." says "I am a nurse", "Music is my passion" says "I love music"."""
    inverted = re.match(
        r"^(?:[\w ]{1,20}, )?(?P<what>[\w' -]{3,40}?) (?:is|are|has been|has always been) (?:also )?(?:one of )?my "
        r"(?:\w+ )?(?:passions?|hobby|hobbies|pastimes?|favorite things?)"
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
    text = re.sub(r"\b(my|our) ([\w-]+) of choice\b", r"\1 \2", text, flags=re.IGNORECASE)
    text = re.sub(r"\bI (?:earn|make) (?:my|a) living (?:working )?as (?=an? )", "I work as ", text)
    text = re.sub(r"^one of my (?:\w+ )?(?:hobbies|passions|interests) is ", "I love ", text, flags=re.IGNORECASE)
    return re.sub(r"^as (an? [^,]{3,40}), (?=(?:I|my|we)\b)", r"I am \1; ", text, flags=re.IGNORECASE)


def statement_before_question(text: str) -> str:
    """Keep the statement in "I like tea, do you have some?"."""
    cut = re.search(
        r",\s+(?:(?:and|but|so|or|any)\s+)?(?:do|does|did|can|could|would|will|should|what|how|where|which|who|why|"
        r"any|are|is|have) ",
        text,
        re.IGNORECASE,
    )
    return (
        text[: cut.start()]
        if cut and re.match(r"(?:besides|also|I|we|my)\b", without_openers(text)[1], re.IGNORECASE)
        else ""
    )


def without_reported(text: str) -> str:
    """Return the text up to where somebody else is reported to say or think something; a doctor's word counts."""
    reported = _REPORTED.search(text)
    if not reported or FACTIVE.match(without_openers(text)[1]):
        return text
    if _DOCTOR.search(reported[0]):
        return re.sub(r"^\W*(?:me )?(?:that )?", "", text[reported.end() :])
    return text[: reported.start()]


def segments(text: str) -> list[str]:
    """Cut at the boundaries of clauses; a verb that shares the subject of its neighbor gets it back."""
    segments: list[str] = []
    for part in _split(text):
        subject = re.match(r"(?:I|we)\b", without_openers(part)[1], re.IGNORECASE)
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
    parts: list[str] = []
    start, link = 0, ""
    for boundary in _BOUNDARY.finditer(text):
        before = text[start : boundary.start()]
        if boundary["link"] and re.search(r"\b(?:think|guess|believe|know|mean|sure|say|mention|feel|glad)$", before):
            continue  # "I think that I ..." is one clause; the opener is judged with it
        if not (link == "that" and parts) and _is_real(link, before):
            parts.append(before)
        start, link = boundary.end(), (boundary["link"] or "").lower()
    if _is_real(link, text[start:]):
        parts.append(text[start:])
    return parts


_CONDITIONS = frozenset({"if", "unless", "even if"})
_TIMES = frozenset({"before", "until", "till", "when", "whenever"})
_NOT_YET = re.compile(r"(?:I|we) (?:am|are|turn|get|have|can|retire|finish|feel|go|reach)\b", re.IGNORECASE)


def _is_real(link: str, clause: str) -> bool:
    """Say whether a clause tells what is: not after "if", and not what is only to come ("before I am fifty")."""
    return link not in _CONDITIONS and not (link in _TIMES and _NOT_YET.match(clause))


def without_openers(text: str) -> tuple[str, str]:
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
