import uuid

import django.core.serializers.json
import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("registry", "0006_tool_and_policy_permissions"),
        ("tools", "0002_tools_and_policies"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="McpServer",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "slug",
                    models.CharField(
                        max_length=40,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^[a-z0-9]+(?:-[a-z0-9]+)*\\Z",
                                "Use lower-case letters and digits, with hyphens between them.",
                            )
                        ],
                    ),
                ),
                ("description", models.CharField(blank=True, max_length=200)),
                (
                    "transport",
                    models.CharField(
                        choices=[
                            ("streamable_http", "Streamable HTTP"),
                            ("sse", "SSE"),
                            ("stdio", "Program in the sandbox"),
                        ],
                        max_length=16,
                    ),
                ),
                ("url", models.CharField(blank=True, max_length=2000)),
                ("headers", models.JSONField(blank=True, default=dict)),
                ("command", models.JSONField(blank=True, default=list)),
                ("environment", models.JSONField(blank=True, default=dict)),
                ("egress", models.JSONField(blank=True, default=list)),
                ("credentials", models.JSONField(blank=True, default=dict)),
                ("allowed_private", models.JSONField(blank=True, default=list)),
                ("enabled", models.BooleanField(default=True)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("unknown", "Not checked yet"),
                            ("healthy", "Healthy"),
                            ("failing", "Failing"),
                        ],
                        default="unknown",
                        max_length=16,
                    ),
                ),
                ("protocol", models.CharField(blank=True, editable=False, max_length=32)),
                ("reported_name", models.CharField(blank=True, editable=False, max_length=160)),
                ("faults", models.JSONField(blank=True, default=list, editable=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("last_checked_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "next_check_at",
                    models.DateTimeField(blank=True, db_index=True, editable=False, null=True),
                ),
                ("check_requested_at", models.DateTimeField(blank=True, editable=False, null=True)),
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
                        related_name="mcp_servers",
                        to="registry.project",
                    ),
                ),
            ],
            options={
                "verbose_name": "MCP server",
                "ordering": ("slug", "id"),
            },
        ),
        migrations.CreateModel(
            name="McpEntry",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("tool", "Tool"), ("resource", "Resource"), ("prompt", "Prompt")],
                        max_length=16,
                    ),
                ),
                ("name", models.CharField(max_length=500)),
                ("definition", models.JSONField(default=dict)),
                ("definition_sha256", models.CharField(max_length=64)),
                ("problem", models.CharField(blank=True, max_length=1000)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("new", "New"),
                            ("accepted", "Accepted"),
                            ("changed", "Changed"),
                            ("removed", "Removed"),
                            ("quarantined", "Quarantined"),
                        ],
                        default="new",
                        max_length=16,
                    ),
                ),
                ("renamed_from", models.CharField(blank=True, max_length=500)),
                ("accepted_definition", models.JSONField(blank=True, null=True)),
                ("accepted_sha256", models.CharField(blank=True, max_length=64)),
                ("accepted_at", models.DateTimeField(blank=True, null=True)),
                ("seen_at", models.DateTimeField()),
                (
                    "accepted_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "server",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="entries",
                        to="tools.mcpserver",
                    ),
                ),
            ],
            options={
                "verbose_name": "MCP entry",
                "verbose_name_plural": "MCP entries",
                "ordering": ("kind", "name"),
            },
        ),
        migrations.CreateModel(
            name="McpCheck",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("at", models.DateTimeField()),
                ("ok", models.BooleanField()),
                ("latency_ms", models.PositiveIntegerField()),
                ("category", models.CharField(blank=True, max_length=32)),
                ("message", models.CharField(blank=True, max_length=1000)),
                (
                    "server",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="checks",
                        to="tools.mcpserver",
                    ),
                ),
            ],
            options={
                "verbose_name": "MCP check",
                "ordering": ("-id",),
            },
        ),
        migrations.CreateModel(
            name="McpCatalog",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("number", models.PositiveIntegerField()),
                ("at", models.DateTimeField()),
                ("sha256", models.CharField(max_length=64)),
                (
                    "entries",
                    models.JSONField(
                        default=list, encoder=django.core.serializers.json.DjangoJSONEncoder
                    ),
                ),
                (
                    "server",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="catalogs",
                        to="tools.mcpserver",
                    ),
                ),
            ],
            options={
                "verbose_name": "MCP catalog",
                "ordering": ("-number",),
            },
        ),
        migrations.AddConstraint(
            model_name="mcpserver",
            constraint=models.UniqueConstraint(
                models.F("project"), models.F("slug"), name="mcp_server_unique"
            ),
        ),
        migrations.AddConstraint(
            model_name="mcpentry",
            constraint=models.UniqueConstraint(
                models.F("server"), models.F("kind"), models.F("name"), name="mcp_entry_unique"
            ),
        ),
        migrations.AddConstraint(
            model_name="mcpentry",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state", "accepted"), _negated=True),
                    ("accepted_sha256", models.F("definition_sha256")),
                    _connector="OR",
                ),
                name="mcp_entry_accepted_as_it_is",
            ),
        ),
        migrations.AddConstraint(
            model_name="mcpcatalog",
            constraint=models.UniqueConstraint(
                models.F("server"), models.F("number"), name="mcp_catalog_unique"
            ),
        ),
    ]
