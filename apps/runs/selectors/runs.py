"""Runs of the projects that a person may see."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from apps.registry.models import User
from apps.registry.permissions import projects_with
from apps.registry.roles import Permission
from apps.runs.eventlog.project import load_state
from apps.runs.models import Approval, Run
from apps.runs.selectors.approvals import visible_approvals
from omni.contracts.errors import NotFound
from omni.engine.state import RunState


@dataclass(frozen=True, slots=True)
class RunDetail:
    """A run with what its events add up to, and its nearest relatives."""

    run: Run
    state: RunState
    approvals: list[Approval]
    children: list[Run]


def visible_runs(
    user: User,
    *,
    project: str = "",
    thread: uuid.UUID | None = None,
    status: str = "",
    run_kind: str = "",
    since: datetime | None = None,
) -> QuerySet[Run]:
    """Every filter narrows; a project is named by its slug."""
    found = Run.objects.filter(project__in=projects_with(user, Permission.VIEW))
    wanted = {
        "project__slug": project,
        "thread": thread,
        "status": status,
        "run_kind": run_kind,
        "created_at__gte": since,
    }
    found = found.filter(**{field: value for field, value in wanted.items() if value})
    return found.select_related("project", "thread", "created_by")


def visible_run(user: User, run_id: uuid.UUID) -> Run:
    """The run, or NotFound: also for runs of projects that are not theirs."""
    run = visible_runs(user).filter(pk=run_id).first()
    if run is None:
        raise NotFound("There is no such run.")
    return run


def run_detail(user: User, run_id: uuid.UUID) -> RunDetail:
    run = visible_run(user, run_id)
    pending = visible_approvals(user).filter(run=run, state=Approval.State.PENDING)
    children = run.children.order_by("created_at", "pk")
    return RunDetail(run, load_state(run.pk), list(pending), list(children))
