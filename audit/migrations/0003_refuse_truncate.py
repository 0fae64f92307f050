"""Makes the audit table refuse TRUNCATE too; a short lock, no rewrite."""

from django.db import migrations

FORWARD = """
CREATE TRIGGER audit_event_no_truncate BEFORE TRUNCATE ON audit_auditevent
    FOR EACH STATEMENT EXECUTE FUNCTION audit_event_refuse();
"""
BACK = "DROP TRIGGER audit_event_no_truncate ON audit_auditevent;"


class Migration(migrations.Migration):
    dependencies = [("audit", "0002_append_only")]
    operations = [migrations.RunSQL(FORWARD, BACK)]
