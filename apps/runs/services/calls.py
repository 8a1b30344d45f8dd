"""One tool call as a run of its own: what “try it”, the API and the command line use."""

from __future__ import annotations

import uuid
from typing import Any

from django.db import transaction

from apps.registry.models import Project, User
from apps.registry.permissions import require
from apps.registry.roles import Permission
from apps.runs.models import Run, Thread
from apps.runs.services.runs import create_run, create_thread
from apps.tools.selectors import installed_tool
from omni.contracts.errors import NotFound
from omni.contracts.foreign import ForeignSchema

TITLE = "Tool calls"


@transaction.atomic
def call_tool(
    *,
    actor: User,
    project: Project,
    tool: str,
    arguments: dict[str, Any],
    version: str | None = None,
    mode: str = "normal",
    thread_id: uuid.UUID | None = None,
    run_id: uuid.UUID | None = None,
) -> Run:
    """Start it; the policy decides as in every run. Wrong arguments are told at once."""
    require(actor, Permission.OPERATE, project)
    found = installed_tool(project.pk, tool, version)
    ForeignSchema(found.declared["input_schema"]).validate(arguments, what="The input")
    step: dict[str, Any] = {"tool": tool, "arguments": arguments}
    if version is not None:
        step["version"] = found.version
    return create_run(
        actor=actor,
        thread=_thread(actor, project, thread_id),
        run_kind="plan",
        input={"steps": [step]},
        mode=mode,
        run_id=run_id,
    )


def _thread(actor: User, project: Project, thread_id: uuid.UUID | None) -> Thread:
    """The named one, or the person's own thread for single calls, whose workspace they share."""
    if thread_id is not None:
        named = Thread.objects.filter(pk=thread_id, project=project).first()
        if named is None:
            raise NotFound("There is no such thread in this project.")
        return named
    mine = Thread.objects.filter(
        project=project, created_by=actor, title=TITLE, archived_at=None
    ).first()
    return mine or create_thread(actor=actor, project=project, title=TITLE)
