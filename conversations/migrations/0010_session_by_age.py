"""Adds the index by which the night finds an organization's oldest conversations, built beside live writes (T04)."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # an index that is built concurrently
    dependencies = [("conversations", "0002_connectors")]
    operations = [
        AddIndexConcurrently(
            model_name="session",
            index=models.Index(fields=["organization", "last_activity_at"], name="session_by_age"),
        ),
    ]
