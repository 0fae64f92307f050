"""Rules for what the member works as, where and on what; each reads one clause."""

import re
from datetime import date

from llm.offline_rules.clauses import Clause
from llm.offline_rules.drafts import Draft, article, draft, timed
from llm.offline_rules.phrases import in_third_person, is_empty, noun_phrase, object_of
from llm.offline_rules.words import FREQUENCY, JOB_ADJECTIVES_BAD, JOB_WORDS, WEEKDAYS


def role_of(text: str, *, certain: bool = False) -> str | None:
    """Return the job named by `text` ("a senior data engineer"), or None when it names none."""
    text = re.split(
        r"\s+(?:at|for|with|in|from|by|during|under|after|majoring|studying|working|based|on|of (?:two|three|four)|"
        r"(?<!head )(?<!vp )(?<!director )(?<!chief )(?<!president )of)\b|[,(]",
        object_of(text),
        maxsplit=1,
    )[0]
    words = re.sub(r"^(?:a|an|the|currently a)\s+", "", text, flags=re.IGNORECASE).split()
    if not 1 <= len(words) <= 5 or in_third_person(" ".join(words)) is None:
        return None
    lowered = [word.lower().strip(",.") for word in words]
    if any(word in JOB_ADJECTIVES_BAD for word in lowered[:-1]):
        return None
    last = lowered[-1].removesuffix("s") if certain else lowered[-1]
    if lowered[-2:] == ["language", "model"]:
        return None
    heads = {lowered[-1], last, "-".join(lowered[-2:]), " ".join(lowered[-2:])}
    leading = re.match(r"(?:head|vp|chief|director|lead|manager|vice president)\b", " ".join(lowered))
    return " ".join(words) if certain or heads & JOB_WORDS or leading else None


def employer_of(text: str) -> str | None:
    """Return the named employer after "at" or "for", or None."""
    found = re.search(
        r"\b(?:at|for|with)\s+(?:(?:a|an) (?:company|startup|firm|bank) called )?(?P<name>[^,.;:()]+)", text
    )
    if not found:
        return None
    name = re.split(
        r"\s+(?:as|in|since|for|and|but|because|on|from|where|which|when|now|until|with|doing|these|remotely|over|"
        r"about|every|"
        r"full|part|right|almost|nearly|so)\b",
        found["name"],
        maxsplit=1,
    )[0].strip()
    words = name.split()
    generic = re.match(
        r"(?:a|an|the) (?:[\w-]+ ){0,3}(?:startup|company|bank|hospital|school|university|agency|firm|clinic|"
        r"library|museum|bakery|restaurant|factory|ministry|council|city|government|lab|studio|hotel|ngo|charity|"
        r"shop|store|supermarket|post office)$",
        name,
        re.IGNORECASE,
    )
    named = 0 < len(words) <= 5 and (
        words[0][0].isupper() or generic or (len(words) > 1 and words[0].lower() == "the" and words[1][0].isupper())
    )
    if not named or words[0].lower() in WEEKDAYS:
        return None
    return None if is_empty(name) else in_third_person(name)


def work(clause: Clause, said: date) -> list[Draft]:
    """I work as R at E; I work in F; I work from home on Fridays; I no longer work at E."""
    if clause.tense in {"future", "modal"}:
        return []
    rest = re.sub(r"^(?:full[- ]time|part[- ]time|there|here|remotely),? (?=as|at|for)", "", clause.rest)
    verb = {"past": "Worked", "formerly": "Used to work"}.get(
        clause.tense, "No longer works" if clause.no_longer else "Works"
    )
    past = verb != "Works"
    if clause.negated and not clause.no_longer:
        free = noun_phrase(rest) if FREQUENCY.search(rest) else None
        return draft(
            "profile", ("work.not", re.sub(r"^(?:on|in|at) ", "", rest)), free and clause.predicate(free), 0.75
        )
    found: list[Draft] = []
    role = re.search(r"\bas (?P<role>(?:an? |the |head |chief )?.+)", rest)
    name = role_of(role["role"], certain=True) if role else None
    if name:
        found += draft(
            "profile",
            ("work.past", name) if past else "work.role",
            f"{verb} as {article(name)}",
            0.9 if not past else 0.75,
        )
    employer = employer_of(rest)
    if employer:
        found += draft(
            "profile",
            ("work.former_employer", employer) if past else "work.employer",
            f"{verb} at {employer}",
            0.9 if not past else 0.75,
        )
    return found or ([] if clause.tense == "past" or clause.negated else _work_otherwise(clause, rest))


def _work_otherwise(clause: Clause, rest: str) -> list[Draft]:
    if clause.tense == "formerly":
        field = re.match(r"(?:in|on) (?P<field>[a-zA-Z][\w ]+)", rest)
        name = noun_phrase(rest, max_words=6) if field else None
        return draft("profile", ("work.past", name or ""), f"Used to work {name}" if name else None, 0.75)
    tenure = re.match(
        r"(?:at|for) (?:my|the) (?:current|same) (?:company|job|employer|firm)\b.*\b(?:for|since) .+", rest
    )
    if tenure:
        return draft("profile", "work.tenure", clause.predicate(noun_phrase(rest, max_words=10)), 0.8)
    field = re.match(r"in (?!a (?:team|group)|my|this|the same|progress|general|silence)(?P<field>.+)", rest)
    if field and clause.tense != "past":
        name = noun_phrase(field["field"], max_words=6)
        return draft("profile", "work.field", f"Works in {name}" if name else None, 0.8)
    if re.match(
        r"(?:mostly |fully |entirely )?(?:from home|remote(?:ly)?|part[- ]time|full[- ]time|nights?\b|(?:the "
        r")?night shifts?|shifts|weekends|four days)",
        rest,
    ):
        return draft("profile", "work.schedule", f"Works {noun_phrase(rest, max_words=10)}", 0.85)
    project = re.match(r"(?:on|with) (?P<what>.+)", rest)
    if project:
        what = noun_phrase(project["what"], max_words=8)
        vague = re.match(
            r"(?:an? |the |their )?(?:\w+ )?(?:project|app|website|task|bug|feature)(?: (?:at|for|with) .*)?$",
            what or "",
        )
        named = (
            what
            and not vague
            and (
                re.search(r"\b[A-Z]", what)
                or re.match(
                    r"(?:a|an|the) (?:\w+ ){0,4}(?:project|app|book|novel|thesis|paper|game|library|website|"
                    r"dissertation|migration|platform|album)\b",
                    what,
                )
            )
        )
        is_named = bool(named) or (bool(what) and rest.startswith("with ") and clause.tense == "present")
        prefix = "Is working" if clause.tense.endswith("progressive") else "Works"
        key = ("work.with", what or "") if rest.startswith("with") else ("work.project", what or "")
        return draft("semantic", key, f"{prefix} {rest.split(maxsplit=1)[0]} {what}" if is_named else None, 0.7)
    return []


def employ(clause: Clause, said: date) -> list[Draft]:
    """I joined E in May; I started a new job at E; I quit my job; I run a bakery; I teach math."""
    rest, when = timed(clause, said, future=clause.tense in {"progressive", "future"})
    label = f" {when.label}" if when else ""
    if clause.negated or clause.tense in {"modal", "formerly"}:
        return []
    if clause.verb in {"run", "own", "manage", "lead", "found", "teach", "tutor", "freelance"} and clause.tense in {
        "present",
        "progressive",
    }:
        return _occupation(clause, rest)
    if clause.verb == "teach":
        return (
            draft("profile", "work.past", clause.predicate(noun_phrase(rest)), 0.7)
            if clause.tense == "formerly"
            else []
        )
    if clause.verb in {"start", "begin"} and re.search(
        r"\b(?:job|position|role|internship|apprenticeship|phd|master'?s)\b", rest, re.IGNORECASE
    ):
        what = noun_phrase(rest, max_words=10)
        ends = when.after if when and clause.tense in {"progressive", "future"} else None
        found = draft("episodic", "work.new_job", clause.predicate(f"{what}{label}") if what else None, 0.85, ends)
        employer = employer_of(rest)
        return found + (
            draft("profile", "work.employer", f"Works at {employer}", 0.8)
            if employer and clause.tense in {"past", "perfect"}
            else []
        )
    if clause.verb == "join" and clause.tense in {"past", "perfect"} and re.match(r"(?:the )?[A-Z]", rest):
        name = noun_phrase(re.split(r"\s+as\b", rest)[0], max_words=5)
        return draft("profile", ("joined", name or ""), f"Joined {name}{label}" if name else None, 0.75)
    if (
        clause.verb in {"quit", "leave", "lose"}
        and re.match(r"my (?:\w+ )?job\b", rest)
        and clause.tense in {"past", "perfect"}
    ):
        return draft("episodic", "work.job_ended", clause.predicate(f"{noun_phrase(rest, max_words=6)}{label}"), 0.85)
    return []


def _occupation(clause: Clause, rest: str) -> list[Draft]:
    what = noun_phrase(rest, max_words=8)
    if not what:
        return []
    if clause.verb == "own" and re.match(r"an? [A-Z][\w-]+$", what):
        return draft("profile", ("possession", what), f"Owns {what}", 0.8)
    if clause.verb in {"run", "own", "manage", "lead", "found"}:
        business = re.match(
            r"(?:an?|the|two|three|their)(?: own)? (?:[\w'-]+ ){0,3}(?:bakery|restaurant|shop|store|cafe|café|"
            r"company|business|farm|agency|startup|"
            r"studio|bookstore|bookshop|blog|podcast|newsletter|team|hotel|clinic|gym|school|workshop|vineyard|"
            r"brewery|department|"
            r"house|flat|apartment|car|boat|bike|bicycle|motorcycle|dog|cat|horse|guitar|piano|cottage|cabin|salon|"
            r"garage|hostel|club|group|project|macbook|thinkpad|telescope|tesla|camera|van|truck)\b.*",
            what,
            re.IGNORECASE,
        )
        area = "possession" if clause.verb == "own" else "work"
        return draft(
            "profile",
            (area, re.sub(r"\s+(?:in|of|at|called|named|with)\b.*", "", what)),
            clause.predicate(what) if business else None,
            0.85,
        )
    if clause.verb == "freelance":
        return draft("profile", "work.status", clause.predicate(what), 0.8)
    return draft(
        "profile", "work.role", clause.predicate(what) if not what.startswith(("them", "people how")) else None, 0.8
    )
