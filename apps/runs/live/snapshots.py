"""Where things stand: what a project's and an approvals stream begin with, and fall back to."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any

from django.db.models import Count

from apps.runs.eventlog.envelope import stamp
from apps.runs.live.entries import Entry
from apps.runs.models import Approval, Run
from omni.engine.lifecycle import TERMINAL, Status

RUNS, APPROVALS = 50, 100
ACTIVE = [status.value for status in Status if status not in TERMINAL]
APPROVAL_STATES = {
    "approval_requested": Approval.State.PENDING,
    "approval_answered": Approval.State.ANSWERED,
    "approval_expired": Approval.State.EXPIRED,
}


def project_snapshot(project_ids: frozenset[uuid.UUID]) -> dict[str, Any]:
    """The newest runs, and how many are at work."""
    runs = Run.objects.filter(project_id__in=project_ids)
    counted = runs.filter(status__in=ACTIVE).order_by().values_list("status").annotate(Count("pk"))
    newest = runs.order_by("-created_at", "id")[:RUNS]
    return {
        "active": dict.fromkeys(ACTIVE, 0) | dict(counted),
        "runs": [
            {
                "run_id": str(run.pk),
                "thread_id": str(run.thread_id),
                "run_kind": run.run_kind,
                "status": run.status,
                "created_at": stamp(run.created_at),
            }
            for run in newest.only("thread_id", "run_kind", "status", "created_at")
        ],
    }


def approval_snapshot(project_ids: frozenset[uuid.UUID]) -> dict[str, Any]:
    """The questions that wait, newest first, and how many there are."""
    pending = Approval.objects.filter(project_id__in=project_ids, state=Approval.State.PENDING)
    newest = pending.select_related("project").order_by("-requested_at", "id")[:APPROVALS]
    return {"pending": pending.count(), "approvals": [_approval(each) for each in newest]}


def _approval(approval: Approval) -> dict[str, Any]:
    return {
        "approval_id": str(approval.pk),
        "run_id": str(approval.run_id),
        "project": approval.project.slug,
        "title": approval.title,
        "options": approval.options,
        "requested_at": stamp(approval.requested_at),
        "expires_at": stamp(approval.expires_at) if approval.expires_at else None,
    }


# The newest status known of a run, and the event up to which that is known.
Known = tuple[str, int]


def run_hints(entries: Iterable[Entry], known: dict[uuid.UUID, Known]) -> list[dict[str, Any]]:
    """Events in compact form; of deltas that came together, one stands for all."""
    hints: list[dict[str, Any]] = []
    for entry in entries:
        status, upto = known.get(entry.run_id, (Status.QUEUED.value, 0))
        if entry.seq > upto:
            status = entry.new_status or status
            known[entry.run_id] = (status, entry.seq)
        hint = {
            "run_id": str(entry.run_id),
            "seq": entry.seq,
            "kind": entry.kind,
            "name": entry.name or None,
            "status": status,
        }
        if hints and _is_more_of(hints[-1], hint):
            hints.pop()
        hints.append(hint)
    return hints


def _is_more_of(last: dict[str, Any], hint: dict[str, Any]) -> bool:
    is_delta = last["kind"] == hint["kind"] == "assistant_message_delta"
    return is_delta and bool(last["run_id"] == hint["run_id"])


def approval_hints(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """What became of which approval; who wants more asks for it."""
    return [
        {
            "approval_id": entry.payload.get("approval_id"),
            "run_id": str(entry.run_id),
            "seq": entry.seq,
            "state": APPROVAL_STATES[entry.name].value,
        }
        for entry in entries
        if entry.name in APPROVAL_STATES
    ]


def statuses_of(run_ids: set[uuid.UUID]) -> dict[uuid.UUID, Known]:
    rows = Run.objects.filter(pk__in=run_ids).values_list("pk", "status", "last_seq")
    return {pk: (status, last_seq) for pk, status, last_seq in rows}
