"""Tools, policies, and what projects have of them; what was published never changes."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# A pin is worth only as much as the content behind it stays the same.
FORWARDS = """
CREATE FUNCTION tools_keep_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF OLD.first_used_at IS NOT NULL THEN
            RAISE EXCEPTION '% % was used and stays', OLD.name, OLD.version
                USING ERRCODE = 'restrict_violation';
        END IF;
        RETURN OLD;
    END IF;
    IF (NEW.id, NEW.project_id, NEW.name, NEW.version, NEW.manifest, NEW.sha256, NEW.origin,
        NEW.created_at) IS DISTINCT FROM
       (OLD.id, OLD.project_id, OLD.name, OLD.version, OLD.manifest, OLD.sha256, OLD.origin,
        OLD.created_at)
       OR (OLD.first_used_at IS NOT NULL AND NEW.first_used_at IS DISTINCT FROM OLD.first_used_at)
    THEN
        RAISE EXCEPTION '% % is published and never changes', OLD.name, OLD.version
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER tool_version_immutable BEFORE UPDATE OR DELETE ON tools_toolversion
    FOR EACH ROW EXECUTE FUNCTION tools_keep_version();

CREATE FUNCTION tools_keep_policy() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE'
       AND NOT EXISTS (SELECT FROM tools_projectpolicy u WHERE u.policy_id = OLD.id)
    THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION '% % is published and never changes', OLD.name, OLD.version
        USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER policy_version_immutable BEFORE UPDATE OR DELETE ON tools_policyversion
    FOR EACH ROW EXECUTE FUNCTION tools_keep_policy();

CREATE FUNCTION tools_keep_rule() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.project_id, NEW.rule_id, NEW.rule, NEW.approval_id, NEW.run_id, NEW.added_by_id,
        NEW.added_at) IS DISTINCT FROM
       (OLD.project_id, OLD.rule_id, OLD.rule, OLD.approval_id, OLD.run_id, OLD.added_by_id,
        OLD.added_at)
       OR (OLD.withdrawn_at IS NOT NULL AND NEW.withdrawn_at IS DISTINCT FROM OLD.withdrawn_at)
    THEN
        RAISE EXCEPTION 'the rule % can only be withdrawn', OLD.rule_id
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER project_rule_immutable BEFORE UPDATE ON tools_projectrule
    FOR EACH ROW EXECUTE FUNCTION tools_keep_rule();
"""
BACKWARDS = """
DROP TRIGGER project_rule_immutable ON tools_projectrule;
DROP FUNCTION tools_keep_rule();
DROP TRIGGER policy_version_immutable ON tools_policyversion;
DROP FUNCTION tools_keep_policy();
DROP TRIGGER tool_version_immutable ON tools_toolversion;
DROP FUNCTION tools_keep_version();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("registry", "0006_tool_and_policy_permissions"),
        ("tools", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="PolicyVersion",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=64)),
                ("version", models.CharField(max_length=64)),
                ("document", models.JSONField()),
                ("sha256", models.CharField(max_length=64)),
                ("published_at", models.DateTimeField(auto_now_add=True)),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        help_text="The project it belongs to; empty for the whole platform.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="policies",
                        to="registry.project",
                    ),
                ),
                (
                    "published_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("name", "-published_at"),
            },
        ),
        migrations.CreateModel(
            name="ProjectPolicy",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(editable=False, max_length=64)),
                ("put_at", models.DateTimeField(auto_now_add=True)),
                ("withdrawn_at", models.DateTimeField(blank=True, null=True)),
                (
                    "policy",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="uses",
                        to="tools.policyversion",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="policies_in_force",
                        to="registry.project",
                    ),
                ),
                (
                    "put_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "withdrawn_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "policy in force",
                "verbose_name_plural": "policies in force",
                "ordering": ("name", "-put_at"),
            },
        ),
        migrations.CreateModel(
            name="ProjectRule",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("rule_id", models.CharField(max_length=64)),
                ("rule", models.JSONField()),
                ("approval_id", models.UUIDField(blank=True, db_index=True, null=True)),
                ("run_id", models.UUIDField(blank=True, null=True)),
                ("added_at", models.DateTimeField(auto_now_add=True)),
                ("withdrawn_at", models.DateTimeField(blank=True, null=True)),
                (
                    "added_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rules",
                        to="registry.project",
                    ),
                ),
                (
                    "withdrawn_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("-added_at",),
            },
        ),
        migrations.CreateModel(
            name="ToolVersion",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=128)),
                ("version", models.CharField(max_length=64)),
                ("manifest", models.JSONField()),
                ("sha256", models.CharField(db_index=True, max_length=64)),
                (
                    "origin",
                    models.CharField(
                        choices=[
                            ("builtin", "Comes with the platform"),
                            ("registered", "Registered by a person"),
                            ("package", "From a package"),
                            ("mcp", "From an MCP server"),
                            ("openapi", "From an OpenAPI document"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "deprecated",
                    models.CharField(
                        blank=True,
                        help_text="Why not to use it any more, and what instead.",
                        max_length=2000,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("first_used_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        help_text="The only project that sees it; empty for all.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="own_tools",
                        to="registry.project",
                    ),
                ),
            ],
            options={
                "ordering": ("name", "-created_at"),
            },
        ),
        migrations.CreateModel(
            name="ToolInstallation",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(editable=False, max_length=128)),
                (
                    "is_pinned",
                    models.BooleanField(
                        default=False, help_text="The version that the name alone stands for."
                    ),
                ),
                ("enabled", models.BooleanField(default=True)),
                ("installed_at", models.DateTimeField(auto_now_add=True)),
                (
                    "installed_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="installations",
                        to="registry.project",
                    ),
                ),
                (
                    "tool",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="installations",
                        to="tools.toolversion",
                    ),
                ),
            ],
            options={
                "ordering": ("name", "-is_pinned", "-installed_at"),
            },
        ),
        migrations.AddConstraint(
            model_name="policyversion",
            constraint=models.UniqueConstraint(
                models.F("project"),
                models.F("name"),
                models.F("version"),
                name="policy_version_unique",
                nulls_distinct=False,
            ),
        ),
        migrations.AddConstraint(
            model_name="projectpolicy",
            constraint=models.UniqueConstraint(
                condition=models.Q(("withdrawn_at__isnull", True)),
                fields=("project", "name"),
                name="policy_in_force_once",
                nulls_distinct=False,
            ),
        ),
        migrations.AddConstraint(
            model_name="projectrule",
            constraint=models.UniqueConstraint(
                models.F("project"), models.F("rule_id"), name="project_rule_unique"
            ),
        ),
        migrations.AddConstraint(
            model_name="toolversion",
            constraint=models.UniqueConstraint(
                models.F("project"),
                models.F("name"),
                models.F("version"),
                name="tool_version_unique",
                nulls_distinct=False,
            ),
        ),
        migrations.AddConstraint(
            model_name="toolinstallation",
            constraint=models.UniqueConstraint(
                models.F("project"), models.F("tool"), name="installation_unique"
            ),
        ),
        migrations.AddConstraint(
            model_name="toolinstallation",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_pinned", True)),
                fields=("project", "name"),
                name="installation_one_pin",
            ),
        ),
        migrations.RunSQL(FORWARDS, BACKWARDS),
    ]
