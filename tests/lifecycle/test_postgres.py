"""Drives the embedded PostgreSQL with real processes, locks and kills; needs no Django."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from lifecycle import postgres_binaries, postgres_processes, postgres_server
from lifecycle.postgres import PostgresError, default_data_dir, dsn, lease, stop
from lifecycle.postgres_processes import Cluster

UNSAFE = {"fsync": "off"}
CHECKOUT = Path(__file__).resolve().parents[2]
WORD = "quittenbrot"

HOLDER = """
import sys, time
from pathlib import Path
from lifecycle.postgres import lease
with lease(Path(sys.argv[1]), settings={"fsync": "off"}) as url:
    import psycopg
    with psycopg.connect(url) as connection:
        started = connection.execute("SELECT pg_postmaster_start_time()::text").fetchone()[0]
    print(started, flush=True)
    sys.stdin.read()
"""


def hold(data_dir: Path) -> subprocess.Popen[str]:
    """Start another process with a lease; it prints the server's start time, and leaves when its input ends."""
    return subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(data_dir)],
        cwd=CHECKOUT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def start_time(holder: subprocess.Popen[str]) -> str:
    assert holder.stdout is not None
    line: str = holder.stdout.readline().strip()
    assert line, "the other process got no lease"
    return line


def answers(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True


def cluster_of(data_dir: Path) -> Cluster:
    return Cluster(data_dir.resolve())


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a stopped cluster, at a path with spaces, other scripts and more bytes than a socket's may have."""
    folder = tmp_path_factory.mktemp("postgres") / "eine Größe" / ("длинный " * 8).strip() / "data"
    with lease(folder, settings=UNSAFE):
        pass
    return folder


# Without a server.


def test_url_is_stable_short_and_made_without_touching_anything(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["long folder"] * 30)
    first, second = dsn(deep), dsn(deep, "other")
    parts = conninfo_to_dict(first)
    assert first == dsn(deep)
    assert (parts["user"], parts["dbname"], conninfo_to_dict(second)["dbname"]) == (
        "memoryproject",
        "memoryproject",
        "other",
    )
    assert len(f"{parts['host']}/.s.PGSQL.5432") < 100
    assert conninfo_to_dict(dsn(tmp_path))["host"] != parts["host"]
    assert list(tmp_path.iterdir()) == []


def test_url_is_the_same_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    assert dsn(tmp_path / "link" / "data") == dsn(tmp_path / "data")


def test_data_dir_is_the_stated_one_or_in_the_users_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORYPROJECT_DATA_DIR", "/somewhere/else")
    assert default_data_dir() == Path("/somewhere/else")
    monkeypatch.delenv("MEMORYPROJECT_DATA_DIR")
    monkeypatch.setenv("XDG_DATA_HOME", "/xdg")
    assert default_data_dir() == Path("/xdg/memoryproject")
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/someone")
    assert default_data_dir() == Path("/home/someone/.local/share/memoryproject")


def test_launcher_imports_no_django() -> None:
    check = "import sys, lifecycle.postgres; sys.exit('django' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], cwd=CHECKOUT, check=False).returncode == 0


def test_missing_wheel_is_explained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(postgres_binaries, "cache_dir", lambda: tmp_path)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(PostgresError, match=r"carries no PostgreSQL for(.|\n)*DATABASE_URL"):
        postgres_binaries.programs(lambda _: None)


def test_unusable_folder_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PostgresError, match=r"cannot be used(.|\n)*MEMORYPROJECT_DATA_DIR(.|\n)*DATABASE_URL"):
        lease(tmp_path / "file" / "data").open()


def test_folder_that_everybody_may_write_to_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(PostgresError, match="choose a folder of your own"):
        lease(tmp_path).open()
    assert list(tmp_path.iterdir()) == []


def test_socket_folder_that_somebody_else_made_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "planted").symlink_to(tmp_path)
    monkeypatch.setattr(Cluster, "socket_folder", tmp_path / "planted" / "x")
    with pytest.raises(PostgresError, match="not a folder of yours"):
        postgres_server._prepare_socket_folder(Cluster(tmp_path))


def test_data_of_another_major_version_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "PG_VERSION").write_text("17\n")
    with pytest.raises(PostgresError, match="was made by PostgreSQL 17"):
        lease(tmp_path).open()
    assert [path.name for path in (tmp_path / "postgres").iterdir()] == ["PG_VERSION"]


# With one.


@pytest.mark.processes
def test_server_is_durable_private_and_has_the_extensions(data_dir: Path) -> None:
    with lease(data_dir) as url, psycopg.connect(url) as connection:
        shown = {
            name: connection.execute("SELECT current_setting(%s)", [name]).fetchone()
            for name in ("fsync", "data_checksums", "listen_addresses", "server_encoding", "TimeZone")
        }
        assert shown == {
            "fsync": ("on",),
            "data_checksums": ("on",),
            "listen_addresses": ("",),
            "server_encoding": ("UTF8",),
            "TimeZone": ("UTC",),
        }
        locales = connection.execute("SELECT DISTINCT datlocprovider, datlocale FROM pg_database").fetchall()
        assert locales == [("b", "C.UTF-8")]
        doors = connection.execute("SELECT type, user_name, auth_method, options FROM pg_hba_file_rules").fetchall()
        assert doors == [("local", ["memoryproject"], "peer", ["map=launcher"])]
        for extension in ("vector", "pg_trgm", "unaccent", "btree_gist"):
            connection.execute(psycopg.sql.SQL("CREATE EXTENSION {}").format(psycopg.sql.Identifier(extension)))
        assert connection.execute("SELECT '[1,2]'::vector <-> '[1,3]'").fetchone() == (1.0,)


@pytest.mark.processes
def test_nobody_but_the_launchers_account_gets_in(data_dir: Path) -> None:
    with lease(data_dir, settings=UNSAFE) as url:
        assert answers(url)
        assert not answers(url.replace("memoryproject@", "postgres@"))
        imposter = url.rsplit("=", 1)[0] + "=daemon"
        assert not answers(imposter)
        assert cluster_of(data_dir).socket_folder.stat().st_mode & 0o077 == 0


@pytest.mark.processes
def test_logs_hold_no_words_of_statements(data_dir: Path) -> None:
    with lease(data_dir, settings=UNSAFE) as url, psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TEMP TABLE t (word text UNIQUE)")
        connection.execute("INSERT INTO t VALUES (%s)", [WORD])
        for statement in ("INSERT INTO t VALUES (%s)", "SELECT %s::int", "SELECT 1 / length(%s) / 0"):
            with pytest.raises(psycopg.Error):
                connection.execute(statement, [WORD])
        with pytest.raises(psycopg.Error):
            connection.execute(f"SELECT {WORD}")
    logs = [path.read_text() for path in (data_dir / "postgres" / "log").iterdir()]
    assert any("ready to accept connections" in text for text in logs)
    assert not any(WORD in text for text in logs)


@pytest.mark.processes
def test_last_one_out_stops_the_server(data_dir: Path) -> None:
    with lease(data_dir, settings=UNSAFE) as url:
        with lease(data_dir) as again:
            assert again == url
        assert answers(url)
    assert not answers(url)
    assert not cluster_of(data_dir).socket_folder.exists()


@pytest.mark.processes
def test_six_processes_share_one_server_from_cold(tmp_path: Path) -> None:
    holders = [hold(tmp_path / "cold") for _ in range(6)]
    assert len({start_time(holder) for holder in holders}) == 1
    for holder in holders[:5]:
        holder.communicate()
    assert answers(dsn(tmp_path / "cold"))
    holders[5].communicate()
    assert not answers(dsn(tmp_path / "cold"))
    assert [holder.returncode for holder in holders] == [0] * 6


@pytest.mark.processes
def test_killed_user_counts_no_longer(data_dir: Path) -> None:
    killed = hold(data_dir)
    started = start_time(killed)
    killed.kill()
    killed.communicate()
    assert answers(dsn(data_dir))
    other = hold(data_dir)
    assert start_time(other) == started
    other.communicate()
    assert not answers(dsn(data_dir))


@pytest.mark.processes
def test_forked_child_does_not_end_its_parents_lease(data_dir: Path) -> None:
    with lease(data_dir, settings=UNSAFE) as url:
        program = f"""
import os
from pathlib import Path
from lifecycle.postgres import lease
held = lease(Path({str(data_dir)!r})).open()
if os.fork() == 0:
    held.close()
    os._exit(0)
os.wait()
print(held._held is not None)
held.close()
"""
        done = subprocess.run([sys.executable, "-c", program], cwd=CHECKOUT, capture_output=True, text=True, check=True)
        assert done.stdout == "True\n"
        assert answers(url)


def kill_postmaster(cluster: Cluster) -> None:
    os.kill(postgres_processes.postmaster_of(cluster) or 0, signal.SIGKILL)


def kill_everything(cluster: Cluster) -> None:
    for pid in postgres_processes._processes(cluster):
        os.kill(pid, signal.SIGKILL)


@pytest.mark.processes
@pytest.mark.parametrize("kill", [kill_postmaster, kill_everything])
def test_committed_rows_survive_a_kill(data_dir: Path, kill: Callable[[Cluster], None]) -> None:
    cluster = cluster_of(data_dir)
    with lease(data_dir, settings=UNSAFE) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DROP TABLE IF EXISTS kept")
            connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
            kill(cluster)
        with lease(data_dir, settings=UNSAFE), psycopg.connect(url) as connection:
            assert connection.execute("SELECT number FROM kept").fetchone() == (7,)
        assert answers(url)
    assert not answers(url)


@pytest.mark.processes
def test_pid_files_whose_pid_was_reused_do_not_block_a_start(data_dir: Path) -> None:
    cluster = cluster_of(data_dir)
    with lease(data_dir, settings=UNSAFE):
        left = (cluster.folder / "postmaster.pid").read_text().split("\n", 1)[1]
    bystander = subprocess.Popen(["sleep", "60"])
    try:
        postgres_server._prepare_socket_folder(cluster)
        postgres_server._write(cluster.folder / "postmaster.pid", f"{bystander.pid}\n{left}")
        postgres_server._write(cluster.socket.with_name(".s.PGSQL.5432.lock"), f"{bystander.pid}\n{left}")
        stop(data_dir)
        assert bystander.poll() is None
        with lease(data_dir, settings=UNSAFE) as url:
            assert answers(url)
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


@pytest.mark.processes
def test_half_made_cluster_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "postgres.new").mkdir()
    (tmp_path / "postgres.new" / "rest").write_text("of a killed initdb")
    with lease(tmp_path, settings=UNSAFE) as url:
        assert answers(url)
    assert not (tmp_path / "postgres.new").exists()


@pytest.mark.processes
def test_server_with_a_deleted_socket_is_replaced(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_server, "ORPHAN_SECONDS", 0.5)
    cluster = cluster_of(data_dir)
    with lease(data_dir, settings=UNSAFE) as url:
        cluster.socket.unlink()
        assert not answers(url)
        with lease(data_dir, settings=UNSAFE):
            assert answers(url)
    assert not answers(url)


@pytest.mark.processes
def test_stop_ends_the_server_under_its_users_and_a_lease_starts_it_again(data_dir: Path) -> None:
    with lease(data_dir, settings=UNSAFE) as url:
        stop(data_dir)
        assert not answers(url)
        with lease(data_dir, settings=UNSAFE):
            assert answers(url)
    stop(data_dir)


@pytest.mark.processes
def test_failed_start_says_what_postgresql_said_at_once(data_dir: Path) -> None:
    begun = time.monotonic()
    with pytest.raises(PostgresError, match="shared_buffers"):
        lease(data_dir, settings={"shared_buffers": "much"}).open()
    assert time.monotonic() - begun < 5
