"""Which tools there are, which a project has, and who uses what."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet

from apps.registry.models import Project, User
from apps.registry.permissions import require
from apps.registry.roles import Permission
from apps.registry.selectors import visible_projects
from apps.tools.models import ToolInstallation, ToolVersion
from apps.tools.policy.versions import key, newest
from omni.contracts.errors import NotFound


def installed_tool(project_id: uuid.UUID, name: str, version: str | None = None) -> ToolVersion:
    """The pinned version of an installed tool, or the newest installed one in a range."""
    rows = _installed(project_id).filter(name=name)
    if version is None:
        found = rows.filter(is_pinned=True).first()
    else:
        found = _in_range(list(rows), version)
    if found is None:
        wanted = f"{name} {version}" if version else name
        raise NotFound(
            f"The tool {wanted} is not installed in this project.",
            remedy="Install it on the project's page of tools.",
            data={"tool": name, "version": version},
        )
    return found.tool


def tools_of(project_id: uuid.UUID) -> list[ToolVersion]:
    """What the names of tools mean in a project: the pinned version of each that is enabled."""
    return [row.tool for row in _installed(project_id).filter(is_pinned=True).order_by("name")]


def pins_of(project_id: uuid.UUID) -> dict[str, dict[str, str]]:
    """Name → exact version and hash, as a run records them when it starts."""
    return {tool.name: tool.pin for tool in tools_of(project_id)}


def pinned_tool(project_id: uuid.UUID, name: str, sha256: str) -> ToolVersion:
    """The very manifest that a run was pinned to, also if the project means another by now."""
    mine = Q(project=None) | Q(project_id=project_id)
    found = ToolVersion.objects.filter(mine, name=name, sha256=sha256).first()
    if found is None:
        raise NotFound(
            f"The version of {name} that the run is pinned to is gone.", data={"tool": name}
        )
    return found


def installations_of(user: User, project: Project) -> QuerySet[ToolInstallation]:
    """Every version that a project has, for those who see the project."""
    require(user, Permission.VIEW, project)
    return ToolInstallation.objects.filter(project=project).select_related("tool", "installed_by")


def visible_tools(user: User | AnonymousUser, *, q: str = "") -> QuerySet[ToolVersion]:
    """Versions that serve everybody, and those of projects that the person sees."""
    if not isinstance(user, User) or not user.is_active:
        return ToolVersion.objects.none()
    found = ToolVersion.objects.filter(
        Q(project=None) | Q(project__in=visible_projects(user, archived=None))
    )
    if q:
        found = found.filter(Q(name__icontains=q) | Q(manifest__description__icontains=q))
    return found.select_related("project", "created_by")


def available_tools(user: User, project: Project, *, q: str = "") -> QuerySet[ToolVersion]:
    """What could be installed in a project, or is."""
    require(user, Permission.VIEW, project)
    return visible_tools(user, q=q).filter(Q(project=None) | Q(project=project))


def available_tool(
    user: User, project: Project, name: str, version: str | None = None
) -> ToolVersion:
    """A version of a tool that the project may install; the newest of the range asked for."""
    rows = list(available_tools(user, project).filter(name=name))
    # The project's own version comes before the platform's of the same number.
    rows.sort(key=lambda row: row.project_id is None)
    chosen = newest_of([row.version for row in rows], version)
    for row in rows:
        if row.version == chosen:
            return row
    wanted = f"{name} {version}" if version else name
    raise NotFound(f"There is no tool {wanted}.", data={"tool": name, "version": version})


def versions_of(user: User, project: Project, name: str) -> list[ToolVersion]:
    """Every version of a tool that the project may use, newest first."""
    rows = available_tools(user, project).filter(name=name)
    return sorted(rows, key=lambda row: key(row.version), reverse=True)


@dataclass(frozen=True, slots=True)
class Use:
    """That a project has a version of a tool."""

    project: Project
    version: str
    is_pinned: bool
    enabled: bool


def users_of_tool(user: User, name: str) -> list[Use]:
    """Which projects have a tool, and in which version; only those that the person sees."""
    rows = ToolInstallation.objects.filter(
        name=name, project__in=visible_projects(user, archived=None)
    ).select_related("project", "tool")
    uses = [Use(row.project, row.tool.version, row.is_pinned, row.enabled) for row in rows]
    return sorted(uses, key=lambda use: (use.project.name, not use.is_pinned, use.version))


def newest_of(versions: list[str], wanted: str | None) -> str | None:
    """The newest version of a range; NotFound says nothing of a range that means nothing."""
    try:
        return newest(versions, wanted or "*")
    except ValueError:
        return None


def _installed(project_id: uuid.UUID) -> QuerySet[ToolInstallation]:
    rows = ToolInstallation.objects.filter(project_id=project_id, enabled=True)
    return rows.select_related("tool")


def _in_range(rows: list[ToolInstallation], version: str) -> ToolInstallation | None:
    exact = [row for row in rows if row.tool.version == version]
    if exact:
        return exact[0]
    chosen = newest_of([row.tool.version for row in rows], version)
    pinned = [row for row in rows if row.is_pinned]
    if pinned and newest_of([pinned[0].tool.version], version):
        return pinned[0]
    return next((row for row in rows if row.tool.version == chosen), None)
