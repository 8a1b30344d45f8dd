"""Projects, their members, and who sees what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from apps.registry.models import AuditAction, AuditEntry, Membership, Project, User
from apps.registry.permissions import may, permissions_of
from apps.registry.roles import GRANTS, Permission, Role
from apps.registry.selectors import members_of, visible_activity, visible_projects
from apps.registry.services.members import (
    leave_project,
    remove_member,
    set_member_roles,
)
from apps.registry.services.projects import archive_project, create_project, update_project
from omni.contracts.errors import Conflict, InvalidInput, NotFound, PermissionDenied


@pytest.mark.req("SEC-2")
def test_a_project_is_visible_only_to_its_members(
    project: Project, user: User, stranger: User
) -> None:
    assert list(visible_projects(user)) == [project]
    assert list(visible_projects(stranger)) == []
    set_member_roles(actor=user, project=project, user=stranger, roles={Role.VIEWER})
    assert list(visible_projects(stranger)) == [project]
    remove_member(actor=user, project=project, user=stranger)
    assert list(visible_projects(stranger)) == []


@pytest.mark.req("SEC-2")
def test_being_administrator_opens_no_project(project: Project, administrator: User) -> None:
    assert list(visible_projects(administrator)) == []
    assert not may(administrator, Permission.VIEW, project)


@pytest.mark.req("SEC-2")
@pytest.mark.parametrize("role", list(Role))
def test_each_role_grants_exactly_its_permissions(
    project: Project, user: User, stranger: User, role: Role
) -> None:
    set_member_roles(actor=user, project=project, user=stranger, roles={role})
    assert permissions_of(stranger, project) == GRANTS[role]
    for permission in Permission:
        assert may(stranger, permission, project) == (permission in GRANTS[role])


@pytest.mark.req("SEC-2")
def test_roles_add_up_and_losing_one_keeps_the_others(
    project: Project, user: User, stranger: User
) -> None:
    both = {Role.APPROVER, Role.PUBLISHER}
    set_member_roles(actor=user, project=project, user=stranger, roles=both)
    assert permissions_of(stranger, project) == GRANTS[Role.APPROVER] | GRANTS[Role.PUBLISHER]
    set_member_roles(actor=user, project=project, user=stranger, roles={Role.PUBLISHER})
    assert permissions_of(stranger, project) == GRANTS[Role.PUBLISHER]
    assert [m.roles for m in members_of(project) if m.user == stranger] == [(Role.PUBLISHER,)]


@pytest.mark.req("SEC-2")
def test_a_stranger_is_told_nothing_and_a_member_is_told_why(
    project: Project, user: User, stranger: User
) -> None:
    with pytest.raises(NotFound):
        update_project(actor=stranger, project=project, name="Mine")
    set_member_roles(actor=user, project=project, user=stranger, roles={Role.VIEWER})
    with pytest.raises(PermissionDenied, match="rename and archive"):
        update_project(actor=stranger, project=project, name="Mine")
    project.refresh_from_db()
    assert project.name == "Apollo"


@pytest.mark.req("SEC-2")
def test_the_last_owner_stays(project: Project, user: User, stranger: User) -> None:
    with pytest.raises(Conflict):
        set_member_roles(actor=user, project=project, user=user, roles={Role.VIEWER})
    with pytest.raises(Conflict):
        leave_project(actor=user, project=project)
    set_member_roles(actor=user, project=project, user=stranger, roles={Role.OWNER})
    leave_project(actor=user, project=project)
    assert list(visible_projects(user)) == []


@pytest.mark.req("SEC-2")
@pytest.mark.django_db(transaction=True)
def test_the_database_itself_keeps_an_owner(project: Project) -> None:
    """Also against raw SQL: the trigger fires when the transaction commits."""
    with pytest.raises(DatabaseError, match="no owner"), connection.cursor() as cursor:
        cursor.execute("DELETE FROM registry_membership WHERE project_id = %s", [project.pk])
    assert Membership.objects.filter(project=project).count() == 1


@pytest.mark.req("SEC-4")
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE registry_auditentry SET action = 'signed_in'",
        "DELETE FROM registry_auditentry",
        "TRUNCATE registry_auditentry",
    ],
)
def test_the_database_refuses_to_change_the_audit_log(project: Project, statement: str) -> None:
    before = list(AuditEntry.objects.values())
    with (
        pytest.raises(DatabaseError, match="append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(statement)
    assert list(AuditEntry.objects.values()) == before
    assert before


@pytest.mark.req("SEC-4")
def test_what_happens_in_a_project_is_audited_and_seen_by_those_who_may(
    project: Project, user: User, stranger: User
) -> None:
    set_member_roles(actor=user, project=project, user=stranger, roles={Role.VIEWER})
    archive_project(actor=user, project=project)
    actions = list(visible_activity(user).values_list("action", flat=True))
    assert actions == [
        AuditAction.PROJECT_ARCHIVED,
        AuditAction.ROLES_CHANGED,
        AuditAction.PROJECT_CREATED,
    ]
    assert list(visible_activity(stranger)) == []


@pytest.mark.req("SEC-2")
@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"name": ""}, InvalidInput),
        ({"name": "x" * 121}, InvalidInput),
        ({"name": "ok", "slug": "Not A Slug"}, InvalidInput),
        ({"name": "ok", "slug": "-edge"}, InvalidInput),
        ({"name": "…"}, InvalidInput),
        ({"name": "Apollo"}, Conflict),
    ],
)
def test_a_bad_project_is_refused_and_nothing_is_written(
    project: Project, user: User, fields: dict[str, str], error: type[Exception]
) -> None:
    before = AuditEntry.objects.count()
    with pytest.raises(error):
        create_project(actor=user, **fields)
    assert Project.objects.count() == 1
    assert AuditEntry.objects.count() == before


@pytest.mark.req("SEC-2")
def test_a_person_who_is_switched_off_sees_nothing(
    project: Project, user: User, make_user: Callable[..., Any]
) -> None:
    user.is_active = False
    user.save()
    assert list(visible_projects(user)) == []
