"""Under a missing or wrong keyring everything goes on that needs no key (R01, R03, H02); `check` still fails."""

import json
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import BaseCommand, SystemCheckError

from consent.scope import Scope
from encryption import keyfile
from encryption.keys import new_keyring_json
from encryption.services import forget_keys
from tests.factories import make_fact

pytestmark = pytest.mark.django_db

NEEDS_NO_KEY = (
    "worker",
    "retention",
    "memory_keys",
    "memory_replay_erasures",
    "verify_audit",
    "verify_receipt",
    "doctor",
    "support_staff",
    "create_api_key",
    "quickstart",
)


@pytest.fixture
def wrong_keyring(consented: Scope, settings: Any, tmp_path: Path) -> str:
    """A fact under the former keyring, and another keyring in its place; returns the id of the lost key."""
    make_fact(consented)
    lost = str(json.loads(settings.KEYRING_JSON)["primary"])
    settings.KEYRING_JSON, settings.KEYRING_FILE = "", tmp_path / "keyring.json"
    keyfile.write_private(settings.KEYRING_FILE, new_keyring_json())
    forget_keys()
    return lost


@pytest.mark.parametrize("name", NEEDS_NO_KEY)
def test_a_command_that_needs_no_key_asks_for_no_check_of_the_keyring(name: str) -> None:
    command: BaseCommand = import_module(f"lifecycle.management.commands.{name}").Command()
    assert list(command.requires_system_checks) == []


def test_retention_audit_and_support_go_on_under_a_wrong_keyring(wrong_keyring: str) -> None:
    with pytest.raises(SystemCheckError, match="2 wrapped keys"):
        call_command("check")
    for name, arguments in (("retention", ()), ("verify_audit", ()), ("support_staff", ("ana@acme.example",))):
        call_command(name, *arguments, stdout=StringIO(), stderr=StringIO())


def test_doctor_names_what_the_keyring_lacks_and_goes_on(wrong_keyring: str) -> None:
    with pytest.raises(SystemExit):
        call_command("doctor", stdout=(out := StringIO()))
    said = f"keyring: Key-encryption key {wrong_keyring} is not in the keyring, and 2 wrapped keys need it."
    assert said in out.getvalue()
    assert "backlog: ok" in out.getvalue()
