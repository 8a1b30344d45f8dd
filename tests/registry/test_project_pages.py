"""A project's pages: nothing for strangers, refusals on record, roles decide what is offered."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from apps.registry.models import AuditAction, AuditEntry, Membership, Project
from apps.registry.roles import Role
from apps.registry.services.members import set_member_roles

pytestmark = [pytest.mark.django_db, pytest.mark.req("SEC-2")]

PAGES = ("", "members", "secrets", "activity", "settings", "archive", "leave")


@pytest.fixture
def viewer(make_user: Any, user: Any, project: Project) -> Any:
    person = make_user("vera@example.org", name="Vera")
    set_member_roles(actor=user, project=project, user=person, roles={Role.VIEWER})
    return person


def denials(person: Any) -> int:
    found = AuditEntry.objects.filter(action=AuditAction.PERMISSION_DENIED, actor=person)
    return found.filter(allowed=False).count()


@pytest.mark.parametrize("page", PAGES)
def test_a_stranger_finds_what_nobody_made(
    client: Client, stranger: Any, project: Project, page: str
) -> None:
    """A hidden project and a missing one answer alike."""
    client.force_login(stranger)
    hidden = client.get(f"/projects/apollo/{page}")
    missing = client.get(f"/projects/no-such-one/{page}")
    assert hidden.status_code == missing.status_code == 404
    assert b"Apollo" not in hidden.content


@pytest.mark.parametrize("page", PAGES)
def test_an_owner_sees_every_page(client: Client, user: Any, project: Project, page: str) -> None:
    client.force_login(user)
    assert client.get(f"/projects/apollo/{page}").status_code == 200


@pytest.mark.req("SEC-4")
@pytest.mark.parametrize(
    ("method", "page", "form"),
    [
        ("get", "activity", {}),
        ("get", "archive", {}),
        ("post", "archive", {}),
        ("post", "settings", {"name": "Mine"}),
        ("post", "members", {"email": "vera@example.org", "roles": ["owner"]}),
        ("post", "secrets", {"name": "KEY", "value": "x"}),
    ],
)
def test_a_member_without_the_role_is_refused_on_record(
    client: Client, viewer: Any, project: Project, method: str, page: str, form: dict[str, Any]
) -> None:
    client.force_login(viewer)
    response = getattr(client, method)(f"/projects/apollo/{page}", form)
    assert response.status_code == 403
    assert b"Ask an owner" in response.content
    assert denials(viewer) == 1
    project.refresh_from_db()
    assert (project.name, project.is_archived) == ("Apollo", False)


def test_pages_offer_only_what_the_roles_allow(client: Client, viewer: Any, user: Any) -> None:
    client.force_login(viewer)
    overview = client.get("/projects/apollo/").content.decode()
    assert "/projects/apollo/activity" not in overview
    assert "Add a member" not in overview
    assert "Set a secret" not in client.get("/projects/apollo/secrets").content.decode()
    client.force_login(user)
    assert "/projects/apollo/activity" in client.get("/projects/apollo/").content.decode()
    assert "Set a secret" in client.get("/projects/apollo/secrets").content.decode()


def test_a_member_is_added_with_roles(
    client: Client, user: Any, stranger: Any, project: Project
) -> None:
    client.force_login(user)
    form = {"email": "EVE@example.org", "roles": ["viewer", "approver"]}
    assert client.post("/projects/apollo/members", form).status_code == 302
    held = Membership.objects.filter(project=project, user=stranger)
    assert set(held.values_list("role", flat=True)) == {"viewer", "approver"}


def test_an_unknown_address_is_explained(client: Client, user: Any, project: Project) -> None:
    client.force_login(user)
    form = {"email": "nobody@example.org", "roles": ["viewer"]}
    response = client.post("/projects/apollo/members", form)
    assert response.status_code == 422
    assert b"Nobody here has this address." in response.content


def test_the_last_owner_stays(client: Client, user: Any, project: Project) -> None:
    """Neither removing, nor changing roles, nor leaving takes the last owner away."""
    client.force_login(user)
    removed = client.post(f"/projects/apollo/members/{user.pk}/remove", follow=True)
    assert b"this is the last one" in removed.content
    changed = client.post(f"/projects/apollo/members/{user.pk}/roles", {"roles": ["viewer"]})
    assert changed.status_code == 422
    assert b"this is the last one" in changed.content
    assert client.post("/projects/apollo/leave").status_code == 409
    assert Membership.objects.filter(project=project, user=user, role=Role.OWNER).exists()


def test_the_last_owner_is_told_before_trying(client: Client, user: Any, viewer: Any) -> None:
    """Leave and Remove are offered only to whom they would not be refused."""
    client.force_login(user)
    remove, leave = f"/members/{user.pk}/remove", 'href="/projects/apollo/leave"'
    members = client.get("/projects/apollo/members").content.decode()
    settings = client.get("/projects/apollo/settings").content.decode()
    assert remove not in members and f"/members/{viewer.pk}/remove" in members
    assert leave not in settings
    for page in (members, settings):
        assert "Make somebody else an owner first" in page
    project = Project.objects.get(slug="apollo")
    set_member_roles(actor=user, project=project, user=viewer, roles={Role.OWNER})
    assert remove in client.get("/projects/apollo/members").content.decode()
    assert leave in client.get("/projects/apollo/settings").content.decode()


def test_a_taken_name_is_explained_even_when_nobody_typed_it(client: Client, user: Any) -> None:
    client.force_login(user)
    assert client.post("/projects/new", {"name": "Apollo"}).status_code == 302
    refused = client.post("/projects/new", {"name": "Apollo"})
    assert refused.status_code == 422
    assert b"There is already a project with the short name apollo." in refused.content


def test_text_of_people_is_never_markup(client: Client, user: Any) -> None:
    client.force_login(user)
    hostile = "<script>alert(1)</script>"
    client.post("/projects/new", {"name": hostile, "slug": "hostile", "description": hostile})
    for path in ("/", "/projects/", "/projects/hostile/", "/search?q=script"):
        body = client.get(path).content.decode()
        assert hostile not in body, path
        assert "&lt;script&gt;alert(1)" in body, path


def test_an_archived_project_leaves_the_list_and_comes_back(
    client: Client, user: Any, project: Project
) -> None:
    client.force_login(user)
    client.post("/projects/apollo/archive")
    assert b'href="/projects/apollo/"' not in client.get("/projects/").content
    assert b'href="/projects/apollo/"' in client.get("/projects/?archived=1").content
    client.post("/projects/apollo/restore")
    assert b'href="/projects/apollo/"' in client.get("/projects/").content


@pytest.mark.req("SEC-4")
def test_the_log_is_filtered_and_its_entries_are_private(
    client: Client, user: Any, stranger: Any, viewer: Any, project: Project
) -> None:
    client.force_login(user)
    only = client.get("/projects/apollo/activity?action=roles_changed").content.decode()
    assert "Roles changed: Vera" in only
    assert "Project created: Apollo" not in only
    entry = AuditEntry.objects.filter(project=project).first()
    assert entry is not None
    assert client.get(f"/activity/{entry.pk}").status_code == 200
    for person in (stranger, viewer):
        client.force_login(person)
        assert client.get(f"/activity/{entry.pk}").status_code == 404


@pytest.mark.req("SEC-4")
def test_own_activity_spans_projects_and_stays_private(
    client: Client, user: Any, stranger: Any, viewer: Any, project: Project
) -> None:
    """Home leads to a page with what one did and may read, filtered like a project's log."""
    client.force_login(user)
    assert 'href="/account/activity"' in client.get("/").content.decode()
    everything = client.get("/account/activity").content.decode()
    assert "Roles changed: Vera" in everything and "Project created: Apollo" in everything
    only = client.get("/account/activity?action=roles_changed").content.decode()
    assert "Roles changed: Vera" in only and "Project created: Apollo" not in only
    assert "Nothing of this kind" in client.get("/account/activity?refused=1").content.decode()
    for person in (stranger, viewer):
        client.force_login(person)
        assert "Project created" not in _log(client.get("/account/activity").content.decode())


def _log(page: str) -> str:
    return page.partition('aria-label="Audit log"')[2]
