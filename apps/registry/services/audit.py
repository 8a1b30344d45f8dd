"""The one place that writes audit entries."""

from __future__ import annotations

from typing import Any

import structlog
from django.db.models import Model

from apps.registry.models import AuditAction, AuditEntry, Project, User
from omni.contracts.errors import OmniError
from omni.telemetry.redaction import redact

log = structlog.get_logger(__name__)


def record(
    action: AuditAction,
    *,
    actor: User | None = None,
    actor_label: str = "",
    project: Project | None = None,
    target: Model | None = None,
    target_label: str = "",
    allowed: bool = True,
    data: dict[str, Any] | None = None,
) -> AuditEntry:
    """Record that `actor` did (or was refused) something, with the request it came from."""
    request = structlog.contextvars.get_contextvars()
    entry = AuditEntry.objects.create(
        action=action,
        actor=actor,
        actor_label=(actor.email if actor else actor_label)[:254],
        project=project,
        target_type=target._meta.model_name or "" if target is not None else "",
        target_id=str(target.pk) if target is not None else "",
        target_label=(target_label or (str(target) if target is not None else ""))[:254],
        allowed=allowed,
        data=redact(data or {}),
        ip_address=request.get("ip") or None,
        request_id=str(request.get("request_id", ""))[:64],
    )
    log.info("audit", action=action.value, allowed=allowed, entry=entry.pk)
    return entry


def operator_mark(as_operator: bool) -> dict[str, Any]:
    """So that a project's owners see in its log that an operator, not a member, did this."""
    return {"as_operator": True} if as_operator else {}


def record_export(*, actor: User, format: str, entries: int) -> AuditEntry:
    """That somebody took entries away, and how many."""
    data = {"format": format, "entries": entries}
    return record(AuditAction.AUDIT_EXPORTED, actor=actor, data=data)


def record_denial(error: OmniError, *, actor: User, method: str, path: str) -> AuditEntry:
    """That somebody was refused, where, and for want of what."""
    data: dict[str, Any] = {"method": method, "path": path[:300]}
    data |= {key: error.data[key] for key in ("permission", "scope") if key in error.data}
    named = error.data.get("project")
    return record(
        AuditAction.PERMISSION_DENIED,
        actor=actor,
        project=Project.objects.filter(pk=named).first() if named else None,
        allowed=False,
        data=data,
    )
