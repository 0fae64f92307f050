"""Edits of the keyring file: whole or not at all, one at a time, readable throughout. Imports no Django."""

import base64
import fcntl
import json
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from encryption import envelope
from encryption.keys import Keyring, KeyringError, keyring_json, load_keyring, new_kek, parse_keyring

BACKUP_FORMAT: Final = "memoryproject keyring backup 1"
SHORTEST_PASSPHRASE: Final = 12  # characters


class KeyfileError(Exception):
    """An edit is refused; the sentence says why. The file is as it was."""


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other editors out. Readers need no lock: they see the old file or the new one. Raises KeyfileError."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise KeyfileError(f"The folder {folder} cannot be used ({type(error).__name__}).") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
        os.fsync(descriptor)  # the rename itself
    finally:
        os.close(descriptor)


def write_private(file: Path, text: str) -> None:
    """Put a 0600 file in place in one step, on disk before it is visible. Raises KeyfileError."""
    try:
        _write_private(file, text)
    except OSError as error:
        raise KeyfileError(f"{file} cannot be written ({type(error).__name__}).") from None


def _write_private(file: Path, text: str) -> None:
    draft = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as opened:
            opened.write(text)
            opened.flush()
            os.fsync(opened.fileno())
        draft.replace(file)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _edit(file: Path, change: Callable[[Keyring], Keyring]) -> None:
    with _locked(file.parent):
        write_private(file, keyring_json(change(load_keyring(json_text="", file=file))))


def add_kek(file: Path) -> str:
    """Add a new key that only unwraps, and return its id. Raises KeyringError."""
    key_id, key = new_kek()
    _edit(file, lambda ring: replace(ring, keys={**ring.keys, key_id: key}))
    return key_id


def make_primary(file: Path, key_id: str) -> None:
    """Let a key of the ring wrap from now on. Raises KeyfileError, KeyringError."""

    def change(ring: Keyring) -> Keyring:
        if key_id not in ring.keys:
            raise KeyfileError(f"The keyring has no key {key_id}.")
        return replace(ring, primary_id=key_id)

    _edit(file, change)


def remove_kek(file: Path, key_id: str) -> None:
    """Take a key out of the ring for good; that nothing is wrapped under it is the caller's to know."""

    def change(ring: Keyring) -> Keyring:
        if key_id not in ring.keys:
            raise KeyfileError(f"The keyring has no key {key_id}.")
        if key_id == ring.primary_id:
            raise KeyfileError(f"Key {key_id} is the primary key. Make another one primary first.")
        return replace(ring, keys={name: key for name, key in ring.keys.items() if name != key_id})

    _edit(file, change)


def sealed_backup(ring: Keyring, passphrase: str) -> str:
    """Return the keyring as JSON text that only the passphrase opens (scrypt, AES-256-GCM). Raises KeyfileError."""
    _check_text(passphrase)
    if len(passphrase) < SHORTEST_PASSPHRASE:
        raise KeyfileError(f"The passphrase must have at least {SHORTEST_PASSPHRASE} characters.")
    salt, sealed = envelope.seal_with_passphrase(passphrase, keyring_json(ring).encode(), BACKUP_FORMAT.encode())
    parts = {"salt": base64.b64encode(salt).decode(), "sealed": base64.b64encode(sealed).decode()}
    return json.dumps({"format": BACKUP_FORMAT} | parts, indent=2) + "\n"


def _check_text(passphrase: str) -> None:
    try:
        passphrase.encode()
    except UnicodeEncodeError:  # bytes of another encoding, as Python carries them
        raise KeyfileError("The passphrase is not UTF-8 text. Type it anew, or set the variable in UTF-8.") from None


def open_backup(text: str, passphrase: str) -> Keyring:
    """Return the keyring of a backup. Raises KeyfileError, KeyringError."""
    _check_text(passphrase)
    try:
        raw = json.loads(text)
        known = raw["format"] == BACKUP_FORMAT
        salt, sealed = (base64.b64decode(raw[name], validate=True) for name in ("salt", "sealed"))
    except (ValueError, KeyError, TypeError, RecursionError):
        raise KeyfileError("This is no backup of a keyring.") from None
    if not known:
        raise KeyfileError("This backup has a format that this version does not know.")
    try:
        plain = envelope.open_with_passphrase(passphrase, salt, sealed, BACKUP_FORMAT.encode())
    except envelope.BadRecord:
        raise KeyfileError("The passphrase is another one, or the backup was changed.") from None
    return parse_keyring(plain.decode())


def install(file: Path, ring: Keyring, *, replace_other: bool) -> Path | None:
    """Put a keyring in place of none, or of another one when told to; the other one is kept beside it and returned.

    Raises KeyfileError when a different keyring, or something that is no keyring, is there and must stay.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise KeyfileError(f"The folder {file.parent} cannot be made ({type(error).__name__}).") from None
    with _locked(file.parent):
        kept = None
        if file.exists():
            if _same(file, ring):
                return None
            if not replace_other:
                raise KeyfileError(f"{file} is a different keyring. Replace it only if nothing needs its keys.")
            kept = file.with_name(f"{file.name}.replaced-{secrets.token_hex(4)}")
            os.link(file, kept)
            kept.chmod(0o600)
        write_private(file, keyring_json(ring))
        return kept


def _same(file: Path, ring: Keyring) -> bool:
    try:
        return load_keyring(json_text="", file=file) == ring
    except KeyringError:
        return False
