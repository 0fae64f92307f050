"""C01: a request that is repeated with its `Idempotency-Key` runs one turn and is answered from the stored one."""

import json
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.test import Client
from django.utils import timezone

from accounts import idempotency
from accounts.models import IdempotentRequest, Organization, User
from agents.models import Agent
from agents.permissions import revoke
from chat import services
from chat.guardrails import Policy, Rule
from chat.models import GuardrailCount
from chat.policies import save_policy
from consent.scope import Scope
from conversations.models import Message, Session, Turn
from conversations.services import ABANDONED_AFTER
from extraction.models import Run
from tests import factories
from tests.stub_server import Script
from tests.threads import together

KEY = "2f0c1f7e-first"


@pytest.fixture
def repeat(talker: Agent, key: str) -> Any:
    """POST a chat request with an Idempotency-Key."""

    def post(text: str = "I moved to Rome.", *, idempotent: str = KEY, secret: str = key, **more: Any) -> Any:
        data = {"model": "acme/talker", "messages": [{"role": "user", "content": text}], **more}
        headers = {"Authorization": f"Bearer {secret}", "Idempotency-Key": idempotent}
        return Client(raise_request_exception=False).post(
            "/v1/chat/completions", data=data, content_type="application/json", headers=headers
        )

    return post


@pytest.mark.django_db
def test_c06_a_blocked_message_that_is_repeated_is_stored_and_counted_once(
    repeat: Any, organization: Organization, owner: User, model_server: Script
) -> None:
    policy = Policy((Rule(str(uuid.uuid4()), "phrases", "rome"),), (), "Not about that.", "Withheld.")
    save_policy(organization=organization, policy=policy, enabled=True, read_version=0, actor=owner, now=timezone.now())
    first, second = repeat(), repeat()
    assert second.json() == first.json()
    assert second.json()["choices"][0]["finish_reason"] == "content_filter"
    assert second["X-Memory"] == first["X-Memory"] == "input_blocked"
    assert second["Idempotent-Replayed"] == "true"
    assert (Turn.objects.count(), GuardrailCount.objects.get().hits) == (1, 1)
    assert not model_server.chats()


@pytest.mark.django_db
def test_a_repeated_request_is_replayed_and_neither_runs_nor_is_learned_from_twice(
    repeat: Any, talker_scope: Scope, model_server: Script
) -> None:
    model_server.answers = [{"text": "Rome is lovely.", "finish_reason": "length"}, "Another."]
    first, second = repeat(), repeat()
    assert second.status_code == 200
    assert second.json() == first.json()
    assert second.json()["choices"][0]["finish_reason"] == "length"
    assert second["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first
    for name in ("X-Session-Id", "X-Memory"):
        assert second[name] == first[name]
    assert len(model_server.chats()) == Turn.objects.count() == Run.objects.count() == 1


@pytest.mark.django_db
def test_a_stream_is_replayed_as_a_stream_with_its_usage(repeat: Any, model_server: Script) -> None:
    model_server.answers = ["One two three.", "Another."]
    more = {"stream": True, "stream_options": {"include_usage": True}}
    bodies = [repeat(**more).getvalue().decode() for _ in range(2)]
    seen = []
    for body in bodies:
        events = [json.loads(line[6:]) for line in body.split("\n\n") if line.startswith("data: {")]
        text = "".join(e["choices"][0]["delta"].get("content", "") for e in events if e["choices"])
        seen.append((text, events[-2]["choices"][0]["finish_reason"], events[-1]["usage"], events[0]["id"]))
        assert body.endswith("data: [DONE]\n\n")
    assert seen[0] == seen[1]
    assert Turn.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("more", [{"text": "I moved to Oslo."}, {"temperature": 0.5}, {"stream": True}])
def test_the_same_key_with_another_body_is_refused(repeat: Any, more: dict[str, Any]) -> None:
    repeat()
    answer = repeat(**more)
    assert answer.status_code == 422
    assert answer.json()["error"]["code"] == "idempotency_key_reused"
    assert answer.json()["error"]["param"] == "Idempotency-Key"
    assert Turn.objects.count() == 1


@pytest.mark.django_db
def test_another_api_key_has_idempotency_keys_of_its_own(repeat: Any, organization: Organization, owner: User) -> None:
    repeat()
    assert "Idempotent-Replayed" not in repeat(secret=factories.make_key(organization, owner))
    assert Turn.objects.count() == 2


@pytest.mark.django_db
def test_while_the_first_runs_the_second_is_told_to_come_again(repeat: Any) -> None:
    repeat()
    Turn.objects.update(status="running")
    answer = repeat()
    assert answer.status_code == 409
    assert answer["Retry-After"] == "1"
    assert answer.json()["error"]["code"] == "request_in_progress"


@pytest.mark.django_db(transaction=True)
def test_of_eight_requests_at_once_one_runs(repeat: Any, model_server: Script) -> None:
    model_server.answers = [{"text": "Rome is lovely.", "delay": 0.3}]
    answers = together(*[repeat] * 8)
    codes = sorted(getattr(answer, "status_code", answer) for answer in answers)  # type: ignore[type-var]
    assert codes[0] == 200
    assert set(codes) <= {200, 409}
    assert len(model_server.chats()) == Turn.objects.count() == 1
    assert repeat()["Idempotent-Replayed"] == "true"


@pytest.mark.django_db
@pytest.mark.parametrize("stream", [False, True])
def test_after_a_failure_the_same_key_runs_again(
    repeat: Any, talker_scope: Scope, model_server: Script, stream: bool
) -> None:
    model_server.answers = [400, "Rome is lovely."]
    assert repeat(stream=stream).status_code == 400
    again = repeat(stream=stream)
    assert again.status_code == 200
    assert b"Rome" in (again.getvalue() if stream else again.content)
    assert "Idempotent-Replayed" not in again
    assert repeat(stream=stream)["Idempotent-Replayed"] == "true"
    assert sorted(Turn.objects.values_list("status", flat=True)) == ["completed", "failed"]
    assert Run.objects.count() == 1


@pytest.mark.django_db
def test_a_client_that_lost_its_stream_gets_the_answer_with_the_same_key(repeat: Any, model_server: Script) -> None:
    model_server.answers = ["one two three"]
    broken = repeat(stream=True)._iterator
    next(broken)
    broken.close()
    assert b"three" in repeat(stream=True).getvalue()
    assert sorted(Turn.objects.values_list("status", flat=True)) == ["completed", "stopped"]


@pytest.mark.django_db
def test_a_request_that_starts_no_turn_leaves_its_key_free(repeat: Any) -> None:
    assert repeat(metadata={"session_id": str(uuid.uuid4())}).status_code == 404
    assert repeat(model="acme/none").status_code == 404
    assert not IdempotentRequest.objects.exists()
    assert repeat().status_code == 200


@pytest.mark.django_db
def test_a_claim_whose_process_is_gone_is_taken_over_once(repeat: Any) -> None:
    repeat()
    Turn.objects.all().delete()
    IdempotentRequest.objects.update(turn_id=None)
    assert repeat().status_code == 409
    IdempotentRequest.objects.update(claimed_at=timezone.now() - idempotency.STARTS_WITHIN)
    assert repeat().status_code == 200
    assert repeat()["Idempotent-Replayed"] == "true"


@pytest.mark.django_db
def test_a_turn_whose_process_is_gone_is_ended_and_runs_again(repeat: Any) -> None:
    repeat()
    Turn.objects.update(status="running", created_at=timezone.now() - ABANDONED_AFTER - timedelta(seconds=1))
    assert repeat().status_code == 200
    assert sorted(Turn.objects.values_list("status", "error_code")) == [("completed", ""), ("failed", "abandoned")]


@pytest.mark.django_db
def test_who_lost_the_claim_while_starting_does_not_call_the_model(
    repeat: Any, model_server: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = services.start_api_turn

    def slowly(**more: Any) -> services.Started:
        started = start(**more)
        IdempotentRequest.objects.update(attempt=F("attempt") + 1)
        return started

    monkeypatch.setattr(services, "start_api_turn", slowly)
    assert repeat().status_code == 409
    assert (Turn.objects.get().status, Turn.objects.get().error_code) == ("failed", "claim_lost")
    assert model_server.requests == []


@pytest.mark.django_db
def test_a_deleted_conversation_is_not_told_again_nor_made_again(repeat: Any) -> None:
    repeat()
    Session.objects.update(deleted_at=timezone.now())
    answer = repeat()
    assert answer.status_code == 422
    assert "deleted" in answer.json()["error"]["message"]
    Session.objects.all().delete()
    assert repeat().status_code == 422


@pytest.mark.django_db
def test_a_replay_needs_the_right_to_the_agent_still(repeat: Any, talker: Agent, owner: User) -> None:
    repeat()
    for permission in ("agent:read", "agent:update"):
        revoke(agent=talker, user=owner, permission=permission, actor=None)
    assert repeat().status_code == 404


@pytest.mark.django_db
def test_after_a_day_a_key_is_as_good_as_new_and_nothing_is_left_of_it(repeat: Any) -> None:
    repeat()
    repeat(idempotent="second")
    IdempotentRequest.objects.update(created_at=timezone.now() - idempotency.KEPT)
    assert "Idempotent-Replayed" not in repeat("I moved to Oslo.")
    assert IdempotentRequest.objects.count() == 1
    assert idempotency.forget_old(now=timezone.now() + idempotency.KEPT) == 1


@pytest.mark.django_db
@pytest.mark.parametrize("bad", ["", "x" * 256, "schlüssel", "a\tb"])
def test_a_key_that_cannot_be_told_from_others_is_a_400(repeat: Any, bad: str) -> None:
    answer = repeat(idempotent=bad)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "Idempotency-Key"


@pytest.mark.django_db
def test_what_was_said_is_kept_in_the_transcript_only(repeat: Any, model_server: Script) -> None:
    model_server.answers = ["Zanzibar it is."]
    repeat("I moved to Zanzibar.", idempotent="key-zanzibar")
    assert Message.objects.filter(content__icontains="zanzibar").count() == 2
    with connection.cursor() as cursor:
        cursor.execute("SELECT row_to_json(kept)::text FROM accounts_idempotentrequest kept")
        (row,) = cursor.fetchone()
    assert "anzibar" not in row
    kept = IdempotentRequest.objects.get()
    assert len(bytes(kept.key_hash)) == len(bytes(kept.body_hash)) == 32
