"""Answers already given to a request that carried an Idempotency-Key."""

from __future__ import annotations

from django.db import models


class IdempotencyRecord(models.Model):
    """The sealed answer to one key of one person; a repeat gets it again."""

    id = models.BigAutoField(primary_key=True)
    user = models.ForeignKey("registry.User", on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    request_hash = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    body = models.BinaryField(default=b"", help_text="Encrypted: an answer may carry a new token.")
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        ordering = ("-id",)
        constraints = (models.UniqueConstraint("user", "key", name="idempotency_unique"),)

    def __str__(self) -> str:
        return self.key
