"""Artifacts: bytes named by their own hash, stored once, referred to by events."""

from __future__ import annotations

from django.db import models


class Artifact(models.Model):
    """What is stored under one SHA-256; who may read it follows from its uses."""

    sha256 = models.CharField(primary_key=True, max_length=64)
    size = models.BigIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-created_at", "sha256")

    def __str__(self) -> str:
        return self.sha256[:12]


class ArtifactUse(models.Model):
    """That a run refers to an artifact, under which name and media type."""

    id = models.BigAutoField(primary_key=True)
    artifact = models.ForeignKey(Artifact, on_delete=models.PROTECT, related_name="uses")
    run = models.ForeignKey("runs.Run", on_delete=models.PROTECT, related_name="artifact_uses")
    media_type = models.CharField(max_length=120, default="application/octet-stream")
    name = models.CharField(max_length=255, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-id",)
        constraints = (
            models.UniqueConstraint(
                fields=["artifact", "run", "name", "media_type"], name="artifact_use_unique"
            ),
        )

    def __str__(self) -> str:
        return self.name or str(self.artifact)
