"""Many clients at once that read streamed replies from one server and note when the first token came; asyncio alone."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

PATH: Final = "/v1/chat/completions"


@dataclass(frozen=True, slots=True)
class Request:
    """What a client posts."""

    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)

    def wire(self) -> bytes:
        lines = [f"POST {PATH} HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in (*self.headers.items(), ("Content-Length", len(self.body)))]
        return "\r\n".join([*lines, "", ""]).encode() + self.body


@dataclass(slots=True)
class Stream:
    """One reply: seconds to its first token, how many tokens came, and whether it ended as a whole reply does."""

    first: float = 0.0
    tokens: int = 0
    whole: bool = False
    trouble: str = ""
    memory: str = ""  # what the server says memory did


def read_streams(
    port: int,
    requests: Sequence[Request],
    *,
    apart: float = 0.0,
    at: Mapping[float, Callable[[], object]] | None = None,
) -> list[Stream]:
    """Post all `requests`, each `apart` seconds after the one before, and read the replies to their ends.

    `at` names what is called so many seconds after the first request.
    """

    async def read_all() -> list[Stream]:
        loop = asyncio.get_running_loop()
        for seconds, call in (at or {}).items():
            loop.call_later(seconds, partial(loop.run_in_executor, None, call))
        return await asyncio.gather(
            *(_read(port, request, after=number * apart) for number, request in enumerate(requests))
        )

    return asyncio.run(read_all())


async def _read(port: int, request: Request, *, after: float) -> Stream:
    await asyncio.sleep(after)
    found, began = Stream(), time.perf_counter()
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request.wire())
        if b" 200 " not in (status := await reader.readline()):
            found.trouble = status.decode(errors="replace").strip()
        async for line in reader:
            _note(found, line, began)
        writer.close()
    except OSError as error:
        found.trouble = type(error).__name__
    if not (found.whole or found.trouble):
        found.trouble = "broke off"
    return found


def _note(found: Stream, line: bytes, began: float) -> None:
    if line.lower().startswith(b"x-memory:"):
        found.memory = line.partition(b":")[2].strip().decode()
    if not line.startswith(b"data: "):
        return
    data = line.removeprefix(b"data: ").strip()
    if data == b"[DONE]":
        found.whole = not found.trouble
        return
    event = json.loads(data)
    if "error" in event:
        found.trouble = str(event["error"].get("code"))
    elif any(choice["delta"].get("content") for choice in event["choices"]):
        found.first = found.first or time.perf_counter() - began
        found.tokens += 1
