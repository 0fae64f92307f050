"""Registers the check of the keyring and of the keys that it must open."""

from typing import TYPE_CHECKING, Any

from django.apps import AppConfig
from django.core.checks import Error, register

if TYPE_CHECKING:
    from collections.abc import Callable

    from encryption.rotation import Unopened


class EncryptionConfig(AppConfig):
    name = "encryption"

    def ready(self) -> None:
        register(check_keyring)


def check_keyring(**_options: Any) -> list[Error]:
    """Fail when the keyring is missing, readable by others, malformed, not what its check values say, or another one.

    Looks at the organizations' keys where a database answers; without one, or before its migrations, at the keyring
    alone. A key service is not asked: `memory_keys verify` does that.
    """
    from encryption.keys import KeyringError
    from encryption.rotation import unopened
    from encryption.sources import load_source

    try:
        load_source()
        return [_lost(kek) for kek in unless_silent(unopened)]
    except KeyringError as error:
        return [Error(str(error), id=f"encryption.E_{error.code.upper()}")]


def _lost(kek: "Unopened") -> Error:
    if kek.wrong:
        return Error(
            f"Another key stands in the keyring under the id {kek.kek_id}: it does not open the {kek.count} "
            "keys that were wrapped under that id.",
            hint="Put the right one back from the keyring's backup: manage.py memory_keys import --replace FILE.",
            id="encryption.E_WRONG_KEK",
        )
    return Error(
        f"Key-encryption key {kek.kek_id} is not in the keyring, and {kek.count} wrapped keys need it.",
        hint="Put it back from the keyring's backup: manage.py memory_keys import --replace FILE.",
        id="encryption.E_UNKNOWN_KEK",
    )


def unless_silent[Found](ask: "Callable[[], list[Found]]") -> list[Found]:
    """Return what a question to the database finds; nothing when none answers, or its tables are not there yet."""
    from django.db import DatabaseError, InterfaceError, connection
    from psycopg_pool import PoolTimeout

    opened_here = connection.connection is None
    try:
        return ask()
    except (DatabaseError, InterfaceError, PoolTimeout):
        return []
    finally:
        if opened_here:  # a command that forks after its checks must not share a connection with its children
            connection.close()
