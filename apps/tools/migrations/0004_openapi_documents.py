import uuid

import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("registry", "0001_initial"),
        ("tools", "0003_mcp_servers"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="OpenApiDocument",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "sha256",
                    models.CharField(
                        editable=False,
                        max_length=64,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^[0-9a-f]{64}\\Z", "A hash has 64 lower-case hexadecimal digits."
                            )
                        ],
                    ),
                ),
                ("title", models.CharField(max_length=200)),
                ("api_version", models.CharField(blank=True, max_length=60)),
                ("base_url", models.CharField(max_length=2000)),
                ("source_url", models.CharField(blank=True, max_length=2000)),
                ("text", models.TextField(editable=False)),
                ("tool_count", models.PositiveIntegerField(default=0, editable=False)),
                ("skipped_count", models.PositiveIntegerField(default=0, editable=False)),
                ("added_at", models.DateTimeField(auto_now_add=True)),
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
                        related_name="openapi_documents",
                        to="registry.project",
                    ),
                ),
            ],
            options={
                "verbose_name": "OpenAPI document",
                "ordering": ("title", "id"),
                "constraints": [
                    models.UniqueConstraint(
                        models.F("project"), models.F("sha256"), name="openapi_document_unique"
                    )
                ],
            },
        ),
    ]
