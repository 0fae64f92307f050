"""One web server on a port, and the one that we started (X01)."""

import http.server
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen

import pytest

from lifecycle.processes import Running, StartFailed, claimed_port, free_port, start_web, wait_until_answers


def test_a_port_is_claimed_by_one_at_a_time_before_anybody_listens() -> None:
    with claimed_port(0) as port:
        with pytest.raises(StartFailed, match=f"Port {port} is in use by another quickstart"), claimed_port(port):
            pass
        assert free_port(port) == port
    with claimed_port(port) as again:
        assert again == port


def test_a_port_that_shares_itself_is_in_use_nevertheless(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(StartFailed, match=f"Port {port} is in use"), claimed_port(port):
            pass
        with pytest.raises(StartFailed, match=f"Port {port} is in use"):
            start_web(tmp_path, port=port, instance="ours")


NOT_READY = b'{"status": "not ready", "database": "ok", "keyring": "missing", "worker": "ok"}'


class Alive(http.server.BaseHTTPRequestHandler):
    """Another server that is alive."""

    def do_GET(self) -> None:
        status, body = (
            (503, NOT_READY) if self.path == "/readyz" else (200, b'{"status": "alive", "instance": "theirs"}')
        )
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def other_server() -> Iterator[str]:
    with http.server.HTTPServer(("127.0.0.1", 0), Alive) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/healthz"
        server.shutdown()
        thread.join()


def test_an_answer_counts_only_from_the_instance_that_was_started(other_server: str, tmp_path: Path) -> None:
    with Popen([sys.executable, "-c", "input()"], stdin=-1) as process:
        running = Running("web", process, tmp_path / "web.log")
        wait_until_answers(other_server, running, instance="theirs")
        with pytest.raises(StartFailed, match="Another server answers"):
            wait_until_answers(other_server, running, instance="ours")
        process.kill()


def test_readiness_is_awaited_without_the_parts_that_cannot_come(other_server: str, tmp_path: Path) -> None:
    url = other_server.replace("healthz", "readyz")
    with Popen([sys.executable, "-c", "input()"], stdin=-1) as process:
        running = Running("worker", process, tmp_path / "worker.log")
        wait_until_answers(url, running, without=["keyring"])
        for missed in ([], ["worker"]):
            with pytest.raises(StartFailed, match="did not come up"):
                wait_until_answers(url, running, without=missed, seconds=0.1)
        process.kill()
