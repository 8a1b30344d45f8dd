"""Projects, who is a member of them, and what each member may do."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, ClassVar

from django.core.validators import RegexValidator
from django.db import models
from guardian.models import UserObjectPermissionBase

from apps.registry.roles import Permission, Role

if TYPE_CHECKING:
    from apps.registry.models.user import User

SLUG = RegexValidator(
    r"^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\Z",
    "Use lower-case letters, digits and hyphens, not at the ends.",
)


class Project(models.Model):
    """A space with members; everything else belongs to one. Visible to its members only."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    slug = models.CharField(
        max_length=63, unique=True, validators=[SLUG], help_text="The name in addresses."
    )
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True, max_length=4000)
    created_by = models.ForeignKey("registry.User", on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    archived_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ("name", "id")
        default_permissions = ("add", "change", "delete", "view")
        permissions: ClassVar = [
            (permission.value, permission.label)
            for permission in Permission
            if permission not in (Permission.VIEW, Permission.CHANGE)
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_archived(self) -> bool:
        return self.archived_at is not None


class Membership(models.Model):
    """One role of one person in one project; a person may hold several."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user: models.ForeignKey[User] = models.ForeignKey(
        "registry.User", on_delete=models.CASCADE, related_name="memberships"
    )
    role = models.CharField(max_length=16, choices=Role)
    added_by = models.ForeignKey(
        "registry.User", on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    added_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("project", "user", "role")
        constraints = (
            models.UniqueConstraint("project", "user", "role", name="membership_unique"),
            models.CheckConstraint(
                condition=models.Q(role__in=[role.value for role in Role]),
                name="membership_known_role",
            ),
        )

    def __str__(self) -> str:
        return f"{self.user} is {self.role} of {self.project}"


class ProjectUserObjectPermission(UserObjectPermissionBase):
    """What a person may do in a project; derived from memberships, read by guardian."""

    content_object = models.ForeignKey(Project, on_delete=models.CASCADE)

    class Meta(UserObjectPermissionBase.Meta):
        abstract = False
        verbose_name = "object permission"

    def __str__(self) -> str:
        return f"{self.user} may {self.permission.codename}"
