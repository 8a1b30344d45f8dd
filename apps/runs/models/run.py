"""Runs: one execution each. Everything but identity and lease follows from the run's events."""

from __future__ import annotations

import uuid

from django.db import models

from omni.engine.lifecycle import Status

GENESIS = "0" * 64


class Run(models.Model):
    """One execution with its own event log.

    `status`, `last_seq`, `tip_hash`, `cancel_requested` and `ended_at` are written only by the
    database function that appends events, in the statement that appends them.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey("registry.Project", on_delete=models.PROTECT, related_name="runs")
    thread = models.ForeignKey("runs.Thread", on_delete=models.PROTECT, related_name="runs")
    run_kind = models.CharField(max_length=40)
    created_by = models.ForeignKey(
        "registry.User", on_delete=models.PROTECT, null=True, related_name="+"
    )
    parent = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="children"
    )
    depth = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(db_default=models.functions.Now(), editable=False)

    status = models.CharField(
        max_length=20, choices=[(s.value, s.value) for s in Status], default=Status.QUEUED.value
    )
    last_seq = models.BigIntegerField(default=0)
    tip_hash = models.CharField(max_length=64, default=GENESIS)
    cancel_requested = models.BooleanField(default=False)
    ended_at = models.DateTimeField(null=True, blank=True)

    lease_owner = models.UUIDField(null=True, blank=True)
    lease_epoch = models.BigIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    due_at = models.DateTimeField(
        null=True, blank=True, help_text="When it next needs a worker; empty while it waits."
    )
    attempts = models.PositiveIntegerField(
        default=0, help_text="Leases in a row that ended without progress."
    )

    settled = models.BooleanField(
        default=False,
        help_text="What follows from its end is done, such as telling its parent.",
    )

    class Meta:
        ordering = ("-created_at", "id")
        permissions = (("erase_event", "Erase the payload of an event"),)
        indexes = (
            models.Index(fields=["project", "-created_at"], name="run_by_project"),
            models.Index(fields=["thread", "-created_at"], name="run_by_thread"),
            models.Index(
                fields=["due_at"],
                name="run_due",
                condition=models.Q(status__in=["queued", "running", "waiting_permission"]),
            ),
            models.Index(
                fields=["lease_owner"],
                name="run_held",
                condition=models.Q(lease_owner__isnull=False),
            ),
        )

    def __str__(self) -> str:
        return f"{self.run_kind} {str(self.pk)[:8]}"
