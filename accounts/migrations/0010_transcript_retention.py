"""Adds how long an organization keeps conversations; nobody's are deleted until somebody says so (T04)."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0008_api_key_scope")]
    operations = [
        migrations.AddField(
            model_name="organization",
            name="transcript_days",
            field=models.PositiveSmallIntegerField(blank=True, editable=False, null=True),
        ),
        migrations.AddConstraint(
            model_name="organization",
            constraint=models.CheckConstraint(
                condition=models.Q(transcript_days__isnull=True)
                | models.Q(transcript_days__gte=1, transcript_days__lte=3650),
                name="organization_transcript_days",
            ),
        ),
    ]
