"""A model server in a process of its own that streams words at a steady pace; knows nothing of what it is asked."""

import argparse
import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
BACKLOG: Final = 1024  # all streams may come in one instant


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds until the first token, how many tokens come, and the seconds between them."""

    first: float = 0.3
    tokens: int = 20
    every: float = 0.05

    @property
    def seconds(self) -> float:
        return self.first + (self.tokens - 1) * self.every


def _event(delta: dict[str, str], finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    chunk = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "steady-1", "choices": [choice]}
    return b"data: %b\n\n" % json.dumps(chunk).encode()


async def _serve(pace: Pace) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            began = asyncio.get_running_loop().time()
            length = next((line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), b":0")
            await reader.readexactly(int(length.partition(b":")[2]))
            writer.write(HEAD)
            for number in range(pace.tokens):
                due = began + pace.first + number * pace.every  # late once is not late ever after
                await asyncio.sleep(due - asyncio.get_running_loop().time())
                writer.write(_event({"content": f"word{number} "}))
                await writer.drain()
            writer.write(_event({}, "stop") + b"data: [DONE]\n\n")
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client has gone
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=BACKLOG)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


@contextmanager
def upstream(pace: Pace) -> Iterator[int]:
    """Run the server and give its port."""
    command = [sys.executable, "-m", "benchmarks.upstream", str(pace.first), str(pace.tokens), str(pace.every)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=dict(os.environ)) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.terminate()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.upstream", description=__doc__)
    parser.add_argument("first", type=float)
    parser.add_argument("tokens", type=int)
    parser.add_argument("every", type=float)
    given = parser.parse_args()
    asyncio.run(_serve(Pace(given.first, given.tokens, given.every)))


if __name__ == "__main__":
    main()
