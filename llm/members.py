"""Reads JSON objects by attribute, as leniently as the client library's own classes and many times faster."""

from typing import Any


class Members:
    """One JSON object: its members are attributes, None where it has no such member."""

    __slots__ = ("_members",)

    def __init__(self, members: dict[str, Any]) -> None:
        self._members = members

    def __getattr__(self, name: str) -> Any:
        return members(self._members.get(name))


def members(value: Any) -> Any:
    """Return a JSON value with the objects in it as `Members`; they are made when they are looked at."""
    if isinstance(value, dict):
        return Members(value)
    return [members(item) for item in value] if isinstance(value, list) else value
