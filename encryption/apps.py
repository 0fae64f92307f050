"""Registers the check of the keyring."""

from typing import Any

from django.apps import AppConfig
from django.core.checks import Error, register


class EncryptionConfig(AppConfig):
    name = "encryption"

    def ready(self) -> None:
        register(check_keyring)


def check_keyring(**_options: Any) -> list[Error]:
    """Fail when the keyring is missing, readable by others, malformed, or not what its check values say."""
    from django.conf import settings

    from encryption.keys import KeyringError, load_keyring

    try:
        load_keyring(json_text=settings.KEYRING_JSON, file=settings.KEYRING_FILE)
    except KeyringError as error:
        return [Error(str(error), id=f"encryption.E_{error.code.upper()}")]
    return []
