"""Reads of the registry; every one starts from what the person may see."""

from __future__ import annotations

import uuid
from collections import defaultdict
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser
from django.db.models import Case, F, Prefetch, Q, QuerySet, When
from django.utils import timezone

from apps.registry.models import ApiToken, AuditEntry, Membership, Project, Session, User
from apps.registry.permissions import projects_with
from apps.registry.roles import Permission, Role
from omni.contracts.errors import NotFound


@dataclass(frozen=True, slots=True)
class Member:
    """A person with all their roles in one project."""

    user: User
    roles: tuple[Role, ...]
    is_last_owner: bool = False


def visible_projects(
    user: User | AnonymousUser, *, q: str = "", archived: bool | None = False
) -> QuerySet[Project]:
    """The projects `user` is a member of; `archived=None` means both kinds."""
    found = projects_with(user, Permission.VIEW)
    if q:
        found = found.filter(
            Q(name__icontains=q) | Q(slug__icontains=q) | Q(description__icontains=q)
        )
    if archived is not None:
        found = found.filter(archived_at__isnull=not archived)
    return found


def visible_project(user: User | AnonymousUser, slug: str) -> Project:
    """The project with this slug, or NotFound: also for projects that exist elsewhere."""
    project = visible_projects(user, archived=None).filter(slug=slug).first()
    if project is None:
        raise NotFound("There is no such project.")
    return project


def members_of(project: Project) -> list[Member]:
    roles: dict[User, list[Role]] = defaultdict(list)
    rows = Membership.objects.filter(project=project).select_related("user")
    for row in rows.order_by("user__email", "role"):
        roles[row.user].append(Role(row.role))
    order = list(Role)
    owners = [user for user, held in roles.items() if Role.OWNER in held]
    return [
        Member(user, tuple(sorted(held, key=order.index)), is_last_owner=owners == [user])
        for user, held in roles.items()
    ]


def is_last_owner(user: User, project: Project) -> bool:
    return any(each.user == user and each.is_last_owner for each in members_of(project))


def member_accounts(project: Project) -> QuerySet[User]:
    """The members one row each, with their memberships here in `roles_here`; for long lists."""
    here = Membership.objects.filter(project=project)
    return User.objects.filter(pk__in=here.values("user")).prefetch_related(
        Prefetch("memberships", queryset=here, to_attr="roles_here")
    )


def member_of_project(project: Project, user_id: uuid.UUID) -> User:
    user = member_accounts(project).filter(pk=user_id).first()
    if user is None:
        raise NotFound("This person is not a member of the project.")
    return user


def people(*, q: str = "", active: bool | None = None) -> QuerySet[User]:
    """All accounts; the door asks first whether the caller is an operator."""
    found = User.objects.all()
    if q:
        found = found.filter(Q(email__icontains=q) | Q(name__icontains=q))
    return found if active is None else found.filter(is_active=active)


def person_with(user_id: uuid.UUID) -> User:
    user = people().filter(pk=user_id).first()
    if user is None:
        raise NotFound("There is no such person.")
    return user


def tokens_of(user: User) -> QuerySet[ApiToken]:
    return ApiToken.objects.filter(user=user)


def token_of(user: User, token_id: uuid.UUID) -> ApiToken:
    token = tokens_of(user).filter(pk=token_id).first()
    if token is None:
        raise NotFound("You have no such token.")
    return token


def sessions_of(user: User) -> QuerySet[Session]:
    return Session.objects.filter(user=user, expire_date__gt=timezone.now())


def visible_activity(user: User | AnonymousUser) -> QuerySet[AuditEntry]:
    """What `user` did, and what happened in projects whose audit log they may read.

    Whoever may view audit entries in the admin console sees all of it there, not here.
    """
    if not isinstance(user, User):
        return AuditEntry.objects.none()
    projects = projects_with(user, Permission.VIEW_AUDIT)
    return AuditEntry.objects.filter(Q(actor=user) | Q(project__in=projects)).select_related(
        "actor", "project"
    )


def audit_log(user: User | AnonymousUser) -> QuerySet[AuditEntry]:
    """`visible_activity` with `project_slug`, empty for a project that the person has left."""
    seen = When(project__in=projects_with(user, Permission.VIEW), then=F("project__slug"))
    return visible_activity(user).annotate(project_slug=Case(seen, default=None))


def audit_entry(user: User | AnonymousUser, entry_id: int) -> AuditEntry:
    entry = audit_log(user).filter(pk=entry_id).first()
    if entry is None:
        raise NotFound("There is no such entry, or it is not yours to read.")
    return entry


def recent_activity(user: User | AnonymousUser, limit: int = 10) -> list[AuditEntry]:
    return list(audit_log(user)[:limit])


def project_activity(project: Project) -> QuerySet[AuditEntry]:
    return AuditEntry.objects.filter(project=project).select_related("actor")


def colleagues_of(user: User) -> QuerySet[User]:
    """The other members of the projects that `user` sees."""
    shared = User.objects.filter(memberships__project__in=visible_projects(user))
    return shared.exclude(pk=user.pk).distinct()
