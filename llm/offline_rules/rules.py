"""Which rules read a clause, by its verb; must not hold rules itself."""

from collections.abc import Callable
from datetime import date

from llm.offline_rules import (
    rules_be,
    rules_events,
    rules_group,
    rules_habit,
    rules_have,
    rules_home,
    rules_plans,
    rules_taste,
    rules_things,
    rules_work,
)
from llm.offline_rules.clauses import Clause
from llm.offline_rules.drafts import Draft

type Rule = Callable[[Clause, date], list[Draft]]

_OWN_RULES: dict[str, tuple[Rule, ...]] = {
    "be": (rules_be.be, rules_plans.been),
    "have": (rules_have.have, rules_events.event),
    "live": (rules_home.live,),
    "reside": (rules_home.live,),
    "move": (rules_group.switch, rules_home.move),
    "relocate": (rules_home.move,),
    "settle": (rules_home.move,),
    "come": (rules_home.come,),
    "grow": (rules_home.grow,),
    "work": (rules_work.work, rules_habit.habit),
    "intern": (rules_work.work,),
    "study": (rules_plans.studying, rules_home.study),
    "graduate": (rules_home.education,),
    "major": (rules_home.education,),
    "like": (rules_taste.like,),
    "love": (rules_taste.like,),
    "enjoy": (rules_taste.like,),
    "adore": (rules_taste.like,),
    "hate": (rules_taste.like,),
    "dislike": (rules_taste.like,),
    "detest": (rules_taste.like,),
    "loathe": (rules_taste.like,),
    "prefer": (rules_taste.prefer,),
    "stand": (rules_taste.stand,),
    "eat": (rules_taste.eat,),
    "drink": (rules_taste.eat,),
    "smoke": (rules_taste.eat,),
    "tolerate": (rules_taste.eat,),
    "avoid": (rules_taste.avoid,),
    "follow": (rules_taste.avoid,),
    "keep": (rules_taste.avoid,),
    "support": (rules_habit.support,),
    "stop": (rules_taste.avoid,),
    "give": (rules_taste.avoid,),
    "quit": (rules_taste.avoid, rules_work.employ),
    "leave": (rules_work.employ,),
    "join": (rules_work.employ,),
    "run": (rules_work.employ, rules_habit.habit),
    "own": (rules_work.employ,),
    "manage": (rules_work.employ,),
    "lead": (rules_work.employ,),
    "teach": (rules_habit.teach_self, rules_work.employ),
    "tutor": (rules_work.employ,),
    "freelance": (rules_work.employ,),
    "start": (rules_work.employ, rules_events.start_at, rules_habit.take_up, rules_events.event),
    "begin": (rules_work.employ, rules_habit.take_up, rules_events.event),
    "use": (rules_habit.use,),
    "write": (rules_habit.project, rules_habit.use),
    "code": (rules_habit.use,),
    "program": (rules_habit.use,),
    "develop": (rules_habit.project, rules_habit.use),
    "read": (rules_habit.read,),
    "watch": (rules_habit.read,),
    "build": (rules_habit.project, rules_events.event),
    "make": (rules_habit.project, rules_habit.habit),
    "design": (rules_habit.project,),
    "renovate": (rules_habit.project,),
    "restore": (rules_habit.project,),
    "compose": (rules_habit.project,),
    "drive": (rules_habit.use,),
    "ride": (rules_habit.use,),
    "speak": (rules_habit.speak,),
    "learn": (rules_habit.learn,),
    "practice": (rules_habit.habit, rules_habit.learn),
    "practise": (rules_habit.habit, rules_habit.learn),
    "play": (rules_habit.play,),
    "go": (rules_plans.go,),
    "fly": (rules_plans.go,),
    "travel": (rules_plans.go,),
    "visit": (rules_plans.go,),
    "plan": (rules_plans.plan,),
    "intend": (rules_plans.plan,),
    "hope": (rules_plans.plan,),
    "decide": (rules_plans.plan,),
    "do": (rules_habit.takes, rules_habit.hobby),
    "pick": (rules_habit.take_up,),
    "think": (rules_plans.plan,),
    "consider": (rules_plans.plan,),
    "train": (rules_plans.plan, rules_habit.habit),
    "prepare": (rules_plans.plan,),
    "save": (rules_plans.plan,),
    "look": (rules_plans.seek,),
    "search": (rules_plans.plan,),
    "want": (rules_plans.want,),
    "switch": (rules_group.switch,),
    "change": (rules_group.switch,),
    "migrate": (rules_group.switch,),
    "get": (rules_events.event, rules_habit.habit),
    "sign": (rules_events.event,),
    "lose": (rules_work.employ, rules_events.event),
    "become": (rules_events.event,),
    "take": (rules_habit.take_up, rules_habit.habit, rules_habit.takes),
    "report": (rules_habit.report,),
    "turn": (rules_events.turn,),
}
_DEFAULT: tuple[Rule, ...] = (rules_events.event, rules_group.group_routine, rules_habit.hobby)


def read_clause(clause: Clause, said: date) -> list[Draft]:
    """Return the drafts of the first rule that understands the clause."""
    if not clause.is_own:
        return rules_things.belonging(clause, said)
    if clause.hedged and clause.verb not in {"be", "have"}:
        return []
    for rule in _OWN_RULES.get(clause.verb, _DEFAULT):
        found = rule(clause, said)
        if found:
            return [draft for draft in found if not clause.hedged or draft.confidence <= 0.5]
    return rules_group.remembered_own(clause) if clause.remembered else []
