"""Secrets: encrypted at rest, referred to by name, never shown again."""

from __future__ import annotations

import uuid

from django.core.validators import RegexValidator
from django.db import models

SECRET_NAME = RegexValidator(
    r"^[A-Za-z][A-Za-z0-9_.-]{0,63}\Z",
    "Start with a letter; then letters, digits, dots, hyphens and underscores, 64 at most.",
)


class Secret(models.Model):
    """A value that executors get by its name; without a project it serves the whole platform."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(
        "registry.Project", on_delete=models.CASCADE, null=True, blank=True, related_name="secrets"
    )
    name = models.CharField(max_length=64, validators=[SECRET_NAME])
    description = models.CharField(max_length=200, blank=True)
    ciphertext = models.BinaryField(editable=False)
    key_id = models.CharField(max_length=16, editable=False, db_index=True)
    set_by = models.ForeignKey("registry.User", on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ("name",)
        constraints = (
            models.UniqueConstraint("project", "name", name="secret_unique", nulls_distinct=False),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def reference(self) -> str:
        return f"secret://{self.name}"
