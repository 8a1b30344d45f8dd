"""Projects, tokens and schedules as operators keep them, through services."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

pytestmark = [pytest.mark.req("ADM-1"), pytest.mark.django_db]

LIST = "/admin/registry/project/"


def said(answer: Any) -> str:
    return " ".join(str(message) for message in answer.context["messages"])


def run(client: Client, url: str, action: str, *rows: Any) -> Any:
    chosen = {"action": action, "_selected_action": [str(row.pk) for row in rows]}
    return client.post(url, chosen, follow=True)


def latest() -> Any:
    from apps.registry.models import AuditEntry

    return AuditEntry.objects.first()


def test_a_project_is_made_for_its_owner(console: Client, administrator: Any, user: Any) -> None:
    """The operator who makes it gets no role in it."""
    from apps.registry.models import Project
    from apps.registry.selectors import members_of

    made = console.post(f"{LIST}add/", {"name": "Apollo 11", "slug": "", "owner": str(user.pk)})
    assert made.status_code == 302
    project = Project.objects.get(slug="apollo-11")
    assert [(member.user, member.roles) for member in members_of(project)] == [(user, ("owner",))]
    assert latest().data == {"owner": user.email}


@pytest.mark.req("SEC-4")
def test_operators_archive_without_a_role_and_it_is_marked(
    console: Client, project: Any, administrator: Any
) -> None:
    """The project's owners can see in its log that an operator did it."""
    assert "1 project archived." in said(run(console, LIST, "archive", project))
    project.refresh_from_db()
    assert project.is_archived
    entry = latest()
    assert (entry.action, entry.actor) == ("project_archived", administrator)
    assert entry.data == {"as_operator": True}
    assert "0 projects archived." in said(run(console, LIST, "archive", project))
    assert "1 project restored." in said(run(console, LIST, "restore", project))


def test_a_link_alone_changes_nothing(console: Client, project: Any) -> None:
    """Action pages ask first: following a link from elsewhere must not act."""
    url = reverse("admin:registry_project_archive_project", args=[project.pk])
    assert "takes no new work" in console.get(url).content.decode()
    project.refresh_from_db()
    assert not project.is_archived
    console.post(url)
    project.refresh_from_db()
    assert project.is_archived


def test_a_project_cannot_be_deleted(console: Client, project: Any) -> None:
    assert console.post(f"{LIST}{project.pk}/delete/", {"post": "yes"}).status_code == 403
    run(console, LIST, "delete_selected", project)
    project.refresh_from_db()


@pytest.mark.req("SEC-2")
def test_roles_change_through_the_service(console: Client, project: Any, stranger: Any) -> None:
    """Object permissions follow, the last owner stays, unknown people are refused."""
    from apps.registry.permissions import permissions_of

    url = reverse("admin:registry_project_change_roles", args=[project.pk])
    console.post(url, {"email": stranger.email.upper(), "roles": ["approver"]})
    assert permissions_of(stranger, project) == {"view_project", "answer_approvals"}
    assert (latest().action, latest().data["as_operator"]) == ("roles_changed", True)
    assert console.get(url, {"person": stranger.email}).context["form"].initial["roles"] == [
        "approver"
    ]
    console.post(url, {"email": stranger.email})
    assert permissions_of(stranger, project) == frozenset()

    owner = project.created_by
    refused = console.post(url, {"email": owner.email, "roles": ["viewer"]})
    assert "last one" in refused.content.decode()
    unknown = console.post(url, {"email": "nobody@example.org", "roles": ["viewer"]})
    assert "no person with this address" in unknown.content.decode()


@pytest.mark.req("SEC-2")
def test_changing_roles_needs_its_own_permission(
    client: Client, project: Any, stranger: Any, make_staff: Callable[..., Any]
) -> None:
    """Who may rename a project may not put people into it; the service checks again."""
    from apps.registry.services.members import set_member_roles
    from omni.contracts.errors import PermissionDenied

    staff = make_staff("s@example.org", "registry.view_project", "registry.change_project")
    client.force_login(staff)
    url = reverse("admin:registry_project_change_roles", args=[project.pk])
    answer = client.post(url, {"email": stranger.email, "roles": ["owner"]})
    assert answer.status_code == 403
    for actor in (staff, stranger):
        with pytest.raises(PermissionDenied):
            set_member_roles(
                actor=actor, project=project, user=actor, roles={"owner"}, as_operator=True
            )


def test_a_token_is_revoked_and_never_made_here(console: Client, user: Any) -> None:
    """Operators can end access that somebody gave a program, and nothing else."""
    from apps.registry.models import Scope
    from apps.registry.services.tokens import create_token, use_token

    token, value = create_token(user=user, name="import", scopes={Scope.READ})
    assert use_token(value) is not None
    assert console.get("/admin/registry/apitoken/add/").status_code == 403
    assert "1 token revoked." in said(run(console, "/admin/registry/apitoken/", "revoke", token))
    assert use_token(value) is None
    assert latest().action == "token_revoked"


def test_schedules_are_switched_and_run(console: Client) -> None:
    """Switching is counted and recorded; an unknown task is refused with a sentence."""
    from django_celery_beat.models import IntervalSchedule, PeriodicTask

    every = IntervalSchedule.objects.create(every=1, period="hours")
    task = PeriodicTask.objects.create(
        name="known", task="apps.runs.tasks.clean_up", interval=every
    )
    odd = PeriodicTask.objects.create(name="odd", task="no.such.task", interval=every)
    url = "/admin/django_celery_beat/periodictask/"
    assert "2 schedules are off." in said(run(console, url, "switch_off", task, odd))
    task.refresh_from_db()
    assert not task.enabled
    assert "1 schedule is on." in said(run(console, url, "switch_on", task))
    answer = said(run(console, url, "run_now", task, odd))
    assert "1 task sent to the workers." in answer
    assert "There is no task named no.such.task." in answer
    assert latest().data == {"run": "apps.runs.tasks.clean_up"}
