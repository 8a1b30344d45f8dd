"""Threads of the projects that a person may see."""

from __future__ import annotations

import uuid

from django.db.models import Count, QuerySet

from apps.registry.models import Project, User
from apps.registry.permissions import projects_with
from apps.registry.roles import Permission
from apps.runs.models import Thread
from omni.contracts.errors import NotFound


def visible_threads(
    user: User, project: Project | None = None, *, q: str = "", archived: bool | None = False
) -> QuerySet[Thread]:
    """Threads with `run_count`, of one project or of all; `archived=None` means both kinds."""
    found = Thread.objects.filter(project__in=projects_with(user, Permission.VIEW))
    if project is not None:
        found = found.filter(project=project)
    if q:
        found = found.filter(title__icontains=q)
    if archived is not None:
        found = found.filter(archived_at__isnull=not archived)
    return found.select_related("project", "created_by").annotate(run_count=Count("runs"))


def visible_thread(user: User, thread_id: uuid.UUID) -> Thread:
    """The thread, or NotFound: also for threads of projects that are not theirs."""
    thread = visible_threads(user, archived=None).filter(pk=thread_id).first()
    if thread is None:
        raise NotFound("There is no such thread.")
    return thread
