"""Receipts of deletions: ids, counts and times as JSON, signed; no text that anybody wrote (R04). Reads rows only.

The signature is an HMAC-SHA256 under a key derived from the deployment's secret key: it shows to this deployment that
it made the receipt, and nothing to anybody else.
"""

import hmac
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from django.conf import settings
from django.utils.crypto import salted_hmac

from lifecycle.models import Deletion, PendingWipe

FORMAT: Final = "memoryproject-deletion-receipt-1"
_SALT: Final = "lifecycle.receipts"


class BadReceipt(Exception):
    """The text is no receipt of this deployment, or was changed; the sentence says which."""


def receipt(deletion: Deletion, *, now: datetime) -> str:
    """Return the signed receipt of a deletion as it stands at `now`."""
    pending = PendingWipe.objects.filter(deletion=deletion).first()
    body: dict[str, Any] = {
        "format": FORMAT,
        "id": str(deletion.pk),
        "subject": {"kind": deletion.kind, "id": str(deletion.subject_id)},
        "organization": str(deletion.organization_id) if deletion.organization_id else None,
        "what": "memory" if deletion.memory_only else "subject",
        "by": str(deletion.actor_id) if deletion.actor_id else None,
        "requested_at": _instant(deletion.requested_at),
        "wiped_at": _instant(deletion.wiped_at),
        "issued_at": _instant(now),
        "removed": {
            "facts": deletion.facts,
            "consents": deletion.consents,
            "api_keys_revoked": deletion.api_keys,
            "sign_ins_ended": deletion.sessions,
            "grants": deletion.grants,
        },
        "data_keys_destroyed": deletion.keys_destroyed,
        "waiting": {"wipe": True, "attempts": pending.attempts} if pending else None,
    }
    return json.dumps(body | {"signature": _signature(body, settings.SECRET_KEY)}, indent=2) + "\n"


def _instant(at: datetime | None) -> str | None:
    return at.astimezone(UTC).isoformat() if at else None


def _signature(body: Mapping[str, Any], secret: str | bytes) -> str:
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return salted_hmac(_SALT, canonical, secret=secret, algorithm="sha256").hexdigest()


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object. Raises ValueError for a name that comes twice: a reader may see the one, and we the other."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name comes twice")
    return found


def verify(text: str) -> dict[str, Any]:
    """Return what a receipt says, without its signature. Raises BadReceipt."""
    try:
        body = json.loads(text, object_pairs_hook=_once)
        signature, named = body.pop("signature"), body["format"] == FORMAT
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BadReceipt("This is no receipt of a deletion.") from None
    if not (named and isinstance(signature, str)):
        raise BadReceipt("This is no receipt of a deletion.")
    for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        if hmac.compare_digest(_signature(body, secret).encode(), signature.encode(errors="replace")):
            found: dict[str, Any] = body
            return found
    raise BadReceipt("The signature is not this deployment's for what the receipt says.")
