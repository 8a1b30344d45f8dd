"""Deliberate erasure: the log first says what goes and why, then the payload goes."""

from __future__ import annotations

import uuid

from django.db import transaction

from apps.runs.eventlog.append import append, system
from apps.runs.eventlog.envelope import Event
from apps.runs.eventlog.read import event_at
from apps.runs.models.approval import Approval
from apps.runs.models.event import RunEvent
from apps.runs.models.projection import Projection
from apps.runs.models.run import Run
from omni.contracts.errors import Conflict, NotFound

# A run that is under way may lose what people said to it, but not what it did.
UNUSED_BY_DECISIONS = ("user_message",)


@transaction.atomic
def erase_payload(run_id: uuid.UUID, seq: int, *, reason: str, actor: str) -> Event:
    """Remove one payload for good; its hash stays, so the chain still verifies."""
    event = event_at(run_id, seq)
    if event is None:
        raise NotFound("There is no such event.")
    if event.name == "payload_erased":
        raise Conflict("The record of an erasure cannot be erased.")
    if event.payload is None:
        raise Conflict("This payload is erased already.")
    run = Run.objects.select_for_update().get(pk=run_id)
    if run.ended_at is None and event.kind not in UNUSED_BY_DECISIONS:
        raise Conflict(
            "The run still decides by this event.", remedy="Cancel the run, or wait for its end."
        )
    payload = {"seq": seq, "reason": reason, "erased_by": actor}
    key = f"erase-{seq}"
    tombstone = append(run_id, [system("payload_erased", payload, key=key)], actor=actor)[0]
    RunEvent.objects.filter(run_id=run_id, seq=seq).update(payload=None)
    _forget_copies(event)
    return tombstone


def _forget_copies(event: Event) -> None:
    """Kept state and approval rows repeat payloads; what is erased leaves them as well."""
    Projection.objects.filter(pk=event.run_id).delete()
    question = str((event.payload or {}).get("approval_id", ""))
    if event.name == "approval_requested":
        Approval.objects.filter(pk=question).update(title="(erased)", detail={})
    elif event.name == "approval_answered":
        Approval.objects.filter(pk=question).update(reason="")
