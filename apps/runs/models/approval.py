"""Approvals: a person's answer to an “ask”. Rows follow from events and can be rebuilt."""

from __future__ import annotations

from django.db import models


class Approval(models.Model):
    """One question of a run to people; the inbox is a query over these rows."""

    class State(models.TextChoices):
        PENDING = "pending", "Pending"
        ANSWERED = "answered", "Answered"
        EXPIRED = "expired", "Expired"
        WITHDRAWN = "withdrawn", "Withdrawn"

    id = models.UUIDField(primary_key=True, editable=False)
    run = models.ForeignKey("runs.Run", on_delete=models.PROTECT, related_name="approvals")
    project = models.ForeignKey("registry.Project", on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=12, choices=State, default=State.PENDING)
    title = models.CharField(max_length=200)
    detail = models.JSONField(default=dict, blank=True)
    options = models.JSONField(default=list)
    answer = models.CharField(max_length=40, blank=True)
    reason = models.CharField(max_length=1000, blank=True)
    answered_by = models.CharField(max_length=80, blank=True)
    requested_seq = models.BigIntegerField()
    requested_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    settled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-requested_at", "id")
        indexes = (
            models.Index(fields=["project", "state", "-requested_at"], name="approval_inbox"),
            models.Index(
                fields=["expires_at"],
                name="approval_expiry",
                condition=models.Q(state="pending"),
            ),
        )

    def __str__(self) -> str:
        return self.title
