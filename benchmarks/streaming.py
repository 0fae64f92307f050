"""B11: time to the first streamed token through the web server over the upstream's own, 50 streams open at once."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from benchmarks.clients import Request, Stream, read_streams
from benchmarks.figures import SLOW_PAIRS, Check, Context, Outcome, Timing, against_floor
from benchmarks.upstream import Pace, upstream
from benchmarks.web import Web, remembering_callers, web

STREAMS: Final = 50
MEMBERS: Final = 10
POOL: Final = 8
APART: Final = 0.1  # seconds between two beginnings; people do not all press Enter in one instant
PACE: Final = Pace(first=0.3, tokens=140, every=0.05)  # 7.25 s, so that all 50 are open for two seconds
ALL_OPEN: Final = STREAMS * APART + 0.5  # seconds after the first beginning
GROWTH_A_STREAM: Final = 0.1  # MB between the moment when all are open and the last one's end


@dataclass(slots=True)
class Samples:
    """What the web server used while streams ran: MB in all workers, and database connections."""

    memory: list[float] = field(default_factory=list)
    connections: list[int] = field(default_factory=list)

    def take(self, server: Web) -> None:
        self.memory.append(sum(server.memory()))
        self.connections.append(server.connections())


def first_token(streams: Sequence[Stream]) -> float:
    """Return the median time to the first token in seconds."""
    return statistics.median(stream.first for stream in streams)


def measure_b11(_context: Context) -> Outcome:
    """Floor and subject alternate, 50 streams each; all callers have granted memory and hold a full scope."""
    with upstream(PACE) as port:
        callers = remembering_callers(port, members=MEMBERS)
        requests = [callers[number % MEMBERS] for number in range(STREAMS)]
        with web(pool=POOL) as server:
            read_streams(server.port, requests)  # imports, connections and plans
            return _measure(port, server, requests)


def _measure(port: int, server: Web, requests: Sequence[Request]) -> Outcome:
    samples, floors, subjects, seen = Samples(), [], [], list[Stream]()
    before = sum(server.memory())
    ends = PACE.seconds + STREAMS * APART - 1.0  # the last streams still run then
    for _ in range(SLOW_PAIRS):
        floors.append(first_token(read_streams(port, requests, apart=APART)))
        moments = {at: lambda: samples.take(server) for at in (ALL_OPEN, ALL_OPEN + 1.0, ends)}
        streams = read_streams(server.port, requests, apart=APART, at=moments)
        subjects.append(first_token(streams))
        seen += streams
    burst = sorted(stream.first for stream in read_streams(server.port, requests))
    failed = sum(not stream.whole for stream in seen)
    timing = Timing(statistics.median(floors) * 1000, statistics.median(subjects) * 1000, SLOW_PAIRS)
    return against_floor(
        timing,
        1.15,
        Check("database connections", max(samples.connections), POOL),
        Check("failed streams", failed, 0),
        Check("MB a stream more at its end", (samples.memory[-1] - samples.memory[-3]) / STREAMS, GROWTH_A_STREAM),
        Check("streams without memory", sum(stream.memory != "used" for stream in seen), 0),
        first_token_p99_ms=round(sorted(stream.first for stream in seen)[int(len(seen) * 0.99)] * 1000),
        all_in_one_instant_p50_ms=round(statistics.median(burst) * 1000),
        mb_before=round(before, 1),
        mb_while_streaming=round(max(samples.memory), 1),
        mb_a_stream=round((max(samples.memory) - before) / STREAMS, 3),
    )
