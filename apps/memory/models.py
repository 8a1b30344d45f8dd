"""What projects remember: items as they were said, with where they come from."""

from __future__ import annotations

import uuid

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector
from django.db import models


class MemoryItem(models.Model):
    """One thing worth knowing later; the run and call that remembered it are named by id."""

    class Kind(models.TextChoices):
        EPISODIC = "episodic", "Episodic"
        SEMANTIC = "semantic", "Semantic"
        PROCEDURAL = "procedural", "Procedural"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(
        "registry.Project", on_delete=models.PROTECT, related_name="memories"
    )
    kind = models.CharField(max_length=12, choices=Kind, default=Kind.SEMANTIC)
    text = models.TextField()
    text_hash = models.CharField(max_length=64)
    importance = models.FloatField(default=0.5)
    source_run = models.UUIDField(null=True, blank=True)
    source_call = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-created_at", "id")
        constraints = (
            models.UniqueConstraint(fields=("project", "text_hash"), name="memory_once"),
            models.CheckConstraint(
                condition=models.Q(importance__gte=0, importance__lte=1), name="memory_importance"
            ),
        )
        indexes = (GinIndex(SearchVector("text", config="english"), name="memory_words"),)

    def __str__(self) -> str:
        return self.text[:60]
