"""Makes the audit table append-only in the database itself."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION audit_event_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit events are append-only' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER audit_event_append_only BEFORE UPDATE OR DELETE ON audit_auditevent
    FOR EACH ROW EXECUTE FUNCTION audit_event_refuse();
"""
BACK = """
DROP TRIGGER audit_event_append_only ON audit_auditevent;
DROP FUNCTION audit_event_refuse();
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_initial")]
    operations = [migrations.RunSQL(FORWARD, BACK)]
