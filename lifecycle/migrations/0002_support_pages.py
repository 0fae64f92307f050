"""Adds the count of conversations that a night deleted, and names for support's pages; changes no other table."""

from django.db import migrations, models


def page(name: str, base: str, one: str, many: str) -> migrations.CreateModel:
    options = {"proxy": True, "default_permissions": (), "verbose_name": one, "verbose_name_plural": many}
    return migrations.CreateModel(
        name=name, fields=[], options={**options, "indexes": [], "constraints": []}, bases=(base,)
    )


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0005_index_by_actor"),
        ("extraction", "0010_run_newest"),
        ("jobs", "0001_initial"),
        ("lifecycle", "0001_subject_deletion"),
    ]
    operations = [
        page("QueueHealth", "jobs.heartbeat", "background work", "background work"),
        page("SupportEvent", "audit.auditevent", "audit event", "audit events"),
        page("SupportRun", "extraction.run", "extraction run", "extraction runs"),
        migrations.AddField(
            model_name="retentionreport",
            name="transcripts",
            field=models.PositiveIntegerField(default=0, db_default=0),
        ),
    ]
