"""What the first page of a project shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from apps.registry import selectors
from apps.registry.models import Project, User
from apps.registry.permissions import permissions_of
from apps.registry.roles import Permission, Role

SHOWN_MEMBERS = 5
SHOWN_ENTRIES = 8


@dataclass(frozen=True, slots=True)
class Tile:
    label: str
    value: int
    hint: str
    url: str


@dataclass(frozen=True, slots=True)
class Hint:
    label: str
    hint: str
    icon: str
    url: str


def overview(user: User, project: Project) -> dict[str, Any]:
    members = selectors.members_of(project)
    held = permissions_of(user, project)
    may_audit = Permission.VIEW_AUDIT in held
    activity = selectors.project_activity(project)[:SHOWN_ENTRIES] if may_audit else []
    return {
        "project": project,
        "members": members[:SHOWN_MEMBERS],
        "member_count": len(members),
        "my_roles": next((each.roles for each in members if each.user == user), ()),
        "activity": activity,
        "tiles": _tiles(project, members, may_audit),
        "next_steps": _next_steps(project, members, held),
        "can_change": Permission.CHANGE in held,
        "can_manage_members": Permission.MANAGE_MEMBERS in held,
        "can_view_audit": may_audit,
    }


def _tiles(project: Project, members: list[selectors.Member], may_audit: bool) -> list[Tile]:
    url = reverse("registry:project_members", args=[project.slug])
    owners = sum(Role.OWNER in member.roles for member in members)
    approvers = sum(Role.APPROVER in member.roles for member in members)
    tiles = [
        Tile("Members", len(members), f"{owners} owner{'' if owners == 1 else 's'}", url),
        Tile("Approvers", approvers, "may answer approvals", url),
    ]
    if may_audit:
        log = reverse("registry:project_activity", args=[project.slug])
        tiles.append(
            Tile("Entries", selectors.project_activity(project).count(), "in the log", log)
        )
    return tiles


def _next_steps(
    project: Project, members: list[selectors.Member], held: frozenset[Permission]
) -> list[Hint]:
    steps = []
    settings = reverse("registry:project_settings", args=[project.slug])
    people = reverse("registry:project_members", args=[project.slug])
    if not project.description and Permission.CHANGE in held:
        steps.append(
            Hint("Describe the project", "So that others know what it is for", "edit", settings)
        )
    if len(members) == 1 and Permission.MANAGE_MEMBERS in held:
        steps.append(Hint("Add a colleague", "With just the roles they need", "users", people))
    if sum(Role.OWNER in each.roles for each in members) == 1 and len(members) > 1:
        steps.append(Hint("Name a second owner", "So that nobody is locked out", "shield", people))
    return steps
