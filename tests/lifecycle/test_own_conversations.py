"""T04: a member downloads her own conversations, as JSON lines that `replay` reads, and no fact (F12)."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Organization, User
from accounts.services import remove_member
from agents.models import Agent
from agents.permissions import revoke
from audit.models import AuditEvent
from consent.scope import Scope
from conversations import export
from conversations.models import Participant, Session, Turn
from conversations.surfaces import Surface
from lifecycle.transcripts import read_transcript
from tests.factories import make_fact, make_session, make_turn

pytestmark = pytest.mark.django_db
type ClientFor = Callable[..., Client]
URL = "/settings/conversations/download/"


def body(client: Client) -> str:
    answer: Any = client.get(URL)
    assert answer.status_code == 200
    return b"".join(answer.streaming_content).decode()


def entries(client: Client) -> list[dict[str, Any]]:
    return [json.loads(line) for line in body(client).splitlines()]


def test_t04_a_member_gets_every_message_of_her_own_sessions_in_order(
    owner: User, agent: Agent, client_for: ClientFor
) -> None:
    first, second = make_session(agent, owner), make_session(agent, owner, surface=Surface.API)
    make_turn(first, "I live in Porto.", "Noted – já está.")
    make_turn(second, "Hello.")
    make_turn(first, "And I like tea.")
    found = entries(client_for(owner))
    assert [(entry["session"], entry["role"], entry["content"]) for entry in found] == [
        (str(first.pk), "user", "I live in Porto."),
        (str(first.pk), "assistant", "Noted – já está."),
        (str(first.pk), "user", "And I like tea."),
        (str(first.pk), "assistant", "I see."),
        (str(second.pk), "user", "Hello."),
        (str(second.pk), "assistant", "I see."),
    ]
    assert {entry["agent"] for entry in found} == {"acme/guide"}
    assert [entry["mine"] for entry in found] == [True, False] * 3


def test_t04_nobody_elses_sessions_and_no_facts_are_in_it(
    owner: User, colleague: User, agent: Agent, consented: Scope, client_for: ClientFor
) -> None:
    make_turn(make_session(agent, colleague), "The colleague's word.")
    make_turn(make_session(agent, owner), "My own word.")
    make_fact(consented, body="Keeps bees.")
    text = body(client_for(owner))
    assert "My own word." in text
    assert "colleague" not in text
    assert "bees" not in text


def test_t04_a_session_in_which_she_takes_part_is_in_it_and_what_she_said_is_marked(
    owner: User, colleague: User, agent: Agent, organization: Organization, client_for: ClientFor
) -> None:
    session = make_session(agent, colleague)
    make_turn(session, "Said by the colleague.")
    Participant.objects.create(organization=organization, session=session, user=owner)
    (said, _reply) = entries(client_for(owner))
    assert (said["content"], said["mine"]) == ("Said by the colleague.", False)


@pytest.mark.parametrize("lost", ["permission", "membership", "agent", "session"])
def test_t04_what_she_may_not_open_any_more_is_not_in_it(
    lost: str, owner: User, agent: Agent, organization: Organization, client_for: ClientFor
) -> None:
    make_turn(make_session(agent, owner), "I live in Porto.")
    client = client_for(owner)
    if lost == "permission":
        for permission in ("agent:read", "agent:update"):
            revoke(agent=agent, user=owner, permission=permission, actor=None)
    elif lost == "membership":
        remove_member(organization=organization, user=owner)
    elif lost == "agent":
        Agent.objects.update(deleted_at=timezone.now())
    else:
        Session.objects.update(deleted_at=timezone.now())
    assert body(client) == ""


def test_t04_a_withheld_reply_is_not_in_it(owner: User, agent: Agent, client_for: ClientFor) -> None:
    make_turn(make_session(agent, owner), "Tell me.", "Withheld words.", status=Turn.Status.OUTPUT_RESTRICTED)
    found = entries(client_for(owner))
    assert [entry["content"] for entry in found] == ["Tell me.", ""]
    assert found[1]["turn"] == "output_restricted"


def test_t04_the_download_is_a_file_that_no_cache_keeps_and_the_audit_log_tells_of_it(
    owner: User, agent: Agent, client_for: ClientFor
) -> None:
    make_turn(make_session(agent, owner), "I live in Porto.")
    client = client_for(owner)
    assert client.head(URL).status_code == 200
    assert not AuditEvent.objects.filter(action="conversation.download").exists()
    answer = client.get(URL)
    assert answer["Cache-Control"] == "no-store"
    assert answer["Content-Disposition"] == 'attachment; filename="conversations.jsonl"'
    assert answer.streaming
    event = AuditEvent.objects.get(action="conversation.download")
    assert (event.actor_id, event.subject_user_id, event.details) == (owner.pk, owner.pk, {"sessions": 1})
    assert Client().get(URL).status_code == 302
    assert client.post(URL).status_code == 405


def test_t04_replay_reads_the_file(owner: User, agent: Agent, client_for: ClientFor, tmp_path: Path) -> None:
    for said in ("I live in Porto.", "I like tea."):
        make_turn(make_session(agent, owner), said)
    file = tmp_path / "conversations.jsonl"
    file.write_text(body(client_for(owner)))
    sessions = read_transcript(file)
    assert [[message.role for message in session] for session in sessions] == [["user", "assistant"]] * 2
    assert sessions[0][0].content == "I live in Porto."


def test_t04_replay_reads_a_reply_with_odd_characters_and_each_message_is_one_line(
    owner: User, agent: Agent, client_for: ClientFor, tmp_path: Path
) -> None:
    reply = "\x1b[31mred\x7f\x85\u2028\u2029 end"
    make_turn(make_session(agent, owner), "I like tea.", reply)
    file = tmp_path / "conversations.jsonl"
    file.write_text(body(client_for(owner)))
    assert len(file.read_text().splitlines()) == 2
    assert read_transcript(file)[0][1].content == reply


def test_t04_a_long_session_is_read_in_pages_and_nothing_is_lost(
    owner: User, agent: Agent, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "PAGE", 2)
    session = make_session(agent, owner)
    for number in range(3):
        make_turn(session, f"Number {number}.")
    said = [entry["content"] for entry in entries(client_for(owner)) if entry["mine"]]
    assert said == ["Number 0.", "Number 1.", "Number 2."]


def test_t04_the_member_s_own_audit_page_has_the_button_and_other_views_have_not(
    owner: User, client_for: ClientFor
) -> None:
    client = client_for(owner)
    assert URL in client.get("/audit/").content.decode()
    assert URL not in client.get(f"/audit/?subject={owner.pk}").content.decode()


def test_t04_a_download_under_way_ends_where_her_access_does(
    owner: User, agent: Agent, organization: Organization
) -> None:
    for _ in range(2):
        make_turn(make_session(agent, owner), "I live in Porto.")
    lines = export.export_conversations(owner)
    assert "I live in Porto." in next(lines)
    User.objects.filter(pk=owner.pk).update(deleted_at=timezone.now())
    assert len(list(lines)) <= 1  # the rest of the page that was read already
