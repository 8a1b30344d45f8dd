"""Erasing a payload from a run's log for good: an owner's decision, recorded twice."""

from __future__ import annotations

from django.db import transaction

from apps.registry.models import AuditAction, Membership, User
from apps.registry.permissions import require
from apps.registry.roles import Permission, Role
from apps.registry.services import audit
from apps.runs import eventlog
from apps.runs.eventlog import Event
from apps.runs.models import ArtifactUse, Run
from apps.runs.services.runs import actor_of
from omni.contracts.errors import PermissionDenied


@transaction.atomic
def erase_event(*, actor: User, run: Run, seq: int, reason: str) -> Event:
    """Remove one payload and what was derived from it; the log keeps its hash and says so."""
    _require_owner(actor, run)
    event = eventlog.event_at(run.pk, seq)
    tombstone = eventlog.erase_payload(run.pk, seq, reason=reason, actor=actor_of(actor))
    if event is not None and event.kind == "artifact_ref":
        _forget_artifact(run, (event.payload or {})["sha256"])
    audit.record(
        AuditAction.EVENT_ERASED,
        actor=actor,
        project=run.project,
        target=run,
        data={"seq": seq, "reason": reason},
    )
    return tombstone


def _require_owner(actor: User, run: Run) -> None:
    require(actor, Permission.VIEW, run.project)
    owns = Membership.objects.filter(project=run.project, user=actor, role=Role.OWNER)
    if not owns.exists():
        raise PermissionDenied(
            f"Only an owner of {run.project.name} erases from its log.",
            remedy="Ask an owner of the project.",
            data={"permission": "erase_event", "project": str(run.project.pk)},
        )


def _forget_artifact(run: Run, sha256: str) -> None:
    """Its bytes go with the next collection, unless something else refers to them."""
    referred = {
        (each.payload or {}).get("sha256")
        for each in eventlog.read_all(run.pk)
        if each.kind == "artifact_ref"
    }
    if sha256 not in referred:
        ArtifactUse.objects.filter(run=run, artifact=sha256).delete()
