"""Who may do what in which project. Being an administrator opens no project: roles do."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from guardian.shortcuts import get_objects_for_user

from apps.registry.models import Project, User
from apps.registry.roles import Permission
from omni.contracts.errors import NotFound, PermissionDenied


def projects_with(user: User | AnonymousUser, permission: Permission) -> QuerySet[Project]:
    """The projects in which `user` holds `permission`; the only source of visible projects."""
    if not isinstance(user, User) or not user.is_active:
        return Project.objects.none()
    found: QuerySet[Project] = get_objects_for_user(
        user,
        permission.value,
        klass=Project,
        use_groups=False,
        with_superuser=False,
        accept_global_perms=False,
    )
    return found


def may(user: User | AnonymousUser, permission: Permission, project: Project) -> bool:
    return projects_with(user, permission).filter(pk=project.pk).exists()


def permissions_of(user: User, project: Project) -> frozenset[Permission]:
    codenames = project.projectuserobjectpermission_set.filter(user=user).values_list(
        "permission__codename", flat=True
    )
    known = {permission.value for permission in Permission}
    return frozenset(Permission(name) for name in codenames if name in known)


# What an operator needs to act on a project from the admin console, without a role in it.
OPERATOR_PERMISSIONS = {
    Permission.CHANGE: "registry.change_project",
    Permission.MANAGE_MEMBERS: "registry.change_membership",
    Permission.MANAGE_TOOLS: "tools.change_toolinstallation",
    Permission.MANAGE_POLICIES: "tools.change_projectpolicy",
    Permission.OPERATE: "runs.change_run",
    Permission.APPROVE: "runs.change_approval",
}


def require(
    user: User, permission: Permission, project: Project, *, as_operator: bool = False
) -> None:
    """Raise NotFound to those who cannot see the project, PermissionDenied to the other members.

    The admin console passes `as_operator`: there the model permission counts, not a role.
    """
    if as_operator:
        require_operator(user, OPERATOR_PERMISSIONS[permission])
        return
    if may(user, permission, project):
        return
    if not may(user, Permission.VIEW, project):
        raise NotFound("There is no such project.")
    raise PermissionDenied(
        f"Your roles in {project.name} do not include: {permission.label.lower()}.",
        remedy="Ask an owner of the project for a role that does.",
        data={"permission": permission.value, "project": str(project.pk)},
    )


def require_operator(user: User, permission: str) -> None:
    """Raise PermissionDenied to everybody but operators who hold this model permission."""
    if not (user.is_active and user.is_staff and user.has_perm(permission)):
        raise PermissionDenied(
            "This is for operators, and your account does not include the permission.",
            remedy="Ask an administrator for it.",
            data={"permission": permission},
        )
