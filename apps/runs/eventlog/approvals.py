"""Approval rows follow from events, in the transaction that appends them."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import transaction

from apps.runs.eventlog.envelope import Event
from apps.runs.models.approval import Approval
from apps.runs.models.run import Run

NAMES = frozenset({"approval_requested", "approval_answered", "approval_expired"})


def apply_to_approvals(events: list[Event]) -> None:
    """Bring the rows in line with events; the same events give the same rows."""
    for event in events:
        if event.payload is None:
            continue
        if event.name == "approval_requested":
            _requested(event, event.payload)
        elif event.name in ("approval_answered", "approval_expired"):
            _settled(event, event.payload)


@transaction.atomic
def rebuild_approvals(run_id: uuid.UUID, events: Iterable[Event]) -> bool:
    """Throw the rows of a run away and derive them anew; answers whether they had been right."""
    run = Run.objects.select_for_update().get(pk=run_id)
    rows = Approval.objects.filter(run=run).order_by("pk")
    before = list(rows.values())
    rows.delete()
    apply_to_approvals([event for event in events if event.name in NAMES])
    if run.settled:
        withdraw(run)
    return before == list(rows.values())


def withdraw(run: Run) -> None:
    """A run that has ended needs no answer any more."""
    Approval.objects.filter(run=run, state=Approval.State.PENDING).update(
        state=Approval.State.WITHDRAWN, settled_at=run.ended_at
    )


def _requested(event: Event, payload: dict[str, Any]) -> None:
    run = Run.objects.get(pk=event.run_id)
    expires = payload.get("expires_at")
    Approval.objects.get_or_create(
        pk=uuid.UUID(payload["approval_id"]),
        defaults={
            "run": run,
            "project_id": run.project_id,
            "title": payload["title"],
            "detail": payload.get("detail", {}),
            "options": payload["options"],
            "requested_seq": event.seq,
            "requested_at": event.at,
            "expires_at": datetime.fromisoformat(expires) if expires else None,
        },
    )


def _settled(event: Event, payload: dict[str, Any]) -> None:
    answered = event.name == "approval_answered"
    Approval.objects.filter(pk=payload["approval_id"], state=Approval.State.PENDING).update(
        state=Approval.State.ANSWERED if answered else Approval.State.EXPIRED,
        answer=payload["answer"] if answered else "expired",
        reason=payload.get("reason", ""),
        answered_by=event.actor,
        settled_at=event.at,
    )
