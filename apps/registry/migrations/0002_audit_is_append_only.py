"""The database itself refuses to change or remove what the audit log holds."""

from django.db import migrations

FORWARDS = """
CREATE FUNCTION registry_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% of % is refused: it is append-only', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON registry_auditentry
    FOR EACH ROW EXECUTE FUNCTION registry_refuse_change();
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON registry_auditentry
    FOR EACH STATEMENT EXECUTE FUNCTION registry_refuse_change();
"""
BACKWARDS = """
DROP TRIGGER audit_no_truncate ON registry_auditentry;
DROP TRIGGER audit_append_only ON registry_auditentry;
DROP FUNCTION registry_refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [("registry", "0001_initial")]
    operations = [migrations.RunSQL(FORWARDS, BACKWARDS)]
