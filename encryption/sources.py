"""The deployment's key source as its settings name it: keyring, Vault, or one in front of the other."""

from pathlib import Path

from django.conf import settings

from encryption.keys import Chain, Keyring, KeyringError, KeySource, load_keyring
from encryption.vault import VaultTransit


def keyring() -> Keyring:
    """Return the keyring as it is now. Raises KeyringError."""
    return load_keyring(json_text=settings.KEYRING_JSON, file=settings.KEYRING_FILE)


def editable_keyring_file() -> Path:
    """Return the file that holds the keyring. Raises KeyringError when it comes from the environment, or not at all."""
    if settings.KEYRING_JSON:
        raise KeyringError("unreadable", "The keyring is in MEMORYPROJECT_KEYRING; it can be edited only there.")
    if settings.KEYRING_FILE is None:
        raise KeyringError("missing", "No keyring is set. Set MEMORYPROJECT_KEYRING_FILE.")
    return Path(settings.KEYRING_FILE)


def vault() -> VaultTransit | None:
    """Return Vault's source when an address is set, whether it is primary or not. Raises KeyringError."""
    if not settings.VAULT_ADDRESS:
        return None
    source = VaultTransit(
        address=settings.VAULT_ADDRESS,
        key_name=settings.VAULT_KEY,
        token=settings.VAULT_TOKEN,
        token_file=settings.VAULT_TOKEN_FILE,
        mount=settings.VAULT_MOUNT,
        namespace=settings.VAULT_NAMESPACE,
        ca_file=settings.VAULT_CA_FILE,
    )
    source.check()
    return source


def load_source() -> KeySource:
    """Return what wraps and unwraps organization keys now; asks no service. Raises KeyringError.

    The other source stays behind the primary one, so that keys can be moved from one to the other by `rewrap`.
    """
    service = vault()
    if settings.KMS != "vault":
        return keyring() if service is None else Chain((keyring(), service))
    if service is None:
        raise KeyringError("missing", "MEMORYPROJECT_KMS is vault, and MEMORYPROJECT_VAULT_ADDRESS is not set.")
    try:
        return Chain((service, keyring()))
    except KeyringError as error:
        if error.code != "missing":
            raise
        return service
