"""Permissions to keep tools and policies of a project, and what the audit log says of them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("registry", "0005_audit_of_erasure"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="project",
            options={
                "default_permissions": ("add", "change", "delete", "view"),
                "ordering": ("name", "id"),
                "permissions": [
                    ("manage_members", "Add and remove members, change their roles"),
                    ("manage_secrets", "Set, replace and delete secrets"),
                    ("manage_tools", "Install, pin and remove tools"),
                    ("manage_policies", "Decide what is allowed, asked and denied"),
                    ("view_audit", "Read the project's audit log"),
                    ("operate_project", "Start, stop and schedule work"),
                    ("answer_approvals", "Answer approvals"),
                    ("publish_packages", "Publish packages"),
                    ("review_packages", "Review packages"),
                ],
            },
        ),
        migrations.AlterField(
            model_name="auditentry",
            name="action",
            field=models.CharField(
                choices=[
                    ("signed_in", "Signed in"),
                    ("signed_out", "Signed out"),
                    ("sign_in_failed", "Sign-in failed"),
                    ("sign_in_locked", "Sign-in locked"),
                    ("password_changed", "Password changed"),
                    ("sessions_ended", "Other sessions signed out"),
                    ("password_link_made", "Link to set a password made"),
                    ("user_created", "Person added"),
                    ("user_changed", "Person changed"),
                    ("project_created", "Project created"),
                    ("project_changed", "Project changed"),
                    ("project_archived", "Project archived"),
                    ("project_restored", "Project restored"),
                    ("roles_changed", "Roles changed"),
                    ("member_removed", "Member removed"),
                    ("token_created", "API token created"),
                    ("token_revoked", "API token revoked"),
                    ("secret_set", "Secret set"),
                    ("secret_deleted", "Secret deleted"),
                    ("tool_registered", "Tool registered"),
                    ("tool_deprecated", "Tool deprecated"),
                    ("tool_installed", "Tool installed"),
                    ("tool_pinned", "Tool pinned to a version"),
                    ("tool_uninstalled", "Tool uninstalled"),
                    ("policy_published", "Policy published"),
                    ("policy_put_in_force", "Policy put in force"),
                    ("policy_withdrawn", "Policy withdrawn"),
                    ("rule_added", "Rule added"),
                    ("rule_withdrawn", "Rule withdrawn"),
                    ("event_erased", "Payload of an event erased"),
                    ("secret_keys_rotated", "Encryption keys rotated"),
                    ("audit_exported", "Audit log exported"),
                    ("permission_denied", "Permission denied"),
                    ("admin_changed", "Changed in the admin console"),
                ],
                max_length=32,
            ),
        ),
    ]
