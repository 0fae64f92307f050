"""Typed readers of environment variables; a bad value stops the start with a sentence that names the variable."""

import os
from pathlib import Path

TRUE = frozenset({"1", "true", "yes", "on", "enabled"})
FALSE = frozenset({"0", "false", "no", "off", "disabled", ""})


class BadEnvironment(Exception):
    """A variable has a value that cannot be used. The message says which, and what is allowed."""


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, default).strip()


def choice(name: str, allowed: tuple[str, ...], default: str) -> str:
    value = text(name, default)
    if value not in allowed:
        raise BadEnvironment(f"{name} is {value!r}; use one of: {', '.join(allowed)}.")
    return value


def mode() -> str:
    """Return `local` or `production` (X04)."""
    return choice("MEMORYPROJECT_MODE", ("local", "production"), "local")


def boolean(name: str, *, default: bool) -> bool:
    value = os.environ.get(name)
    if value is None:
        return default
    folded = value.strip().lower()
    if folded in TRUE:
        return True
    if folded in FALSE:
        return False
    raise BadEnvironment(f"{name} is {value!r}; use 1 or 0.")


def integer(name: str, *, default: int, minimum: int, maximum: int) -> int:
    value = text(name)
    if not value:
        return default
    if not (value.isascii() and value.isdigit() and len(value) < 20 and minimum <= int(value) <= maximum):
        raise BadEnvironment(f"{name} is {value!r}; use a whole number from {minimum} to {maximum}.")
    return int(value)


def words(name: str) -> list[str]:
    """Read a comma-separated list; empty parts are dropped."""
    return [part.strip() for part in text(name).split(",") if part.strip()]


def path(name: str) -> Path | None:
    value = text(name)
    return Path(value).expanduser() if value else None
