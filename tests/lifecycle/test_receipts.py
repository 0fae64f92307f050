"""R04: the receipt of a deletion is signed, holds no text, and says what waits."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError
from django.utils import timezone

from accounts.models import Organization, User
from consent.scope import Scope
from encryption.erasure import destroy_organization_keys
from lifecycle import receipts, services
from lifecycle.models import Deletion, PendingWipe
from lifecycle.services import delete_organization, delete_user
from tests.factories import make_fact, make_user

pytestmark = pytest.mark.django_db
NOW = timezone.now()


@pytest.fixture(autouse=True)
def ledger_file(settings: Any, tmp_path: Path) -> None:
    settings.ERASURE_LEDGER = tmp_path / "erasures.jsonl"


@pytest.fixture
def deletion(consented: Scope, owner: User) -> Deletion:
    make_fact(consented)
    return delete_user(user=owner, actor=make_user("sue@support.example"), reason="wrote from Porto", now=NOW)


def test_r04_a_receipt_says_what_went_in_counts_ids_and_times(deletion: Deletion, owner: User) -> None:
    text = receipts.receipt(deletion, now=NOW)
    found = receipts.verify(text)
    assert found["subject"] == {"kind": "user", "id": str(owner.pk)}
    assert found["removed"]["facts"] == found["removed"]["consents"] == 1
    assert (found["what"], found["waiting"], found["data_keys_destroyed"]) == ("subject", None, None)
    for secret in ("Porto", owner.email, owner.name, "home.city"):
        assert secret not in text


def test_r04_a_receipt_says_whether_keys_were_destroyed(consented: Scope, organization: Organization) -> None:
    make_fact(consented)
    deletion = delete_organization(organization=organization, actor=None, now=NOW)
    assert receipts.verify(receipts.receipt(deletion, now=NOW))["data_keys_destroyed"] == 2


def test_r04_a_receipt_says_that_a_wipe_waits(owner: User) -> None:
    deletion = Deletion.objects.create(kind="user", subject_id=owner.pk, memory_only=False, requested_at=NOW)
    PendingWipe.objects.create(deletion=deletion, attempts=2)
    found = receipts.verify(receipts.receipt(deletion, now=NOW))
    assert (found["waiting"], found["wiped_at"]) == ({"wipe": True, "attempts": 2}, None)


def test_r04_a_changed_receipt_and_one_of_another_deployment_are_refused(deletion: Deletion, settings: Any) -> None:
    text = receipts.receipt(deletion, now=NOW)
    changed = json.loads(text)
    changed["removed"]["facts"] = 2
    for wrong in (json.dumps(changed), "[]", "", '{"format": 1, "signature": "x"}', '{"signature": 1}'):
        with pytest.raises(receipts.BadReceipt):
            receipts.verify(wrong)
    secret = settings.SECRET_KEY
    settings.SECRET_KEY = "another key that signs for another deployment altogether"
    with pytest.raises(receipts.BadReceipt):
        receipts.verify(text)
    settings.SECRET_KEY_FALLBACKS = [secret]
    assert receipts.verify(text)["id"] == str(deletion.pk)


def test_r04_the_command_verifies_a_file(deletion: Deletion, owner: User, tmp_path: Path) -> None:
    file = tmp_path / "receipt.json"
    file.write_text(receipts.receipt(deletion, now=NOW))
    call_command("verify_receipt", str(file), stdout=(out := StringIO()))
    assert out.getvalue().startswith(f"Valid: user {owner.pk}, wiped at ")
    file.write_text(file.read_text().replace('"facts": 1', '"facts": 0'))
    with pytest.raises(CommandError, match="signature"):
        call_command("verify_receipt", str(file))
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("verify_receipt", str(tmp_path / "none"))


@pytest.mark.parametrize("text", ["[" * 200_000, '{"format": "memoryproject-deletion-1", "signature": "\\ud800"}'])
def test_r04_what_is_no_receipt_is_refused_however_odd(text: str) -> None:
    with pytest.raises(receipts.BadReceipt):
        receipts.verify(text)


def test_r04_a_name_that_comes_twice_is_no_receipt(deletion: Deletion) -> None:
    """One reader takes the first, another the last: who looks at the file would see what was never signed."""
    text = receipts.receipt(deletion, now=NOW)
    with pytest.raises(receipts.BadReceipt):
        receipts.verify(text.replace('"what":', '"what": "nothing", "what":'))


def test_r04_keys_that_an_earlier_try_destroyed_are_counted(
    consented: Scope, organization: Organization, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_fact(consented)

    def dies(_organization_id: object) -> int:
        raise OperationalError("planted")

    with monkeypatch.context() as patched:
        patched.setattr(services, "destroyed_keys", dies)
        patched.setattr(services, "destroy_organization_keys", lambda **given: destroy_organization_keys(**given) and 0)
        done = delete_organization(organization=organization, actor=None, now=NOW)
    assert done.keys_destroyed is None
    services.retry_wipes(now=NOW)
    done.refresh_from_db()
    assert done.keys_destroyed == 2
