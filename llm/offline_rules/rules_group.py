"""Rules for what a group does regularly, what was switched, and what the member asks to remember as said."""

import re
from datetime import date

from llm.offline_rules.clauses import Clause
from llm.offline_rules.drafts import Draft, draft
from llm.offline_rules.keys import join, slug
from llm.offline_rules.phrases import in_third_person, noun_phrase, object_of, predicate_phrase
from llm.offline_rules.rules_kin import lower
from llm.offline_rules.words import CLOCK, SECRET_NOUNS, WEEKDAY, word_set

_ROUTINE = re.compile(
    r"^(?:[\w'-]+ ){0,3}(?:standups?|stand-ups?|meetings?|sprints?|retros?|retrospectives?|deploys?|deployments?|"
    r"releases?|planning|sync|"
    r"one-on-one|1:1|class|classes|lessons?|practice|training|rehearsals?|choir|shifts?|office hours|lectures?|"
    r"seminars?|therapy|market day|game night|"
    r"book club|family dinner|day off|code freeze|freeze|payday|invoices|reviews?|refinement|all-hands|maintenance "
    r"window|backups?|on-call|rent|mass|quiz night|date night|town hall|reports?|lunch break|school run|bedtime)$",
    re.IGNORECASE,
)


def schedule(clause: Clause, said: date) -> list[Draft]:
    """Our standup is at 9:30; our deploys are on Thursdays."""
    if not _ROUTINE.match(clause.subject) or clause.negated or clause.tense in {"past", "perfect_progressive"}:
        return []
    if re.search(r"\b(?:today|tomorrow|tonight|yesterday|next|this|last)\b", clause.rest):
        return []
    clock = bool(re.search(r"\d|noon|midnight", clause.rest))
    day = bool(WEEKDAY.search(clause.rest)) or bool(
        re.search(r"\b(?:every|each|daily|weekly|biweekly|twice|once)\b", clause.rest)
    )
    if not (clock or day):
        return []
    phrase = _TRAILING_NOW.sub("", object_of(re.sub(r"(\d)[.:](\d\d)", r"\1§\2", clause.rest))).replace("§", ":")
    phrase = in_third_person(phrase) or ""
    plural = clause.word == "are"
    verb = ("are" if plural else "is") if clause.verb == "be" else clause.word
    facet = (
        "day"
        if day
        else "time"
        if clock and not re.search(r"\b(?:weeks?|days?|minutes|hours?)\b", clause.rest)
        else "schedule"
    )
    subject = clause.subject
    area = "work" if clause.owner == "our" else "schedule"
    return draft(
        "semantic",
        join(area, slug(subject, words=3), facet),
        f"Their {subject} {verb} {phrase}" if phrase else None,
        0.85,
    )


_TRAILING_NOW = re.compile(r"\s+(?:now|these days|currently)$")


_GROUP_NOUNS = re.compile(
    r"^(?:[\w'-]+ ){0,2}(?:team|company|startup|backend|frontend|back-end|front-end|database|db|stack|codebase|app|"
    r"api|repo|repository|monorepo|product|"
    r"office|ci|pipeline|cluster|infra|infrastructure|staging|production|website|cms|school|class|band|choir|"
    r"landlord|house|flat|apartment|garden|"
    r"kitchen|client|customers?|main competitor|budget|fiscal year|server|servers|cloud|package manager|test suite|"
    r"linter|salary|rent|wifi|heating|"
    r"language|languages|framework|thesis|dissertation|research|paper|novel|book|project|side project|business|shop|"
    r"store|farm|restaurant|bakery|clinic)$",
    re.IGNORECASE,
)


def group(clause: Clause, said: date) -> list[Draft]:
    """Our backend is written in Rust; our team uses Kanban; my thesis is about X."""
    if not _GROUP_NOUNS.match(clause.subject) or clause.tense not in {"present", "perfect"} or clause.negated:
        return []
    shape = {
        "be": (
            r"(?:written|built|hosted|based|located|running|deployed|called|named|in|on|about|from|due|made|for|an? "
            r"[A-Z]|[A-Z\d])"
        ),
        "use": r".+",
        "run": r"(?:on|in|at) .+",
        "make": r".+",
        "sell": r".+",
        "have": (
            r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|an? (?:policy|rule)) "
            r".+"
        ),
        "deploy": r".+",
    }.get(clause.verb)
    if shape is None or not re.match(shape, clause.rest):
        return []
    value = noun_phrase(clause.rest, max_words=9)
    if not value or re.match(r"(?:in|on) (?:a|the) (?:mess|way|bad)\b|on fire|in (?:trouble|shambles)", value):
        return []
    about = {
        "be": slug(value.split()[0])
        if value.split()[0] in {"written", "hosted", "based", "located", "called", "named", "due", "about"}
        else "",
        "use": "tools",
        "have": "size",
        "run": "runs",
    }.get(clause.verb, clause.verb)
    area = "work" if clause.owner == "our" or clause.subject.split()[-1] in {"team", "company", "startup"} else ""
    verb = clause.word if clause.verb == "be" else lower(clause.predicate("")).strip()
    return draft("semantic", join(area, slug(clause.subject), about), f"Their {clause.subject} {verb} {value}", 0.8)


def switch(clause: Clause, said: date) -> list[Draft]:
    """We switched the deploys to Thursday; I switched from MySQL to Postgres; we moved the standup to 10."""
    if clause.negated or clause.tense not in {"past", "perfect", "progressive", "future"}:
        return []
    shifted = re.match(
        r"(?:my|our|the|all|all our) (?P<what>[\w' -]{2,40}?) (?:from .{2,30} )?to (?P<to>.+)", clause.rest
    )
    if (
        shifted
        and (WEEKDAY.match(shifted["to"]) or CLOCK.match(shifted["to"]))
        and not re.search(r"\b(?:next|this|today|tomorrow|tonight)\b", shifted["to"])
    ):
        clock = not WEEKDAY.match(shifted["to"])
        value = in_third_person(object_of(re.sub(r"(\d)[.:](\d\d)", r"\1§\2", shifted["to"])).replace("§", ":")) or ""
        plural = shifted["what"].endswith("s") and not shifted["what"].endswith("ss")
        area = (
            "work"
            if clause.subject == "we" and not re.search(r"dinner|date|family|lesson|choir", shifted["what"])
            else "schedule"
        )
        link = "at" if clock else "on"
        when = "now" if clause.tense in {"past", "perfect"} else "going to be"
        return draft(
            "semantic",
            join(area, slug(shifted["what"], words=3), "time" if clock else "day"),
            f"Their {shifted['what']} {'are' if plural else 'is'} {when} {link} {value}",
            0.85,
        )
    tools = re.match(
        r"(?:over |my .{2,20} |our .{2,20} |everything )?(?:from (?P<old>[\w .+#-]{2,30}?) )?to (?P<new>(?:the |an? "
        r")?[\w.+#-]+(?: [A-Z][\w.+#-]*)*)",
        clause.rest,
    )
    if (
        tools
        and clause.verb in {"switch", "migrate", "convert", "change"}
        and tools["new"].lower() not in {"another", "a", "the", "something", "it"}
    ):
        phrase = noun_phrase(tools[0], max_words=9)
        named = re.search(r"[A-Z]|decaf|oat milk|vegan|night shift|part-time", tools["new"])
        return draft(
            "semantic",
            ("tools", tools["new"]) if re.match(r"[A-Z]", tools["new"]) else ("switched", tools["new"]),
            clause.predicate(phrase) if phrase and named else None,
            0.75,
        )
    return []


_GROUP_VERBS = word_set(
    "deploy release meet ship do have hold run plan review publish train rehearse eat play go cook watch send invoice "
    "close open merge demo sync test order clean visit sing practice practise swim hike walk"
)


def group_routine(clause: Clause, said: date) -> list[Draft]:
    """We deploy on Thursdays; we meet every Monday at 10; we do code reviews on Fridays: what "we" do regularly."""
    if clause.subject != "we" or clause.negated or clause.tense != "present" or clause.verb not in _GROUP_VERBS:
        return []
    if not (
        WEEKDAY.search(clause.rest) or re.search(r"\b(?:every|each|daily|weekly|twice a|once a)\b", clause.rest)
    ) or re.search(r"\b(?:next|this|today|tomorrow)\b", clause.rest):
        return []
    phrase = predicate_phrase(re.sub(r"(\d)[.:](\d\d)", r"\1§\2", clause.rest))
    name = re.sub(r"\b(?:on|at|every|each|in)\b.*", "", clause.rest)
    return draft(
        "semantic",
        join("work", slug(f"{clause.verb} {name}"), "day"),
        clause.predicate(phrase.replace("§", ":")) if phrase else None,
        0.75,
    )


def remembered(sentence: str) -> list[Draft]:
    """Remember that the X is Y: what the member wants kept although it is not about "I" or "my"."""
    found = re.match(
        r"(?P<subject>(?:the |[A-Z])[\w' -]{1,40}?) (?P<verb>is|are|has|have|needs?|starts?|ends?|opens?|closes?|"
        r"runs?|freezes?|lives?|works?|comes?|meets?)\b (?P<rest>.+)",
        sentence,
    )
    if not found or SECRET_NOUNS.search(sentence):
        return []
    value, subject = predicate_phrase(found["rest"]), in_third_person(found["subject"])
    if not value or not subject:
        return []
    return draft("semantic", ("note", subject), f"{subject} {found['verb']} {value}", 0.9)


def remembered_own(clause: Clause) -> list[Draft]:
    """Remember that I take my coffee black: kept as said when no rule knows it."""
    phrase = predicate_phrase(clause.rest)
    if (
        clause.negated
        or clause.tense in {"modal", "future", "past"}
        or not phrase
        or clause.verb in {"be", "say", "think", "feel"}
    ):
        return []
    return draft("profile", ("note", f"{clause.verb} {phrase}"), clause.predicate(phrase), 0.9)
