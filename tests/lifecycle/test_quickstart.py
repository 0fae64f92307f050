"""The main job in real processes: quickstart, its report, a second start, and a planted word (F04)."""

import hashlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import httpx2
import pytest

from lifecycle import postgres
from lifecycle.postgres_binaries import programs
from lifecycle.postgres_processes import Cluster, postmaster_of

ROOT = Path(__file__).resolve().parents[2]
MANAGE = [sys.executable, str(ROOT / "manage.py")]
WORD = "zanzibrillo"
PLANTED = f"Keeps a {WORD} in the garden."
PASSWORD = "only-for-trying-out"

pytestmark = pytest.mark.processes


def environment(data_dir: Path) -> dict[str, str]:
    """A clean environment: what the test run set for itself must not reach the product."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MEMORYPROJECT_")}
    for name in ("DATABASE_URL", "DJANGO_SETTINGS_MODULE", "AGENT_MEMORY_KILL_SWITCH"):
        kept.pop(name, None)
    return {**kept, "MEMORYPROJECT_DATA_DIR": str(data_dir)}


@dataclass
class Product:
    """A quickstart in the foreground."""

    data_dir: Path
    printed: str
    url: str
    process: "subprocess.Popen[str]"

    def manage(self, *arguments: str, **extra: str) -> str:
        done = subprocess.run(
            [*MANAGE, *arguments],
            env={**environment(self.data_dir), **extra},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return done.stdout

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(60)


@pytest.fixture(scope="module")
def first_start(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, "subprocess.CompletedProcess[str]"]:
    """`quickstart --once` on an empty data folder."""
    data_dir = tmp_path_factory.mktemp("data")
    done = subprocess.run(
        [*MANAGE, "quickstart", "--once", "--port", "0"],
        env=environment(data_dir),
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    return data_dir, done


@pytest.fixture(scope="module")
def product(first_start: tuple[Path, "subprocess.CompletedProcess[str]"]) -> Iterator[Product]:
    """A second start, in the foreground, on the same data folder."""
    with started(first_start[0]) as running:
        yield running


@contextmanager
def started(data_dir: Path) -> Iterator[Product]:
    """A quickstart in the foreground, for as long as the block."""
    process = subprocess.Popen(
        [*MANAGE, "quickstart", "--port", "0"],
        env=environment(data_dir),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    printed = read_until(process.stdout, "Running.")
    running = Product(data_dir, printed, "", process)
    try:
        found = re.search(r"Web: (\S+)/", printed)
        assert found, printed
        yield replace(running, url=found[1])
    finally:
        running.stop()


def read_until(stream: IO[str], word: str) -> str:
    lines = []
    for line in stream:
        lines.append(line)
        if line.startswith(word):
            break
    return "".join(lines)


def sign_in(product: Product, email: str, password: str = PASSWORD) -> httpx2.Client:
    client = httpx2.Client(base_url=product.url, follow_redirects=True, timeout=30)
    page = client.get("/login/")
    answer = client.post("/login/", data={**csrf(page), "username": email, "password": password})
    assert "logout" in answer.text, answer.status_code
    return client


def csrf(page: httpx2.Response) -> dict[str, str]:
    found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
    assert found, page.url
    return {"csrfmiddlewaretoken": found[1]}


def test_once_exits_0_and_prints_what_happened(
    first_start: tuple[Path, "subprocess.CompletedProcess[str]"],
) -> None:
    _data_dir, done = first_start
    assert done.returncode == 0, done.stdout + done.stderr
    for part in (
        "Facts by status: active",
        "conflict 1",
        "Refusals by reason:",
        "pii 1",
        "What this person has told you in earlier conversations.",
        "- home.city: Lives in Porto",
        "Sign in: ana@acme.example",
        "API key (shown only now): mp_",
        "OK: the memory block was in the prompt.",
    ):
        assert part in done.stdout


def test_a_second_start_finds_everything_as_it_was(
    first_start: tuple[Path, "subprocess.CompletedProcess[str]"], product: Product
) -> None:
    key = re.search(r"API key \(shown only now\): (mp_[0-9a-f]{8})_", first_start[1].stdout)
    assert key
    assert f"API key: {key[1]}…" in product.printed
    facts = [line for line in first_start[1].stdout.splitlines() if "Facts by status" in line]
    assert facts[0] in product.printed
    assert httpx2.get(f"{product.url}/readyz").json()["status"] == "ready"


def test_a_taken_port_is_a_clear_error(product: Product) -> None:
    port = product.url.rpartition(":")[2]
    done = subprocess.run(
        [*MANAGE, "quickstart", "--port", port],
        env=environment(product.data_dir),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert f"Port {port} is in use" in done.stderr


def test_x01_a_database_that_was_killed_is_started_again_and_all_go_on(product: Product) -> None:
    postmaster = postmaster_of(Cluster(product.data_dir.resolve()))
    assert postmaster
    killed_at = time.time()
    os.kill(postmaster, signal.SIGKILL)
    assert product.process.stdout is not None
    assert "PostgreSQL ended; it is started again." in read_until(product.process.stdout, "PostgreSQL answers again.")
    beat = "from jobs.models import Heartbeat; print(Heartbeat.objects.get().at.timestamp())"
    deadline = time.monotonic() + 60
    while float(product.manage("shell", "--no-imports", "-c", beat)) < killed_at:
        assert time.monotonic() < deadline
        time.sleep(1)
    assert httpx2.get(f"{product.url}/readyz").json()["status"] == "ready"
    sign_in(product, "ana@acme.example")


def test_f13_with_the_kill_switch_on_once_checks_that_no_memory_is_used(
    first_start: tuple[Path, "subprocess.CompletedProcess[str]"],
) -> None:
    printed = Product(first_start[0], "", "", None).manage(  # type: ignore[arg-type]
        "quickstart", "--once", "--port", "0", AGENT_MEMORY_KILL_SWITCH="on"
    )
    assert "Memory is off (AGENT_MEMORY_KILL_SWITCH)" in printed
    assert "OK: memory is off, and no memory block was in the prompt." in printed
    assert "The next turn receives" not in printed


def test_several_signals_during_the_start_end_it_without_a_traceback(
    first_start: tuple[Path, "subprocess.CompletedProcess[str]"],
) -> None:
    with subprocess.Popen(
        [*MANAGE, "quickstart", "--port", "0"],
        env={**environment(first_start[0]), "AGENT_MEMORY_KILL_SWITCH": "perhaps"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        printed = read_until(process.stdout, "Starting worker and web")
        for _ in range(20):
            process.send_signal(signal.SIGTERM)
            time.sleep(0.02)
        printed += process.stdout.read()
        assert process.wait(60) in (0, -signal.SIGTERM)  # the last ones may find an interpreter that is going
    assert "AGENT_MEMORY_KILL_SWITCH has a value that cannot be read, so memory is ON." in printed
    assert "Stopping." in printed
    assert "Traceback" not in printed


def test_f04_a_word_planted_on_the_tab_is_found_nowhere_else(product: Product) -> None:
    plant(product)
    use_it(product)
    walk_the_admin(product)
    dump = dump_database(product.data_dir)
    assert b"facts_fact" in dump
    spellings = {
        "plain": WORD.encode(),
        "hexadecimal": WORD.encode().hex().encode(),
        "sha256": hashlib.sha256(PLANTED.encode()).hexdigest().encode(),
        "md5": hashlib.md5(PLANTED.encode()).hexdigest().encode(),
    }
    product.stop()
    assert product.process.stdout is not None
    printed = product.process.stdout.read().encode()
    files = {path: path.read_bytes() for path in product.data_dir.rglob("*") if path.is_file()}
    assert any(path.name == "web.log" for path in files)
    assert any(path.name == "worker.log" for path in files)
    for name, spelling in spellings.items():
        assert spelling not in dump, f"the dump holds the {name} word"
        assert spelling not in printed
        for path, content in files.items():
            assert spelling not in content, f"{path} holds the {name} word"


def plant(product: Product) -> None:
    """Edit a fact on the Memory tab, and be refused in several ways with the word in the form."""
    ana = sign_in(product, "ana@acme.example")
    tab = ana.get("/agents/acme/guide/memory/")
    edit = re.search(r'href="(/agents/acme/guide/memory/[0-9a-f-]+/edit/)"', tab.text)
    assert edit, tab.text
    form = ana.get(edit[1])
    too_long = ana.post(edit[1], data={**csrf(form), "body": WORD * 500})
    assert too_long.status_code == 400
    saved = ana.post(edit[1], data={**csrf(form), "body": PLANTED})
    assert saved.status_code == 200
    assert PLANTED in saved.text
    stale = ana.post(edit[1], data={**csrf(form), "body": f"{PLANTED} Again."})
    assert stale.status_code == 409
    ben = sign_in(product, "ben@acme.example")
    assert WORD not in ben.get("/agents/acme/guide/memory/").text


def use_it(product: Product) -> None:
    """Let turns inject the fact, streamed and whole, and let the worker extract beside it."""
    key = product.manage("create_api_key", "ana@acme.example", "acme", "--name", "test").strip()
    headers = {"Authorization": f"Bearer {key}"}
    for stream in (False, True):
        body = {"model": "acme/guide", "stream": stream, "messages": [{"role": "user", "content": "Hello there"}]}
        answer = httpx2.post(f"{product.url}/v1/chat/completions", json=body, headers=headers, timeout=60)
        assert answer.headers["X-Memory"] == "used"
        assert WORD not in answer.text
    file = product.data_dir.parent / "more.jsonl"
    file.write_text('{"role": "user", "content": "I work in Aveiro."}\n{"role": "assistant", "content": "Good."}\n')
    product.manage("replay", str(file), "--agent", "acme/guide", "--user", "ana@acme.example", "--wait")
    assert "decryptability: ok" in product.manage("doctor")


def walk_the_admin(product: Product) -> None:
    """Open every page of the admin that a superuser can reach by links."""
    product.manage("createsuperuser", "--noinput", "--email", "root@acme.example", DJANGO_SUPERUSER_PASSWORD=PASSWORD)
    root = httpx2.Client(base_url=product.url, follow_redirects=True, timeout=30)
    page = root.get("/admin/login/")
    root.post("/admin/login/", data={**csrf(page), "username": "root@acme.example", "password": PASSWORD})
    waiting = ["/admin/"]
    seen: set[str] = set()
    while waiting and len(seen) < 150:
        path = waiting.pop()
        seen.add(path)
        page = root.get(path)
        assert WORD not in page.text, path
        links = re.findall(r'href="(/admin/[^"?#]+)"', page.text)
        waiting += [link for link in links if link not in seen and "logout" not in link]
    assert len(seen) > 5


def dump_database(data_dir: Path) -> bytes:
    with postgres.lease(data_dir) as url:
        done = subprocess.run(
            [str(programs(lambda _: None) / "bin" / "pg_dump"), "--dbname", url],
            capture_output=True,
            timeout=60,
            check=True,
        )
    return done.stdout


def test_without_its_keyring_a_start_says_so_and_members_still_delete_and_withdraw(
    first_start: tuple[Path, "subprocess.CompletedProcess[str]"], product: Product
) -> None:
    product.stop()
    (product.data_dir / "keyring.json").unlink()
    with started(product.data_dir) as running:
        assert "WARNING: The keyring" in running.printed
        parts = httpx2.get(f"{running.url}/readyz").json()
        assert (parts["keyring"], parts["database"], parts["worker"]) == ("missing", "ok", "ok")
        delete_and_withdraw(sign_in(running, "ana@acme.example"))
        assert "Wipes pending: 0." in running.manage("retention")


def delete_and_withdraw(ana: httpx2.Client) -> None:
    tab = ana.get("/agents/acme/guide/memory/")
    links = set(re.findall(r'href="(/agents/acme/guide/memory/[0-9a-f-]{36}/delete/)"', tab.text))
    form = ana.get(links.pop())
    assert ana.post(form.url, data=csrf(form)).status_code == 200
    after = ana.get("/agents/acme/guide/memory/")
    assert len(set(re.findall(r"[0-9a-f-]{36}/delete/", after.text))) == len(links)
    assert "/agents/acme/guide/memory/grant/" not in after.text
    withdrawn = ana.post("/agents/acme/guide/memory/withdraw/", data=csrf(after))
    assert "/agents/acme/guide/memory/grant/" in withdrawn.text
