"""A project always has an owner, whoever writes: checked when the transaction commits."""

from django.db import migrations

FORWARDS = """
CREATE FUNCTION registry_keep_an_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM registry_project WHERE id = OLD.project_id)
       AND NOT EXISTS (
           SELECT 1 FROM registry_membership WHERE project_id = OLD.project_id AND role = 'owner')
    THEN
        RAISE EXCEPTION 'project % would have no owner', OLD.project_id
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER membership_keeps_an_owner
    AFTER UPDATE OR DELETE ON registry_membership
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (OLD.role = 'owner') EXECUTE FUNCTION registry_keep_an_owner();
"""
BACKWARDS = """
DROP TRIGGER membership_keeps_an_owner ON registry_membership;
DROP FUNCTION registry_keep_an_owner();
"""


class Migration(migrations.Migration):
    dependencies = [("registry", "0002_audit_is_append_only")]
    operations = [migrations.RunSQL(FORWARDS, BACKWARDS)]
