"""Which policies are in force, which were published, and the rules that people added."""

from __future__ import annotations

import uuid
from functools import lru_cache

from django.db.models import F, Q, QuerySet

from apps.registry.models import Project, User
from apps.registry.permissions import require
from apps.registry.roles import Permission
from apps.tools.models import PolicyVersion, ProjectPolicy, ProjectRule
from apps.tools.policy import Rulebook
from apps.tools.policy.versions import key
from omni.contracts.canonical import digest
from omni.contracts.errors import NotFound
from omni.contracts.types.policy import Policy

ADDED = "project-rules"


def policies_of(project_id: uuid.UUID) -> list[Policy]:
    """All that decides in a project: the platform's policies, its own, and its added rules."""
    found = [row.policy.declared for row in in_force(project_id)]
    added = added_rules(project_id)
    return [*found, added] if added is not None else found


def rulebook_of(project_id: uuid.UUID) -> Rulebook:
    """The same, ready to decide; kept as long as nothing changes."""
    rows = in_force(project_id)
    added = added_rules(project_id)
    hashes = tuple(row.policy.sha256 for row in rows)
    # Only what was hashed is kept: equal hashes are equal rules.
    name = (*hashes, digest(added)) if added is not None else hashes
    book = _kept(name)
    if not book:
        book.append(Rulebook([*(row.policy.declared for row in rows), *([added] if added else [])]))
    return book[0]


@lru_cache(maxsize=256)
def _kept(name: tuple[str, ...]) -> list[Rulebook]:
    """A place for the rulebook of these hashes."""
    return []


def in_force(project_id: uuid.UUID | None) -> list[ProjectPolicy]:
    """The platform's policies first, then the project's own."""
    rows = ProjectPolicy.objects.filter(
        Q(project=None) | Q(project_id=project_id), withdrawn_at=None
    )
    ordered = rows.order_by(F("project").asc(nulls_first=True), "name")
    return list(ordered.select_related("policy", "put_by"))


def added_rules(project_id: uuid.UUID) -> Policy | None:
    """The rules that answers and people added to a project, as one policy; None without any."""
    rows = ProjectRule.objects.filter(project_id=project_id)
    active = list(rows.filter(withdrawn_at=None).order_by("added_at", "id"))
    if not active:
        return None
    # Each addition and each withdrawal is a new version.
    changes = rows.count() + rows.exclude(withdrawn_at=None).count()
    return {
        "name": ADDED,
        "version": f"1.0.{changes}",
        "default": "deny",
        "rules": [row.declared for row in active],
    }


def rules_of(user: User, project: Project) -> QuerySet[ProjectRule]:
    """Rules added to a project, withdrawn ones too."""
    require(user, Permission.VIEW, project)
    return ProjectRule.objects.filter(project=project).select_related("added_by", "withdrawn_by")


def platform_policies() -> QuerySet[PolicyVersion]:
    """The platform's own, for doors that ask first whether the caller is an operator."""
    return PolicyVersion.objects.filter(project=None).select_related("published_by", "project")


def published_policies(user: User, project: Project) -> QuerySet[PolicyVersion]:
    """What a project may put in force: the platform's policies and its own."""
    require(user, Permission.VIEW, project)
    found = PolicyVersion.objects.filter(Q(project=None) | Q(project=project))
    return found.select_related("published_by", "project")


def policy_versions(user: User, project: Project, name: str) -> list[PolicyVersion]:
    """Every version of a policy, newest first; NotFound when there is none."""
    rows = published_policies(user, project).filter(name=name)
    found = sorted(
        rows, key=lambda row: (row.project_id is not None, key(row.version)), reverse=True
    )
    if not found:
        raise NotFound(f"There is no policy {name} here.", data={"policy": name})
    return found


def policy_version(
    user: User, project: Project, name: str, version: str | None = None
) -> PolicyVersion:
    """One version of a policy, or the newest."""
    for row in policy_versions(user, project, name):
        if version in (None, row.version):
            return row
    raise NotFound(f"There is no version {version} of the policy {name} here.")


def policy_history(user: User, project: Project, name: str) -> QuerySet[ProjectPolicy]:
    """When which version of a policy was in force."""
    require(user, Permission.VIEW, project)
    rows = ProjectPolicy.objects.filter(Q(project=None) | Q(project=project), name=name)
    return rows.select_related("policy", "put_by", "withdrawn_by").order_by("-put_at")
