"""Adds the index by which support staff page through the newest runs, built beside live writes."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # an index that is built concurrently
    dependencies = [("extraction", "0002_excused_attempts")]
    operations = [
        AddIndexConcurrently(model_name="run", index=models.Index(fields=["-created_at"], name="run_newest")),
    ]
