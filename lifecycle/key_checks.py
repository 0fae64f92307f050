"""The invariants of data keys and what wraps them, as sentences of what is wrong; shows no key, repairs nothing."""

from django.db.models import Count, Exists, OuterRef, Q

from encryption.keys import KeyringError
from encryption.models import OrganizationKey, Secret
from encryption.rotation import usable_keys, verify_keys
from facts.models import Fact


def data_keys() -> list[str]:
    """Each record's data key is there and not destroyed; an organization has one active key of each purpose."""
    key = usable_keys().filter(organization=OuterRef("organization"), purpose="dek", version=OuterRef("dek_version"))
    lost = Fact.objects.filter(~Exists(key)).order_by().values("organization", "dek_version")
    active = Count("pk", filter=Q(state="active"))
    purposes = usable_keys().order_by().values("organization", "purpose").annotate(active=active).exclude(active=1)
    destroyed = OrganizationKey.objects.filter(state="destroyed").exclude(wrapped=b"")
    return [
        *[
            f"organization {row['organization']}: {row['count']} records under data key {row['dek_version']}, "
            "which is not there"
            for row in lost.annotate(count=Count("pk"))
        ],
        *[
            f"organization {row['organization']}: {row['active']} active keys for purpose {row['purpose']}"
            for row in purposes
        ],
        *[f"organization {row.organization_id}: destroyed key {row.pk} still has its bytes" for row in destroyed],
    ]


def wrapped_keys() -> list[str]:
    """Every key and every secret opens under the keyring or key service that the deployment has."""
    try:
        failed = verify_keys().failed
    except KeyringError as error:
        count = usable_keys().count() + Secret.objects.count()
        return [f"{count} wrapped keys and no keyring that opens them ({error.code})"] if count else []
    return [f"{count} wrapped keys do not open ({code})" for code, count in sorted(failed.items())]
