"""The real web process for the figures that need one: started as quickstart does, watched from outside."""

import json
import os
import secrets
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import connection

from accounts.services import create_api_key
from agents.services import get_or_create_provider, save_agent
from benchmarks import world
from benchmarks.clients import Request
from lifecycle import processes

SAID: Final = "Which train should I take on Thursday?"
NO_LIMIT: Final = "1000000"  # requests a minute: counted as ever, refused never
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Web:
    """A running web server: its port, its processes and what they use."""

    port: int
    running: processes.Running

    def workers(self) -> list[int]:
        """Return the numbers of the worker processes."""
        return _children(self.running.process.pid)

    def memory(self) -> list[float]:
        """Return the resident memory of each worker in MB."""
        pages = [int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in self.workers()]
        return [count * _PAGE / 1_000_000 for count in pages]

    def connections(self) -> int:
        """Return how many database connections the web server holds; this process must hold none through Django."""
        row = world.raw_connection().execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = %s",
            ("memoryproject",),
        )
        return int(row.fetchall()[0][0])


def _children(pid: int) -> list[int]:
    stats = [path.read_text() for path in Path("/proc").glob("[0-9]*/stat") if path.exists()]
    fields = [(int(stat.split(" ", 1)[0]), stat.rpartition(")")[2].split()) for stat in stats]
    return [child for child, rest in fields if int(rest[1]) == pid]


@contextmanager
def web(*, workers: int = 1, threads: int = processes.THREADS, pool: int = processes.POOL) -> Iterator[Web]:
    """Start the web server on the scratch database, and end it. Raises StartFailed."""
    connection.close()  # the server's connections are counted
    stated = connection.settings_dict
    environment = {
        "DATABASE_URL": "postgresql:///{NAME}?host={HOST}&port={PORT}&user={USER}&password={PASSWORD}".format(**stated),
        "MEMORYPROJECT_ALLOW_PRIVATE_PROVIDERS": "1",
        "MEMORYPROJECT_RATE_KEY": NO_LIMIT,
        "MEMORYPROJECT_RATE_ORGANIZATION": NO_LIMIT,
    }
    instance = secrets.token_hex(16)
    with tempfile.TemporaryDirectory(prefix="memoryproject-web-") as logs, processes.claimed_port(0) as port:
        before = dict(os.environ)
        os.environ |= environment
        try:
            running = processes.start_web(
                Path(logs), port=port, instance=instance, workers=workers, threads=threads, pool=pool
            )
        finally:
            for name in environment:
                os.environ.pop(name)
            os.environ |= before
        try:
            processes.wait_until_answers(f"http://127.0.0.1:{port}/healthz", running, instance=instance)
            yield Web(port, running)
        finally:
            processes.end(running)


def remembering_callers(upstream_port: int, *, members: int) -> Sequence[Request]:
    """Make members who granted memory and hold a full scope each; return what each asks the web server's agent."""
    settings.ALLOW_PRIVATE_PROVIDERS = True
    agent = world.agent()
    provider = get_or_create_provider(kind="openai", base_url=f"http://127.0.0.1:{upstream_port}/v1", actor=None)
    save_agent(
        organization=agent.organization,
        slug=agent.slug,
        name=agent.name,
        system_prompt=agent.system_prompt,
        provider=provider,
        model="steady-1",
        actor=None,
    )
    callers = [world.new_member(facts=world.FULL) for _ in range(members)]
    world.settle()
    body = {"model": agent.public_name, "stream": True, "messages": [{"role": "user", "content": SAID}]}
    keys = [create_api_key(organization=agent.organization, user=caller.user, name="Bench") for caller in callers]
    return [Request(json.dumps(body).encode(), {"Authorization": f"Bearer {key.secret}"}) for key in keys]
