"""Secrets by name, without their values."""

from __future__ import annotations

from django.db.models import QuerySet

from apps.registry.models import Project, User
from apps.registry.permissions import require, require_operator
from apps.registry.roles import Permission
from apps.tools.models import Secret


def secrets_of(user: User, project: Project | None) -> QuerySet[Secret]:
    """Names and dates of a project's secrets, or of the platform's for those who keep them."""
    if project is not None:
        require(user, Permission.VIEW, project)
    else:
        require_operator(user, "tools.view_secret")
    return Secret.objects.filter(project=project).defer("ciphertext").select_related("set_by")
