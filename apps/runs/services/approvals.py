"""Approvals: asked by a run, answered once by a person, or expired."""

from __future__ import annotations

import uuid
from typing import Any

import structlog
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from apps.registry.models import User
from apps.registry.permissions import require
from apps.registry.roles import Permission
from apps.runs import eventlog, wakeup
from apps.runs.eventlog import RunEnded, system
from apps.runs.models import Approval, Run
from apps.runs.services.budgets import raise_bound
from apps.runs.services.runs import actor_of, cancel_run
from apps.tools.selectors import installed_tool
from apps.tools.services.policies import add_project_rule
from omni.contracts.errors import Conflict, InvalidInput
from omni.contracts.foreign import ForeignSchema

log = structlog.get_logger(__name__)
EXPIRIES = ("deny", "fail", "cancel")
SCOPES = {"approve": "once", "approve_run": "run", "approve_project": "project"}


@transaction.atomic
def answer_approval(
    *,
    actor: User,
    approval: Approval,
    answer: str,
    reason: str = "",
    arguments: dict[str, Any] | None = None,
    as_operator: bool = False,
) -> tuple[Approval, bool]:
    """The first valid answer wins; a later one is told so. The second value: was this the one?

    With `arguments` the call is made with these instead, once, where its tool allows that.
    """
    require(actor, Permission.APPROVE, approval.run.project, as_operator=as_operator)
    approval = _locked(approval.pk)
    if approval.state != Approval.State.PENDING:
        same = approval.answered_by == actor_of(actor) and approval.answer == answer
        if approval.state == Approval.State.ANSWERED and same and arguments is None:
            return approval, False
        raise Conflict(
            f"This approval is {approval.get_state_display().lower()} already.",
            data={"state": approval.state, "answer": approval.answer},
        )
    if approval.expires_at is not None and approval.expires_at < timezone.now():
        raise Conflict("This approval has expired.", data={"state": "expired"})
    if answer not in approval.options:
        raise InvalidInput.field("answer", f"Answer with one of {', '.join(approval.options)}.")
    payload: dict[str, Any] = {"approval_id": str(approval.pk), "answer": answer}
    if reason:
        payload["reason"] = reason
    if "grant" in approval.detail and answer in SCOPES:
        payload["scope"] = SCOPES[answer]
    edited = arguments is not None and arguments != approval.detail.get("arguments")
    if edited and arguments is not None and answer != "reject":
        payload["arguments"] = _edited(approval, answer, arguments)
    key = f"approval-end-{approval.pk}"
    eventlog.append(
        approval.run_id, [system("approval_answered", payload, key=key)], actor=actor_of(actor)
    )
    if payload.get("scope") == "project":
        _allow_for_project(actor, approval, as_operator=as_operator)
    if "budget" in approval.detail and answer == "raise":
        raise_bound(project_id=approval.project_id, **approval.detail["budget"])
    wakeup.advance_soon(approval.run_id)
    approval.refresh_from_db()
    return approval, True


def _edited(approval: Approval, answer: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Checked now, while the person who wrote them is still there to correct them."""
    asks_about_a_call = "call_hash" in approval.detail and approval.detail.get("editable")
    if not asks_about_a_call or answer != "approve":
        raise InvalidInput.field(
            "arguments", "The arguments can only be changed together with a single approval."
        )
    detail = approval.detail
    tool = installed_tool(approval.project_id, detail["tool"], detail["version"])
    ForeignSchema(tool.declared["input_schema"]).validate(arguments, what="The input")
    return arguments


def _allow_for_project(actor: User, approval: Approval, *, as_operator: bool) -> None:
    """The answer becomes a rule of the project, which says where it comes from."""
    add_project_rule(
        actor=actor,
        project=approval.run.project,
        rule={
            "id": f"answer-{approval.pk}",
            "effect": "allow",
            "match": approval.detail["grant"]["match"],
            "reason": "A person allowed it for this project.",
        },
        approval_id=approval.pk,
        run_id=approval.run_id,
        as_operator=as_operator,
    )


def expire_approvals() -> int:
    """Settle what nobody answered in time; the run decides what an expiry means."""
    due = Approval.objects.filter(state=Approval.State.PENDING, expires_at__lt=Now())
    return sum(_expired(pk) for pk in list(due.values_list("pk", flat=True)[:500]))


def _expired(approval_id: uuid.UUID) -> bool:
    try:
        return _expire(approval_id)
    except Exception as error:  # noqa: BLE001  (one broken question must not keep the others open)
        log.error(
            "not_expired", approval=str(approval_id), error=f"{type(error).__name__}: {error}"
        )
        return False


@transaction.atomic
def _expire(approval_id: uuid.UUID) -> bool:
    approval = _locked(approval_id)
    if approval.state != Approval.State.PENDING:
        return False
    wanted = approval.detail.get("on_expiry")
    policy = wanted if "call_hash" in approval.detail and wanted in EXPIRIES else "deny"
    payload = {"approval_id": str(approval.pk), "policy": policy}
    key = f"approval-end-{approval.pk}"
    try:
        eventlog.append(approval.run_id, [system("approval_expired", payload, key=key)])
    except RunEnded:
        return False
    if policy == "cancel":
        cancel_run(actor=None, run=approval.run, reason="nobody answered an approval in time")
    wakeup.advance_soon(approval.run_id)
    return True


def _locked(approval_id: uuid.UUID) -> Approval:
    """The run is locked first, as whoever appends does: two orders would lock each other out."""
    run_id = Approval.objects.values_list("run_id", flat=True).get(pk=approval_id)
    Run.objects.select_for_update().get(pk=run_id)
    return Approval.objects.select_for_update().get(pk=approval_id)
