"""The table of audit actions is whole: what the code records is in it, named GROUP.ACT."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from audit.actions import ACTIONS, GROUPS, sentence
from tests.test_architecture import LAYERS, ROOT, sources

DOTTED = re.compile(r"[a-z_]+\.[a-z_]+")


def recorded(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and name of each action that a module hands to `record`, or to its own `_record`."""
    tree = ast.parse(path.read_text())
    named = {  # action = "agent.create" … record(action, …)
        node.value.value: node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id == "action"
    }
    yield from ((line, name) for name, line in named.items())
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called not in ("record", "_record"):
            continue
        given = node.args[0] if node.args else next(word.value for word in node.keywords if word.arg == "action")
        literals = [part for part in ast.walk(given) if isinstance(part, ast.Constant)]
        passed_on = isinstance(given, ast.Name) and given.id == "action"
        assert literals or passed_on, f"{path}:{node.lineno} records an action that cannot be read from the code"
        yield from ((part.lineno, part.value) for part in literals if isinstance(part.value, str))


def modules() -> Iterator[Path]:
    """Yield the modules that record audit events."""
    for path in sources(*LAYERS):
        if re.search(r"from audit(\.services)? import .*\b(record|services)\b", path.read_text()):
            yield path


def test_every_action_that_the_code_records_is_in_the_table_and_dotted() -> None:
    found = {name: f"{path.relative_to(ROOT)}:{line}" for path in modules() for line, name in recorded(path)}
    assert len(found) > 10
    for name, where in found.items():
        assert DOTTED.fullmatch(name), f"{where}: {name!r} is not GROUP.ACT"
        assert name in ACTIONS, f"{where}: add {name!r} with its sentence to audit/actions.py"


def test_every_group_of_actions_has_a_heading() -> None:
    assert {name.partition(".")[0] for name in ACTIONS} == set(GROUPS)
    assert all(DOTTED.fullmatch(name) and len(name) <= 64 for name in ACTIONS)
    assert list(ACTIONS) == sorted(ACTIONS)


def test_an_action_of_another_version_is_named_as_it_is() -> None:
    assert sentence("fact.delete") == "A fact was deleted."
    assert sentence("note.fold") == "note.fold"
