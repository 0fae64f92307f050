"""The client of OpenAI-compatible servers against a scripted one: where answers are found, what is retried, bounds."""

import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from llm import openai, wire
from llm.client import ChatMessage, ChatRequest, ModelError, ResponseSchema, as_piece, whole
from llm.offline import OfflineModel
from llm.openai import NEW_LIMIT, NO_SCHEMA, OpenAIModel
from llm.pump import pumped
from tests.stub_server import Script

SCHEMA = ResponseSchema("fact_candidates", {"type": "object", "properties": {"notes": {"type": "array"}}})
ASKED = (ChatMessage("system", "Read."), ChatMessage("user", "Hello."))
PLAIN = ChatRequest("stub-1", ASKED)
STRUCTURED = ChatRequest("stub-1", ASKED, schema=SCHEMA, max_tokens=50)
OBJECT = '{"facts": []}'


def model(server: Script, **more: Any) -> OpenAIModel:
    return OpenAIModel(**{"base_url": server.url, "api_key": "k", "timeout": 5.0, "sleep": lambda _: None, **more})


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "reasoning_content": OBJECT},
        {"content": "  ", "reasoning": OBJECT},
        {"content": [{"type": "text", "text": OBJECT}]},
        {"content": None, "refusal": OBJECT},
        {
            "content": None,
            "tool_calls": [{"id": "1", "type": "function", "function": {"name": "facts", "arguments": OBJECT}}],
        },
    ],
    ids=["reasoning_content", "reasoning", "parts", "refusal", "tool call"],
)
def test_e03_an_answer_is_found_wherever_the_model_put_it(model_server: Script, message: dict[str, Any]) -> None:
    model_server.answers = [{"message": message}]
    assert model(model_server).complete(STRUCTURED).text == OBJECT


def test_reasoning_is_never_shown_as_a_reply(model_server: Script) -> None:
    model_server.answers = [{"message": {"content": None, "reasoning_content": "Secret thoughts."}}]
    assert model(model_server).complete(PLAIN).text == ""


@pytest.mark.parametrize(("status", "calls"), [(400, 1), (404, 1), (413, 1), (401, 1), (408, 3), (409, 3), (429, 3)])
def test_c05_of_4xx_only_408_409_and_429_are_asked_again(model_server: Script, status: int, calls: int) -> None:
    model_server.answers = [status]
    with pytest.raises(ModelError):
        model(model_server).complete(PLAIN)
    assert len(model_server.requests) == calls


def test_a_provider_without_schemas_is_asked_by_instruction_and_remembered(model_server: Script) -> None:
    model_server.answers = [400, OBJECT]
    learned: list[str] = []
    asking = model(model_server, learn=learned.append)
    assert asking.complete(STRUCTURED).text == OBJECT
    first, second = model_server.requests
    assert "response_format" in first
    assert "response_format" not in second
    assert '"properties"' in second["messages"][0]["content"]
    assert learned == [NO_SCHEMA]
    model(model_server, quirks=frozenset(learned)).complete(STRUCTURED)
    assert "response_format" not in model_server.requests[2]


def test_a_request_that_is_refused_either_way_teaches_nothing(model_server: Script) -> None:
    model_server.answers = [400]
    learned: list[str] = []
    with pytest.raises(ModelError, match="refused_request"):
        model(model_server, learn=learned.append).complete(STRUCTURED)
    assert (learned, len(model_server.requests)) == ([], 2)


def test_the_other_name_of_the_limit_is_used_where_the_provider_asks_for_it(model_server: Script) -> None:
    body = {"error": {"message": "Use 'max_completion_tokens' instead.", "type": "invalid_request_error"}}
    model_server.answers = [{"status": 400, "body": body}, OBJECT]
    learned: list[str] = []
    model(model_server, learn=learned.append).complete(STRUCTURED)
    assert model_server.requests[0]["max_tokens"] == 50
    assert model_server.requests[1]["max_completion_tokens"] == 50
    assert "max_tokens" not in model_server.requests[1]
    assert learned == [NEW_LIMIT]


@pytest.mark.parametrize("shape", ["seconds", "date", "junk", "nan"])
def test_retry_after_is_read_as_seconds_and_as_a_date(model_server: Script, shape: str) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    header = {"seconds": "60", "date": date, "junk": "soon", "nan": "nan"}[shape]
    model_server.answers = [{"status": 429, "headers": {"Retry-After": header}}]
    with pytest.raises(ModelError) as raised:
        model(model_server).complete(PLAIN)
    if shape in ("junk", "nan"):
        assert raised.value.retry_after is None
    else:
        assert raised.value.retry_after == pytest.approx(60, abs=3)
        assert len(model_server.requests) == 1  # so long a wait is the caller's


def test_an_answer_of_ten_megabytes_is_not_read_to_its_end(model_server: Script) -> None:
    model_server.answers = [{"body": "x" * 10_000_000}]
    with pytest.raises(ModelError, match="too_big"):
        model(model_server).complete(PLAIN)
    assert len(model_server.requests) == 1


def test_a_packed_answer_is_not_unpacked(model_server: Script) -> None:
    model_server.answers = [{"body": "x", "headers": {"Content-Encoding": "gzip"}}]
    with pytest.raises(ModelError, match="too_big"):
        model(model_server).complete(PLAIN)


def test_an_answer_that_trickles_ends_with_the_time_allowed(model_server: Script) -> None:
    model_server.answers = [{"text": "word " * 100, "trickle": 0.05}]
    began = time.monotonic()
    with pytest.raises(ModelError, match="timeout"):
        model(model_server, timeout=0.5, attempts=1).complete(PLAIN)
    assert time.monotonic() - began < 3


def test_a_silent_stream_wakes_its_reader_and_is_cut_at_once(model_server: Script) -> None:
    model_server.answers = [{"text": "late", "delay": 30}]
    pieces = pumped(model(model_server, timeout=60.0).stream(PLAIN), every=0.05)
    assert [next(pieces), next(pieces)] == [None, None]
    began = time.monotonic()
    pieces.close()
    assert time.monotonic() - began < 1


def test_the_pump_passes_pieces_and_errors_on(model_server: Script) -> None:
    model_server.answers = [{"text": "one two three", "cut_after": 2}]
    pieces = pumped(model(model_server).stream(PLAIN), every=5)
    seen: list[str] = []
    with pytest.raises(ModelError, match="cut_off"):
        seen.extend(piece.text for piece in pieces if piece is not None)
    assert "".join(seen) == "one two"


def test_the_bounds_hold_together() -> None:
    assert wire.MAX_BYTES < 10_000_000
    assert openai.STREAM_SECONDS >= 300


def test_a_whole_answer_is_a_stream_of_one_piece(model_server: Script) -> None:
    (piece,) = whole(model(model_server), PLAIN)
    assert piece == as_piece(model(model_server).complete(PLAIN))
    assert (piece.text, piece.finish_reason, piece.model) == ("Hello.", "stop", "stub-1")
    offline = ChatRequest("offline", ASKED)
    assert list(whole(OfflineModel(), offline)) == [as_piece(OfflineModel().complete(offline))]


def test_a_whole_answer_that_was_given_up_is_not_asked_for_again(model_server: Script) -> None:
    model_server.answers = [503, "Hello."]
    answer: Any = whole(model(model_server, sleep=lambda _: answer.abort()), PLAIN)
    with pytest.raises(ModelError, match="cut_off"):
        list(answer)
    assert len(model_server.requests) == 1


def test_a_whole_answer_is_given_up_while_the_other_side_is_silent(model_server: Script) -> None:
    model_server.answers = [{"text": "late", "delay": 20}]
    began = time.monotonic()
    pieces = pumped(whole(model(model_server), PLAIN), every=0.2)
    assert next(pieces) is None
    pieces.close()
    reading = [thread for thread in threading.enumerate() if thread.name == "model-stream"]
    for thread in reading:
        thread.join(timeout=5)
    assert time.monotonic() - began < 5
    assert len(model_server.requests) == 1
