"""What a linter cannot see: references that point up, writes in doors, long files, and the fact store off the API."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.db import models
from django.urls import URLPattern, URLResolver, get_resolver

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LINTER = PYPROJECT["tool"]["importlinter"]
LAYERS = [name.strip() for layer in LINTER["contracts"][0]["layers"] for name in layer.split("|")]
DOORS = ("views.py", "api.py", "admin.py")
WRITES = {"save", "create", "update", "delete", "bulk_create", "bulk_update", "get_or_create", "update_or_create"}
NO_MODULES = {"utils", "helpers", "signals", "exceptions", "managers", "selectors"}
LONGEST = 400  # lines; longer files are split


def sources(*folders: str) -> Iterator[Path]:
    for folder in folders or (*LAYERS, "tests", "benchmarks"):
        yield from (path for path in (ROOT / folder).rglob("*.py") if "migrations" not in path.parts)


def test_every_folder_with_code_is_a_layer() -> None:
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert folders - {"tests", "benchmarks"} == set(LAYERS) == set(LINTER["root_packages"])


def test_foreign_keys_point_down() -> None:
    for model in apps.get_models():
        app = model._meta.app_label
        for field in model._meta.get_fields():
            if not isinstance(field, models.ForeignKey) or app not in LAYERS:
                continue
            target = field.related_model._meta.app_label
            if target in LAYERS:
                assert LAYERS.index(target) >= LAYERS.index(app), f"{model.__name__}.{field.name} points up"


def test_dotted_names_and_get_model_do_not_go_around_the_layers() -> None:
    allowed = {
        ("extraction/runs.py", "extraction.tasks.extract"),
        ("jobs/supervisor.py", "jobs.tasks.beat"),
        ("lifecycle/nightly.py", "lifecycle.tasks.nightly"),
    }
    pattern = re.compile(rf"""["']((?:{"|".join(LAYERS)})\.[a-z_]+\.[a-z_]+)["']""")
    for path in sources(*LAYERS):
        name, text = str(path.relative_to(ROOT)), path.read_text()
        if name in {"memoryproject/settings.py", "memoryproject/urls.py"}:
            continue
        assert "get_model(" not in text, f"{name} uses get_model"
        for dotted in pattern.findall(text):
            if not (ROOT / dotted.rpartition(".")[0].replace(".", "/")).with_suffix(".py").exists():
                continue  # not one of our modules: "chat.completion.chunk" is a word of the protocol
            assert (name, dotted) in allowed, f"{name} names {dotted} as text"


def test_doors_write_nothing_themselves() -> None:
    for path in sources(*LAYERS):
        if path.name not in DOORS and not path.name.endswith("_pages.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                # `services.create(...)` is a domain call; `row.save()` or `objects.filter().delete()` is not.
                plain = isinstance(node.func.value, ast.Name) and node.func.value.id.endswith("services")
                assert plain or node.func.attr not in WRITES, f"{path.name}:{node.lineno} writes"


def test_no_file_is_too_long_and_no_module_is_a_drawer_for_everything() -> None:
    for path in sources():
        assert len(path.read_text().splitlines()) <= LONGEST, f"{path.relative_to(ROOT)} is too long"
        assert path.stem not in NO_MODULES, f"{path.relative_to(ROOT)} is a drawer"


def test_every_module_says_its_job_in_a_docstring() -> None:
    for path in sources(*LAYERS):
        if path.name == "__init__.py" and not path.read_text().strip():
            continue
        assert ast.get_docstring(ast.parse(path.read_text())), f"{path.relative_to(ROOT)} has no docstring"


def routes(resolver: URLResolver, prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
    for entry in resolver.url_patterns:
        route = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from routes(entry, route)
        else:
            yield route, entry


def test_f12_no_route_under_v1_resolves_to_the_fact_store_or_to_consent() -> None:
    found = list(routes(get_resolver()))
    assert any(route.startswith("v1/") for route, _pattern in found)
    for route, pattern in found:
        view = getattr(pattern.callback, "view_class", pattern.callback)
        if route.startswith("v1/"):
            assert view.__module__.partition(".")[0] not in ("facts", "consent"), route


@pytest.mark.parametrize("path", ["memory", "facts", "consent", "agents/acme/guide/memory", "search", "export"])
@pytest.mark.django_db
def test_f12_no_address_under_v1_lists_grants_or_edits_facts(client: object, path: str) -> None:
    match = get_resolver().resolve(f"/v1/{path}")
    assert match.url_name == "v1-not-found"
