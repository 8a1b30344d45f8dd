"""Creating, changing, archiving and restoring projects."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify

from apps.registry import hooks
from apps.registry.models import AuditAction, Project, User
from apps.registry.permissions import require
from apps.registry.roles import Permission, Role
from apps.registry.services import audit
from apps.registry.services.members import grant_roles
from apps.registry.validation import validated
from omni.contracts.errors import Conflict, InvalidInput


@transaction.atomic
def create_project(
    *,
    actor: User,
    name: str,
    slug: str = "",
    description: str = "",
    owner: User | None = None,
) -> Project:
    """Make a project whose owner is `actor`, or the `owner` an operator names.

    Without a slug, one is made from the name.
    """
    slug = slug or slugify(name)[:63].strip("-")
    if not slug:
        raise InvalidInput.field("slug", "Give a short name made of letters, digits or hyphens.")
    project = Project(name=name, slug=slug, description=description, created_by=actor)
    validated(project, unique=False)
    try:
        with transaction.atomic():
            project.save(force_insert=True)
    except IntegrityError:
        raise Conflict(
            f"There is already a project with the short name {slug}.",
            remedy="Choose another one.",
            data={"errors": {"slug": ["This short name is taken."]}},
        ) from None
    owner = owner or actor
    grant_roles(project=project, user=owner, roles={Role.OWNER}, added_by=actor)
    audit.record(
        AuditAction.PROJECT_CREATED,
        actor=actor,
        project=project,
        target=project,
        data={"owner": owner.email} if owner != actor else None,
    )
    hooks.project_created(project, actor)
    return project


@transaction.atomic
def update_project(
    *,
    actor: User,
    project: Project,
    name: str | None = None,
    description: str | None = None,
    as_operator: bool = False,
) -> Project:
    require(actor, Permission.CHANGE, project, as_operator=as_operator)
    project = Project.objects.select_for_update().get(pk=project.pk)
    changed = {}
    for field, value in (("name", name), ("description", description)):
        if value is not None and value != getattr(project, field):
            changed[field] = {"from": getattr(project, field), "to": value}
            setattr(project, field, value)
    if changed:
        validated(project)
        project.save()
        audit.record(
            AuditAction.PROJECT_CHANGED,
            actor=actor,
            project=project,
            target=project,
            data=changed | audit.operator_mark(as_operator),
        )
    return project


def archive_project(*, actor: User, project: Project, as_operator: bool = False) -> Project:
    """Hide a project from lists and refuse new work in it; nothing is deleted."""
    return _set_archived(actor=actor, project=project, archived=True, as_operator=as_operator)


def restore_project(*, actor: User, project: Project, as_operator: bool = False) -> Project:
    return _set_archived(actor=actor, project=project, archived=False, as_operator=as_operator)


@transaction.atomic
def _set_archived(*, actor: User, project: Project, archived: bool, as_operator: bool) -> Project:
    require(actor, Permission.CHANGE, project, as_operator=as_operator)
    project = Project.objects.select_for_update().get(pk=project.pk)
    if project.is_archived == archived:
        return project
    project.archived_at = timezone.now() if archived else None
    project.save()
    action = AuditAction.PROJECT_ARCHIVED if archived else AuditAction.PROJECT_RESTORED
    audit.record(
        action, actor=actor, project=project, target=project, data=audit.operator_mark(as_operator)
    )
    return project
