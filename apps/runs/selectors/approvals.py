"""Questions of runs that a person may see, and which of them they may answer."""

from __future__ import annotations

import uuid

from django.db.models import Case, Q, QuerySet, Value, When

from apps.registry.models import User
from apps.registry.permissions import projects_with
from apps.registry.roles import Permission
from apps.runs.models import Approval
from omni.contracts.errors import NotFound


def visible_approvals(user: User, *, state: str = "", project: str = "") -> QuerySet[Approval]:
    """Approvals with `answerable`: pending, and within what the person's roles allow."""
    found = Approval.objects.filter(project__in=projects_with(user, Permission.VIEW))
    if state:
        found = found.filter(state=state)
    if project:
        found = found.filter(project__slug=project)
    theirs = Q(state=Approval.State.PENDING, project__in=projects_with(user, Permission.APPROVE))
    answerable = Case(When(theirs, then=Value(True)), default=Value(False))
    return found.select_related("project", "run").annotate(answerable=answerable)


def visible_approval(user: User, approval_id: uuid.UUID) -> Approval:
    """The approval, or NotFound: also for those of projects that are not theirs."""
    approval = visible_approvals(user).filter(pk=approval_id).first()
    if approval is None:
        raise NotFound("There is no such approval.")
    return approval
