"""The command `python -m benchmarks.streams [--streams N] [--drain]`: many streams at once; exit 1 when one fails."""

import argparse
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from benchmarks.clients import Stream, read_streams
from benchmarks.figures import load
from benchmarks.scratch import scratch_database
from benchmarks.upstream import Pace, upstream
from lifecycle.postgres import PostgresError

MEMBERS: Final = 10


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the streams, print what came of them, and return 0, or 1 when one failed or the server did not drain."""
    options = _parse(arguments)
    try:
        with scratch_database():
            return _run(options)
    except PostgresError as error:
        print(error, file=sys.stderr)
        return 1


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.streams", description=__doc__)
    parser.add_argument("--streams", type=int, default=300)
    parser.add_argument("--workers", type=int, default=2, help="processes of the web server")
    parser.add_argument("--threads", type=int, default=200, help="of each: as many streams at once")
    parser.add_argument("--pool", type=int, default=8, help="database connections of each")
    parser.add_argument("--within", type=float, default=10.0, help="seconds in which all begin; 0: in one instant")
    parser.add_argument("--seconds", type=float, default=15.0, help="how long each reply takes")
    parser.add_argument("--drain", action="store_true", help="end the server when all streams run: each must complete")
    options = parser.parse_args(arguments)
    if options.streams > options.workers * options.threads:
        parser.error(f"{options.workers} × {options.threads} threads serve fewer than {options.streams} streams")
    return options


def _run(options: argparse.Namespace) -> int:
    from benchmarks.streaming import Samples
    from benchmarks.web import remembering_callers, web

    pace, samples = Pace(first=0.3, tokens=int(options.seconds * 2), every=0.5), Samples()
    with upstream(pace) as port:
        callers = remembering_callers(port, members=MEMBERS)
        requests = [callers[number % MEMBERS] for number in range(options.streams)]
        with web(workers=options.workers, threads=options.threads, pool=options.pool) as server:
            read_streams(server.port, callers)  # imports and plans
            before = server.memory()
            begun = options.within + 2.0
            moments = {begun: lambda: samples.take(server), begun + 2.0: lambda: samples.take(server)}
            if options.drain:
                moments[begun + 2.5] = lambda: os.kill(server.running.process.pid, signal.SIGTERM)
            apart = options.within / options.streams
            streams = read_streams(server.port, requests, apart=apart, at=moments)
            drained = not options.drain or _ended(server.running.ended)
    workers = options.workers
    print(_report(streams, sorted(stream.first for stream in streams if stream.first)))
    print(
        f"  memory per worker before {sum(before) / workers:.0f} MB, while streaming "
        + ", ".join(f"{total / workers:.0f} MB" for total in samples.memory)
        + f"; database connections {max(samples.connections)} of {workers} × {options.pool}"
    )
    if options.drain:
        print(f"  SIGTERM while streaming: {'the server ended by itself' if drained else 'the server did NOT end'}")
    return 0 if drained and all(stream.whole for stream in streams) else 1


def _report(streams: Sequence[Stream], firsts: Sequence[float]) -> str:
    whole = sum(stream.whole for stream in streams)
    troubles = Counter(stream.trouble for stream in streams if not stream.whole)
    remembering = sum(stream.memory == "used" for stream in streams)
    lines = [f"{whole} of {len(streams)} streams completed, {remembering} with memory; load {load()}"]
    if firsts:
        p50, p99 = (firsts[int((len(firsts) - 1) * part)] * 1000 for part in (0.5, 0.99))
        lines.append(f"  first token p50 {p50:.0f} ms, p99 {p99:.0f} ms")
    lines += [f"  failed: {count} × {trouble}" for trouble, count in troubles.most_common()]
    return "\n".join(lines)


def _ended(ended: Callable[[], bool], seconds: float = 20.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if ended():
            return True
        time.sleep(0.1)
    return False


if __name__ == "__main__":
    sys.exit(main())
