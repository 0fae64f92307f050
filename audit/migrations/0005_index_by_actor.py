"""Adds the index for what a person did, built beside live writes."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # an index that is built concurrently
    dependencies = [("audit", "0004_seals")]
    operations = [
        AddIndexConcurrently(
            model_name="auditevent",
            index=models.Index(fields=["actor_id", "-id"], name="audit_by_actor"),
        ),
    ]
