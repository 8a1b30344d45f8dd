"""Roles that a person holds in a project, and the object permissions each one grants."""

from __future__ import annotations

from django.db import models


class Role(models.TextChoices):
    OWNER = "owner", "Owner"
    OPERATOR = "operator", "Operator"
    APPROVER = "approver", "Approver"
    VIEWER = "viewer", "Viewer"
    PUBLISHER = "publisher", "Publisher"
    REVIEWER = "reviewer", "Reviewer"


class Permission(models.TextChoices):
    """Codenames of the object permissions on a project."""

    VIEW = "view_project", "See the project and everything in it"
    CHANGE = "change_project", "Rename and archive the project"
    MANAGE_MEMBERS = "manage_members", "Add and remove members, change their roles"
    MANAGE_SECRETS = "manage_secrets", "Set, replace and delete secrets"
    MANAGE_TOOLS = "manage_tools", "Install, pin and remove tools"
    MANAGE_POLICIES = "manage_policies", "Decide what is allowed, asked and denied"
    VIEW_AUDIT = "view_audit", "Read the project's audit log"
    OPERATE = "operate_project", "Start, stop and schedule work"
    APPROVE = "answer_approvals", "Answer approvals"
    PUBLISH = "publish_packages", "Publish packages"
    REVIEW = "review_packages", "Review packages"


GRANTS: dict[Role, frozenset[Permission]] = {
    Role.OWNER: frozenset(Permission),
    Role.OPERATOR: frozenset(
        {
            Permission.VIEW,
            Permission.CHANGE,
            Permission.MANAGE_SECRETS,
            Permission.MANAGE_TOOLS,
            Permission.VIEW_AUDIT,
            Permission.OPERATE,
        }
    ),
    Role.APPROVER: frozenset({Permission.VIEW, Permission.APPROVE}),
    Role.VIEWER: frozenset({Permission.VIEW}),
    Role.PUBLISHER: frozenset({Permission.VIEW, Permission.PUBLISH}),
    Role.REVIEWER: frozenset({Permission.VIEW, Permission.REVIEW}),
}

DESCRIPTIONS: dict[Role, str] = {
    Role.OWNER: "Everything, including members, their roles and policies.",
    Role.OPERATOR: "Runs the work: starts and stops it, keeps tools and secrets, reads the log.",
    Role.APPROVER: "Sees the project and answers its approvals.",
    Role.VIEWER: "Sees the project and changes nothing.",
    Role.PUBLISHER: "Sees the project and publishes its packages.",
    Role.REVIEWER: "Sees the project and reviews its packages.",
}


def granted(roles: set[Role]) -> frozenset[Permission]:
    return frozenset().union(*(GRANTS[role] for role in roles))
