import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("registry", "0003_project_keeps_an_owner"),
    ]

    operations = [
        migrations.AddField(
            model_name="apitoken",
            name="parent",
            field=models.ForeignKey(
                blank=True,
                editable=False,
                help_text="The token that made this one; they end together.",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="children",
                to="registry.apitoken",
            ),
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
                    ("secret_keys_rotated", "Encryption keys rotated"),
                    ("audit_exported", "Audit log exported"),
                    ("permission_denied", "Permission denied"),
                    ("admin_changed", "Changed in the admin console"),
                ],
                max_length=32,
            ),
        ),
    ]
