"""Adds the seals of the audit chains, append-only like the events."""

from django.db import migrations, models

FORWARD = """
CREATE TRIGGER audit_seal_append_only BEFORE UPDATE OR DELETE ON audit_auditseal
    FOR EACH ROW EXECUTE FUNCTION audit_event_refuse();
CREATE TRIGGER audit_seal_no_truncate BEFORE TRUNCATE ON audit_auditseal
    FOR EACH STATEMENT EXECUTE FUNCTION audit_event_refuse();
"""
BACK = """
DROP TRIGGER audit_seal_no_truncate ON audit_auditseal;
DROP TRIGGER audit_seal_append_only ON audit_auditseal;
"""


class Migration(migrations.Migration):
    dependencies = [
        ('audit', '0003_refuse_truncate'),
    ]

    operations = [
        migrations.CreateModel(
            name='AuditSeal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('organization_id', models.UUIDField(null=True)),
                ('number', models.PositiveIntegerField()),
                ('up_to_id', models.BigIntegerField(db_index=True)),
                ('count', models.PositiveIntegerField()),
                ('value', models.BinaryField(max_length=32)),
                ('leaves', models.BinaryField()),
                ('sealed_at', models.DateTimeField()),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.AddConstraint(
            model_name='auditseal',
            constraint=models.UniqueConstraint(fields=('organization_id', 'number'), name='audit_seal_once', nulls_distinct=False),
        ),
        migrations.RunSQL(FORWARD, BACK),
    ]
