"""The event log's one table. Only `apps.runs.eventlog` may touch it."""

from __future__ import annotations

from django.db import models


class RunEvent(models.Model):
    """One immutable entry of a run's log; a trigger refuses UPDATE, DELETE and TRUNCATE."""

    pk = models.CompositePrimaryKey("run_id", "seq")
    run = models.ForeignKey("runs.Run", on_delete=models.PROTECT, related_name="+", db_index=False)
    seq = models.BigIntegerField()
    kind = models.CharField(max_length=32)
    name = models.CharField(max_length=40, default="", blank=True)
    payload = models.JSONField(null=True, help_text="Empty once erased; its hash remains.")
    payload_hash = models.CharField(max_length=64)
    prev_hash = models.CharField(max_length=64)
    hash = models.CharField(max_length=64)
    actor = models.CharField(max_length=80)
    at = models.DateTimeField()
    schema_version = models.PositiveSmallIntegerField()
    idempotency_key = models.CharField(max_length=200, null=True)  # noqa: DJ001  (unique when set)

    class Meta:
        ordering = ("run_id", "seq")
        constraints = (
            models.UniqueConstraint(
                fields=["run", "idempotency_key"],
                name="event_key_unique",
                condition=models.Q(idempotency_key__isnull=False),
            ),
            models.CheckConstraint(condition=models.Q(seq__gte=1), name="event_seq_positive"),
        )

    def __str__(self) -> str:
        return f"{self.run_id}/{self.seq} {self.kind} {self.name}".rstrip()
