"""Who is a member of a project. Object permissions follow from roles, here and nowhere else."""

from __future__ import annotations

import uuid

from django.contrib.auth import models as auth
from django.contrib.contenttypes.models import ContentType
from django.db import transaction

from apps.registry.models import (
    AuditAction,
    Membership,
    Project,
    ProjectUserObjectPermission,
    User,
)
from apps.registry.models.user import normalise_email
from apps.registry.permissions import require
from apps.registry.roles import Permission, Role, granted
from apps.registry.services import audit
from omni.contracts.errors import Conflict, InvalidInput, NotFound


@transaction.atomic
def set_member_roles(
    *, actor: User, project: Project, user: User, roles: set[Role], as_operator: bool = False
) -> frozenset[Role]:
    """Give `user` exactly these roles; the first role makes a member, none removes one."""
    require(actor, Permission.MANAGE_MEMBERS, project, as_operator=as_operator)
    if not user.is_active and roles:
        raise InvalidInput.field("email", "This person's account is switched off.")
    before = _locked_roles(project, user)
    if before == roles:
        return frozenset(roles)
    if Role.OWNER in before - roles:
        _refuse_last_owner(project, user)
    grant_roles(project=project, user=user, roles=roles, added_by=actor)
    audit.record(
        AuditAction.ROLES_CHANGED if roles else AuditAction.MEMBER_REMOVED,
        actor=actor,
        project=project,
        target=user,
        data={"from": sorted(before), "to": sorted(roles)} | audit.operator_mark(as_operator),
    )
    return frozenset(roles)


@transaction.atomic
def add_member(*, actor: User, project: Project, email: str, roles: set[Role]) -> User:
    """Make the person with this address a member; one who is already keeps their roles."""
    require(actor, Permission.MANAGE_MEMBERS, project)
    user = User.objects.filter(email=normalise_email(email)).first()
    if user is None:
        raise InvalidInput.field(
            "email", "Nobody here has this address. An operator adds people in the admin console."
        )
    if _locked_roles(project, user):
        raise Conflict(
            f"{user.email} is a member already.", remedy="Change the roles of the member instead."
        )
    set_member_roles(actor=actor, project=project, user=user, roles=roles)
    return user


def remove_member(*, actor: User, project: Project, user: User) -> None:
    if not Membership.objects.filter(project=project, user=user).exists():
        raise NotFound("This person is not a member of the project.")
    set_member_roles(actor=actor, project=project, user=user, roles=set())


@transaction.atomic
def leave_project(*, actor: User, project: Project) -> None:
    """Give up one's own roles; needs no permission, but the last owner stays."""
    before = _locked_roles(project, actor)
    if not before:
        raise NotFound("There is no such project.")
    if Role.OWNER in before:
        _refuse_last_owner(project, actor)
    grant_roles(project=project, user=actor, roles=set(), added_by=actor)
    audit.record(
        AuditAction.MEMBER_REMOVED,
        actor=actor,
        project=project,
        target=actor,
        data={"from": sorted(before), "to": []},
    )


def grant_roles(*, project: Project, user: User, roles: set[Role], added_by: User | None) -> None:
    """Write memberships and the object permissions that follow from them."""
    Membership.objects.filter(project=project, user=user).exclude(role__in=roles).delete()
    for role in sorted(roles):
        Membership.objects.get_or_create(
            project=project, user=user, role=role, defaults={"added_by": added_by}
        )
    sync_permissions(project=project, user=user)


def sync_permissions(*, project: Project, user: User) -> None:
    roles = {
        Role(role)
        for role in Membership.objects.filter(project=project, user=user).values_list(
            "role", flat=True
        )
    }
    wanted = {permission.value for permission in granted(roles)}
    held = ProjectUserObjectPermission.objects.filter(content_object=project, user=user)
    held.exclude(permission__codename__in=wanted).delete()
    missing = wanted - set(held.values_list("permission__codename", flat=True))
    rows = auth.Permission.objects.filter(
        content_type=ContentType.objects.get_for_model(Project), codename__in=missing
    )
    ProjectUserObjectPermission.objects.bulk_create(
        [
            ProjectUserObjectPermission(content_object=project, user=user, permission=row)
            for row in rows
        ],
        ignore_conflicts=True,
    )


def refresh_permissions() -> int:
    """Bring object permissions in line with what roles grant now; answers for how many people.

    For the first start after an update in which a role came to grant more, or less.
    """
    roles: dict[tuple[uuid.UUID, uuid.UUID], set[Role]] = {}
    for project, user, role in Membership.objects.values_list("project_id", "user_id", "role"):
        roles.setdefault((project, user), set()).add(Role(role))
    held: dict[tuple[uuid.UUID, uuid.UUID], set[str]] = {}
    rows = ProjectUserObjectPermission.objects.values_list(
        "content_object_id", "user_id", "permission__codename"
    )
    for project, user, codename in rows:
        held.setdefault((project, user), set()).add(codename)
    stale = [
        pair
        for pair, mine in roles.items()
        if held.get(pair, set()) != {each.value for each in granted(mine)}
    ]
    for project, user in stale:
        sync_permissions(project=Project.objects.get(pk=project), user=User.objects.get(pk=user))
    return len(stale)


def _locked_roles(project: Project, user: User) -> set[Role]:
    # The project's row orders concurrent changes, so two owners cannot remove each other at once.
    Project.objects.select_for_update().get(pk=project.pk)
    return {
        Role(role)
        for role in Membership.objects.filter(project=project, user=user).values_list(
            "role", flat=True
        )
    }


def _refuse_last_owner(project: Project, user: User) -> None:
    owners = Membership.objects.filter(project=project, role=Role.OWNER).exclude(user=user)
    if not owners.exists():
        raise Conflict(
            "A project needs an owner, and this is the last one.",
            remedy="Make somebody else an owner first.",
        )
