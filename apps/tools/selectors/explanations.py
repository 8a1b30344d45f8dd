"""“Why?”: what the policies in force would say to a call, without making it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from apps.registry.models import Membership, Project, User
from apps.registry.permissions import require
from apps.registry.roles import Permission
from apps.tools.models import ToolVersion
from apps.tools.policy import CallRequest, Decision
from apps.tools.selectors.policies import rulebook_of
from apps.tools.selectors.tools import installed_tool
from omni.contracts.errors import InvalidInput
from omni.contracts.foreign import ForeignSchema


@dataclass(frozen=True, slots=True)
class Explanation:
    """A decision, the call it is about, and what the tool would say to its arguments."""

    tool: ToolVersion
    request: CallRequest
    decision: Decision
    invalid: str = ""


def explain_call(
    user: User,
    project: Project,
    *,
    tool: str,
    arguments: Mapping[str, Any],
    version: str | None = None,
    **about: Any,
) -> Explanation:
    """What would be decided now if a run of this person made the call."""
    require(user, Permission.VIEW, project)
    found = installed_tool(project.pk, tool, version or None)
    roles = Membership.objects.filter(project=project, user=user).values_list("role", flat=True)
    request = CallRequest.of(
        found.declared,
        arguments,
        at=timezone.now(),
        **{"project": project.slug, "user": str(user.pk), "roles": tuple(roles), **about},
    )
    decision = rulebook_of(project.pk).explain(request)
    return Explanation(found, request, decision, _complaint(found, arguments))


def _complaint(tool: ToolVersion, arguments: Mapping[str, Any]) -> str:
    try:
        ForeignSchema(tool.declared["input_schema"]).validate(dict(arguments), what="The input")
    except InvalidInput as error:
        return error.message
    return ""
