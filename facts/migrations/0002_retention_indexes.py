"""Indexes by which retention finds superseded rows, built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("facts", "0001_initial")]
    operations = [
        AddIndexConcurrently(
            "fact",
            models.Index(
                condition=models.Q(("status", "superseded")), fields=["superseded_at"], name="fact_superseded"
            ),
        ),
        AddIndexConcurrently(
            "fact",
            models.Index(
                condition=models.Q(("status", "superseded")), fields=["expires_at"], name="fact_superseded_expiring"
            ),
        ),
    ]
