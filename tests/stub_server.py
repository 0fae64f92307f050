"""A model server on loopback that speaks OpenAI's protocol and says what the test scripted."""

import json
import ssl
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Script:
    """What the server answers and what it was asked. `answers` are used in order, the last one again and again.

    An answer is text (a reply), an int (an error status), or a mapping with `status`, `headers`, `body`, `text`,
    `delay`, `cut_after` (chunks before the connection drops), `drop` (no answer at all), `trickle` (seconds between the
    bytes of a whole answer), `message` (more fields of the message) or `finish_reason`.
    """

    answers: list[str | int | Mapping[str, Any]] = field(default_factory=lambda: ["Hello."])
    extraction: list[str | int | Mapping[str, Any]] = field(default_factory=lambda: ['{"facts": []}'])
    requests: list[dict[str, Any]] = field(default_factory=list)
    lists: list[str | int | Mapping[str, Any]] = field(default_factory=lambda: [{"body": {"data": []}}])  # of models
    authorized: list[str | None] = field(default_factory=list)  # the header of each request
    url: str = ""

    def next_answer(self, request: dict[str, Any]) -> Mapping[str, Any]:
        self.requests.append(request)
        queue = self.extraction if is_extraction(request) else self.answers
        answer = queue.pop(0) if len(queue) > 1 else queue[0]
        if isinstance(answer, str):
            return {"text": answer}
        return {"status": answer} if isinstance(answer, int) else answer

    def chats(self) -> list[dict[str, Any]]:
        return [request for request in self.requests if not is_extraction(request)]

    def extractions(self) -> list[dict[str, Any]]:
        return [request for request in self.requests if is_extraction(request)]


def is_extraction(request: Mapping[str, Any]) -> bool:
    """Whether a request is extraction's, by schema or by instruction."""
    return '"facts"' in str(request["messages"][0]["content"])


def facts(*candidates: Mapping[str, Any]) -> str:
    """Return an extraction answer with these candidates; what they leave out gets a plain value."""
    plain = {"memory_type": "profile", "confidence": 0.9, "expires_at": None, "sources": ["m1"]}
    return json.dumps({"facts": [{**plain, **candidate} for candidate in candidates]})


def _pieces(text: str) -> Sequence[str]:
    return [word if position == 0 else f" {word}" for position, word in enumerate(text.split(" "))]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script: Script

    def log_message(self, format: str, *args: object) -> None:
        """Stay quiet."""

    def do_GET(self) -> None:
        self.script.authorized.append(self.headers["Authorization"])
        self._plain(self.script.lists[0])

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.script.authorized.append(self.headers["Authorization"])
        answer = self.script.next_answer(request)
        if self._plain(answer):
            return
        if request.get("stream"):
            self._stream(answer)
        else:
            message = {"role": "assistant", "content": answer.get("text"), **answer.get("message", {})}
            choice = {"index": 0, "message": message, "finish_reason": answer.get("finish_reason", "stop")}
            usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
            whole = {"id": "x", "object": "chat.completion", "created": 1, "model": "stub-1", "choices": [choice]}
            raw = json.dumps({**whole, "usage": usage}).encode()
            self._send(200, raw, {}, pause=float(answer.get("trickle", 0)))

    def _plain(self, scripted: str | int | Mapping[str, Any]) -> bool:
        """Give an answer that is no chat: none at all, an error, or a body as it is. Returns whether it was one."""
        assert not isinstance(scripted, str)
        answer: Mapping[str, Any] = {"status": scripted} if isinstance(scripted, int) else scripted
        time.sleep(float(answer.get("delay", 0)))
        status = int(answer.get("status", 200))
        if answer.get("drop"):
            self.close_connection = True
            return True
        if status == 200 and "body" not in answer:
            return False
        body = answer.get("body", {"error": {"message": "scripted", "type": "error", "param": None, "code": None}})
        raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self._send(status, raw, answer.get("headers", {}))
        return True

    def _send(self, status: int, body: bytes, headers: Mapping[str, str], *, pause: float = 0) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        step = 1 if pause else max(1, len(body))
        with suppress(OSError):  # the client has gone
            for start in range(0, len(body), step):
                self.wfile.write(body[start : start + step])
                time.sleep(pause)

    def _stream(self, answer: Mapping[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        base = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "stub-1"}
        try:
            for position, piece in enumerate(_pieces(answer["text"])):
                if position == answer.get("cut_after"):
                    break
                self._event({**base, "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]})
                time.sleep(float(answer.get("pause", 0)))
            else:
                self._event({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
                self.wfile.write(b"data: [DONE]\n\n")
        except OSError:
            pass  # the client has gone
        self.close_connection = True

    def _event(self, body: Mapping[str, Any]) -> None:
        self.wfile.write(f"data: {json.dumps(body)}\n\n".encode())
        self.wfile.flush()


@contextmanager
def serving(script: Script, *, tls: ssl.SSLContext | None = None) -> Iterator[Script]:
    """Serve the script on a free port of loopback."""
    handler = type("Handler", (_Handler,), {"script": script})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    script.url = f"http{'s' if tls else ''}://127.0.0.1:{server.server_port}/v1"
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
