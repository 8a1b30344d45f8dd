"""The processes that execute runs or keep the time, as they last reported."""

from __future__ import annotations

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models


class Worker(models.Model):
    """One process from its start to its end; it counts as gone when its reports stop."""

    class Kind(models.TextChoices):
        WORKER = "worker", "Worker"
        BEAT = "beat", "Beat"

    class State(models.TextChoices):
        """Where a process is in its life; follows from its reports and from the runs it holds."""

        STARTING = "starting", "Starting"
        IDLE = "idle", "Idle"
        BUSY = "busy", "Busy"
        RUNNING = "running", "Running"
        DRAINING = "draining", "Draining"
        STOPPED = "stopped", "Stopped"
        LOST = "lost", "Lost"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=8, choices=Kind)
    node_id = models.CharField(max_length=120)
    pid = models.PositiveIntegerField()
    queues = ArrayField(models.CharField(max_length=120), default=list, blank=True)
    concurrency = models.PositiveSmallIntegerField(default=1)
    version = models.CharField(max_length=32, blank=True)
    started_at = models.DateTimeField()
    ready_at = models.DateTimeField(null=True, blank=True)
    draining_at = models.DateTimeField(
        null=True, blank=True, help_text="When it was asked to finish what it has and stop."
    )
    seen_at = models.DateTimeField(db_index=True)
    stopped_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-seen_at", "id")

    def __str__(self) -> str:
        return f"{self.kind} {self.pid} on {self.node_id}"
