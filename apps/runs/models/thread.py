"""Threads: a conversation or a line of work within a project."""

from __future__ import annotations

import uuid

from django.db import models


class Thread(models.Model):
    """What a project's runs belong to."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(
        "registry.Project", on_delete=models.PROTECT, related_name="threads"
    )
    title = models.CharField(max_length=200)
    created_by = models.ForeignKey("registry.User", on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    archived_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ("-updated_at", "id")
        indexes = (models.Index(fields=["project", "-updated_at"], name="thread_by_project"),)

    def __str__(self) -> str:
        return self.title
