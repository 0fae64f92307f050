"""The permission matrix: everybody × every address and method × own, another's and absent objects (I02–I04, R04).

The addresses come from the URL table and the expectations from `tests/permission_table.py`, whose docstring says how a
line is added. A run leaves the answers in `reports/permission-matrix.md`.
"""

import json
import logging
import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from http.cookies import SimpleCookie
from typing import Any, Final

import pytest
from django.contrib.auth.models import Permission
from django.db import transaction
from django.http import HttpResponseBase
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from accounts.models import Membership, User
from accounts.services import create_api_key, remove_member
from agents.models import Agent
from agents.services import get_or_create_provider
from audit.models import AuditEvent
from audit.services import record
from consent.scope import Scope
from extraction import runs
from extraction.models import Run
from lifecycle.models import Deletion, RetentionReport
from tests import factories
from tests.permission_table import OBJECTS, POLICIES, ROWS, Row
from tests.test_architecture import ROOT

pytestmark = pytest.mark.django_db
REPORT: Final = ROOT / "reports" / "permission-matrix.md"
FORM: Final = "application/x-www-form-urlencoded"
ROWS_OF_ADMIN: Final = {  # what an admin page of a model is asked for; a person's id for any other
    "organization": "tenant",
    "supportorganization": "tenant",
    "supportagent": "agent_id",
    "deletion": "deletion",
    "retentionreport": "report",
    "supportrun": "run",
    "supportevent": "event",
}
SIGN_IN: Final = ("/login/", "/admin/login/")


# --- the tables -------------------------------------------------------------------------------------------------------


def addresses(resolver: URLResolver, prefix: str = "", space: str = "") -> Iterator[tuple[str, str]]:
    """Yield the name and the route of every address; one without a name goes by its route."""
    for entry in resolver.url_patterns:
        route = prefix + str(entry.pattern).removeprefix("^")
        if isinstance(entry, URLResolver):
            yield from addresses(entry, route, f"{entry.namespace}:" if entry.namespace else space)
        elif isinstance(entry, URLPattern):
            yield (f"{space}{entry.name}" if entry.name else route), route


def lines_for(name: str) -> dict[str, Row]:
    """Return the lines of the table for an address: those that spell its name, else those with a `*`."""
    exact = {key: row for key, row in ROWS.items() if key.partition(" ")[0] == name}
    return exact or {key: row for key, row in ROWS.items() if "*" in key and fnmatchcase(name, key)}


def policies() -> tuple[list[str], dict[tuple[str, str, str], str]]:
    """Return the cast, and cells by policy, object and member of the cast."""
    head, *lines = (line.split() for line in POLICIES.strip().splitlines())
    cast = head[2:]
    cells = {(policy, kind, who): cell for policy, kind, *row in lines for who, cell in zip(cast, row, strict=True)}
    return cast, cells


CAST, CELLS = policies()


def expected(row: Row, method: str, kind: str, who: str) -> str:
    policy, code = row.expectation(method)
    cell = CELLS.get((policy, kind, who)) or CELLS[policy, "own", who]  # who is staff is staff for any object
    return str(code) if cell == "ok" else cell


def test_every_address_has_a_line_and_every_line_an_address() -> None:
    names = {name for name, _route in addresses(get_resolver())}
    without = sorted(name for name in names if not lines_for(name))
    assert not without, f"add a line to tests/permission_table.py for: {', '.join(without)}"
    used = {key for name in names for key in lines_for(name)}
    assert set(ROWS) == used, "a line without an address"


# --- the cast ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Actor:
    """One of the cast: how she asks, and the parts of the addresses of her own, another's and absent objects."""

    client: Client
    agents: Mapping[str, Mapping[str, str]]  # by kind of object, where the agent is the object
    items: Mapping[str, Mapping[str, str]]  # where something of a person with an agent is


@pytest.fixture
def cast(db: None, settings: Any) -> dict[str, Actor]:
    settings.SESSION_ENGINE = "django.contrib.sessions.backends.signed_cookies"  # no row to load, none to lose
    acme, other = factories.make_organization("acme"), factories.make_organization("other")
    guide, foreign = factories.make_agent(acme, "guide"), factories.make_agent(other, "guide")
    people = {
        "owner": factories.make_member(acme, guide, "ana@acme.example"),
        "colleague": factories.make_member(acme, guide, "ben@acme.example"),
        "manager": factories.make_member(acme, guide, "max@acme.example", permissions=("agent:read", "agent:manage")),
        "admin": factories.make_member(acme, None, "eve@acme.example", role="admin"),
        "support": factories.make_user("sue@support.example", staff=True),
        "staff": factories.make_user("tom@support.example", staff=True),
        "superuser": User.objects.create_superuser("root@support.example", factories.PASSWORD),
        "stranger": factories.make_member(other, foreign, "sam@other.example"),
        "removed": factories.make_member(acme, guide, "ria@acme.example"),
        "deleted": factories.make_member(acme, guide, "del@acme.example"),
    }
    people["support"].user_permissions.add(Permission.objects.get(codename="delete_subject"))
    parts = {who: _parts(user, foreign if who == "stranger" else guide) for who, user in people.items()}
    clients = {who: Client(raise_request_exception=False) for who in people}
    for who, client in clients.items():
        client.force_login(people[who], backend="accounts.authentication.EmailBackend")
    remove_member(organization=acme, user=people["removed"])
    people["deleted"].deleted_at = timezone.now()
    people["deleted"].save(update_fields=["deleted_at"])
    clients["key"] = Client(
        raise_request_exception=False, headers={"Authorization": f"Bearer {factories.make_key(acme, people['owner'])}"}
    )
    clients["anonymous"] = Client(raise_request_exception=False)
    parts["key"] = parts["anonymous"] = parts["owner"]
    return {who: _actor(who, clients[who], parts) for who in CAST}


def _parts(user: User, agent: Agent) -> dict[str, str]:
    """Put a session and a fact of hers in place, whatever she may do with them."""
    scope = Scope(agent.organization_id, user.pk, agent.pk)
    if Membership.objects.filter(user=user).exists():
        factories.grant(scope, user)
    session = factories.make_session(agent, user)
    turn, _message = factories.make_turn(session, "I live in Porto.")
    now = timezone.now()
    run = runs.schedule(turn, now=now) or Run.objects.create(
        organization_id=scope.organization_id, user=user, agent=agent, session=session, turn=turn, due_at=now
    )
    deletion = Deletion.objects.create(kind="user", subject_id=user.pk, memory_only=True, requested_at=now)
    record("user.update", actor=user, subject_user_id=user.pk)
    return {
        "organization": agent.organization.slug,
        "agent": agent.slug,
        "session": str(session.pk),
        "turn": str(turn.pk),
        "fact": str(factories.make_fact(scope).pk),
        "subject": str(user.pk),
        "provider": str(get_or_create_provider(kind="openai", base_url="http://127.0.0.1:9/v1", actor=None).pk),
        "user": str(user.pk),
        "member": str(user.pk),
        "key": str(create_api_key(organization=agent.organization, user=user, name="of the cast").row.pk),
        "invitation": str(factories.make_invitation(agent.organization, f"friend-of-{user.email}").pk),
        "tenant": str(agent.organization_id),
        "agent_id": str(agent.pk),
        "deletion": str(deletion.pk),
        "report": str(RetentionReport.objects.create(asked_by="command", started_at=now).pk),
        "run": str(run.pk),
        "event": str(AuditEvent.objects.latest("pk").pk),
    }


def _actor(who: str, client: Client, parts: Mapping[str, Mapping[str, str]]) -> Actor:
    own, nobody = (
        parts[who],
        {name: str(uuid.uuid4()) for name in parts[who] if name not in ("organization", "agent")},
    )
    another = parts["colleague" if who in ("owner", "key", "anonymous") else "owner"]
    elsewhere = parts["owner" if who == "stranger" else "stranger"]
    absent = {"organization": own["organization"], "agent": "nothing"}
    agents = {
        "own": own,
        "other": {**another, **{key: elsewhere[key] for key in (*absent, "tenant")}},
        "absent": {**nobody, **absent},
    }
    return Actor(client, agents, {"own": own, "other": another, "absent": {**own, **nobody}})


# --- asking -----------------------------------------------------------------------------------------------------------


def kinds(row: Row, route: str) -> tuple[str, ...]:
    return row.objects or (OBJECTS if "<" in route or row.query else ("own",))


def filled(value: Any, parts: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return re.sub(r"\{(\w+)\}", lambda found: parts[found[1]], value)
    if isinstance(value, list):
        return [filled(item, parts) for item in value]
    return {key: filled(item, parts) for key, item in value.items()} if isinstance(value, Mapping) else value


def ask(actor: Actor, method: str, route: str, row: Row, kind: str) -> HttpResponseBase:
    """Send one request; what a POST changes, the cookies too, is undone."""
    about_item = (
        any(part in route for part in (":session>", ":turn>", ":fact>", "settings/keys/<uuid:key>"))
        or "subject" in row.query
    )
    parts = dict((actor.items if about_item else actor.agents)[kind])
    of_organization = "<slug:organization>" in route and "<slug:agent>" not in route
    if kind == "absent" and (of_organization or "organization" in row.query):
        parts["organization"] = "nothing"
    kind_of_row = next((name for part, name in ROWS_OF_ADMIN.items() if f"/{part}/" in route), "user")
    parts |= dict.fromkeys(("object_id", "subject_id", "deletion_id"), parts[kind_of_row])
    path = re.sub(r"<\w+:(\w+)>", lambda found: parts.get(found[1], "nothing"), route)
    path = path.replace("(?P<url>.*)$", "nothing/")
    path = re.sub(r"\(\?P<app_label>[^)]*\)/\$", "accounts/", path)
    body = filled(dict(row.data), parts) if method == "POST" else {}
    sent = json.dumps(body) if row.json else "&".join(f"{key}={value}" for key, value in body.items())
    query = {key: filled(value, parts) for key, value in row.query.items()}
    if method != "POST":
        return send(actor.client, method, path, query=query)
    cookies = {name: morsel.value for name, morsel in actor.client.cookies.items()}
    with transaction.atomic():
        response = send(actor.client, method, path, sent, "application/json" if row.json else FORM, query=query)
        transaction.set_rollback(True)
    actor.client.cookies = SimpleCookie(cookies)
    return response


def send(
    client: Client, method: str, path: str, body: str = "", content_type: str = FORM, *, query: Mapping[str, str]
) -> HttpResponseBase:
    response: Any = client.generic(
        method, f"/{path}", body, content_type=content_type, query_params=dict(query) or None
    )
    assert isinstance(response, HttpResponseBase)
    return response


def answer(response: HttpResponseBase) -> str:
    to_sign_in = response.status_code == 302 and response["Location"].partition("?")[0] in SIGN_IN
    return "login" if to_sign_in and "next=" in response["Location"] else str(response.status_code)


def test_everybody_gets_what_the_table_says(cast: dict[str, Actor]) -> None:
    logging.disable(logging.CRITICAL)
    report, wrong, asked = [], [], 0
    try:
        for name, route in addresses(get_resolver()):
            for key, row in lines_for(name).items():
                report += [
                    "",
                    f"## {key}",
                    f"`/{route}`",
                    "",
                    f"| | | {' | '.join(CAST)} |",
                    "|---" * (len(CAST) + 2) + "|",
                ]
                for method in row.asked:
                    given = method in row.methods
                    for kind in kinds(row, route) if given else ("own",):
                        got = {who: answer(ask(actor, method, route, row, kind)) for who, actor in cast.items()}
                        asked += len(got)
                        report.append(f"| {method} | {kind} | {' | '.join(got.values())} |")
                        wrong += [
                            f"{key} {method} {kind} {who}: {code}, not {expected(row, method, kind, who)}"
                            for who, code in got.items()
                            if code != expected(row, method, kind, who)
                        ]
    finally:
        logging.disable(logging.NOTSET)
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text("\n".join(["# Permission matrix", "", f"{asked} requests.", *report, ""]))
    print(f"{asked} requests; see {REPORT}")  # noqa: T201
    assert not wrong, "\n".join([f"{len(wrong)} answers differ:", *wrong])


def test_no_page_takes_a_form_without_its_token(cast: dict[str, Actor]) -> None:
    careful = Client(enforce_csrf_checks=True)
    careful.cookies = cast["owner"].client.cookies
    actor = Actor(careful, cast["owner"].agents, cast["owner"].items)
    checked = 0
    for name, route in addresses(get_resolver()):
        for row in lines_for(name).values():
            if "POST" in row.methods and "POST" in row.asked and not row.json and not name.startswith("admin"):
                assert ask(actor, "POST", route, row, "own").status_code == 403, name
                checked += 1
    assert checked >= 8
