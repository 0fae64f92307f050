"""What a local deployment keeps in its data folder: secret key, keyring, database. Must not import Django."""

import os
import secrets
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lifecycle import postgres

KEYRING_VARIABLES = ("MEMORYPROJECT_KEYRING", "MEMORYPROJECT_KEYRING_FILE", "MEMORYPROJECT_KMS")
# These read no data, so they work without a database.
NO_DATABASE = frozenset({"help", "--help", "version", "--version", "makemessages", "compilemessages", "collectstatic"})


def data_dir() -> Path:
    """Return the data folder: `--data-dir` of the command line, else MEMORYPROJECT_DATA_DIR, else the default."""
    return postgres.default_data_dir()


def data_dir_option() -> str:
    """Return what a command line needs behind it to mean this data folder; nothing for the default one."""
    folder = data_dir()
    return "" if folder == postgres.usual_data_dir() else f" --data-dir {shlex.quote(str(folder))}"


def dsn(folder: Path) -> str:
    return postgres.dsn(folder)


def keyring_file(folder: Path) -> Path:
    return folder / "keyring.json"


def secret_key_file(folder: Path) -> Path:
    return folder / "secret_key"


def read_secret_key(folder: Path) -> str:
    try:
        return secret_key_file(folder).read_text().strip()
    except OSError:
        return ""


def _write_once(path: Path, text: str) -> bool:
    """Create a 0600 file whole or not at all; False when it exists. Two first starts at once keep one winner."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.link(draft, path)
    except FileExistsError:
        return False
    finally:
        draft.unlink()
    return True


def prepare(folder: Path) -> list[str]:
    """Write keyring and secret key on the first start; return sentences that say what was written (X04).

    The secret key comes last and marks that a first start is over: a keyring that is missing later was lost, and a new
    one in its place would only hide that.
    """
    said = []
    first = not secret_key_file(folder).exists()
    elsewhere = any(os.environ.get(name, "").strip() for name in KEYRING_VARIABLES)
    if first and not elsewhere:
        from encryption.keys import new_keyring_json

        if _write_once(keyring_file(folder), new_keyring_json()):
            said.append(
                f"Wrote a new keyring to {keyring_file(folder)}. Keep a copy apart from the database: "
                "without it no fact can be read."
            )
    if first and _write_once(secret_key_file(folder), secrets.token_urlsafe(50)):
        said.append(f"Wrote a secret key to {secret_key_file(folder)}.")
    return said


def embedded() -> bool:
    """Whether the database is the embedded one."""
    return not os.environ.get("DATABASE_URL", "").strip()


@contextmanager
def database_for(arguments: Sequence[str], *, production: bool) -> Iterator[None]:
    """Keep the embedded PostgreSQL up while a command runs, unless DATABASE_URL names another. Raises PostgresError.

    In production nothing is started and nothing written.
    """
    command = arguments[1] if len(arguments) > 1 else "help"
    if production:
        yield
    elif command in NO_DATABASE or not embedded():
        prepare_quietly()
        yield
    else:
        with postgres.lease(data_dir(), say=_say):
            prepare_quietly()
            yield


def revive() -> None:
    """Start the embedded server again, which died under the lease of this process. Raises PostgresError."""
    with postgres.lease(data_dir(), say=_say):
        pass  # the command's own lease keeps it up


def prepare_quietly() -> None:
    for sentence in prepare(data_dir()):
        _say(sentence)


def _say(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")
