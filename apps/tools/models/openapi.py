"""OpenAPI documents that a project has accepted."""

from __future__ import annotations

import uuid

from django.core.validators import RegexValidator
from django.db import models

SHA256 = RegexValidator(r"^[0-9a-f]{64}\Z", "A hash has 64 lower-case hexadecimal digits.")


class OpenApiDocument(models.Model):
    """A document by the hash of its text, which its tools are pinned to; it never changes."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(
        "registry.Project", on_delete=models.CASCADE, related_name="openapi_documents"
    )
    sha256 = models.CharField(max_length=64, validators=[SHA256], editable=False)
    title = models.CharField(max_length=200)
    api_version = models.CharField(max_length=60, blank=True)
    base_url = models.CharField(max_length=2000)
    source_url = models.CharField(max_length=2000, blank=True)
    text = models.TextField(editable=False)
    tool_count = models.PositiveIntegerField(default=0, editable=False)
    skipped_count = models.PositiveIntegerField(default=0, editable=False)
    added_by = models.ForeignKey("registry.User", on_delete=models.PROTECT, related_name="+")
    added_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "OpenAPI document"
        ordering = ("title", "id")
        constraints = (
            models.UniqueConstraint("project", "sha256", name="openapi_document_unique"),
        )

    def __str__(self) -> str:
        return f"{self.title} {self.api_version}".strip()
