"""Counts for the navigation and the dashboard."""

from __future__ import annotations

from datetime import datetime

from django.db.models import QuerySet

from apps.registry.models import User
from apps.registry.permissions import projects_with
from apps.registry.roles import Permission
from apps.runs.models import Approval, Run
from apps.runs.selectors.runs import visible_runs
from omni.engine.lifecycle import Status


def pending_for(user: User) -> QuerySet[Approval]:
    """The questions that wait for this person among others."""
    theirs = projects_with(user, Permission.APPROVE)
    return Approval.objects.filter(state=Approval.State.PENDING, project__in=theirs)


def failed_since(user: User, moment: datetime) -> QuerySet[Run]:
    return visible_runs(user, status=Status.FAILED.value).filter(ended_at__gte=moment)
