"""Pages neither skip nor repeat rows while others come and go."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from apps.registry.models import Project, User
from apps.registry.services.projects import create_project
from tests.api.shapes import problem

pytestmark = pytest.mark.req("API-1")


@pytest.fixture
def projects(user: User) -> list[str]:
    """Seven projects, newest first; three of them made at the same instant."""
    made = [create_project(actor=user, name=f"P{number}") for number in range(7)]
    same = timezone.now()
    Project.objects.filter(slug__in=["p2", "p3", "p4"]).update(created_at=same)
    for project in made[5:]:
        Project.objects.filter(pk=project.pk).update(created_at=timezone.now())
    return list(Project.objects.order_by("-created_at", "id").values_list("slug", flat=True))


def walk(api: APIClient, url: str, way: str = "next") -> list[list[str]]:
    pages = []
    while url:
        assert len(pages) < 20, "the pages do not end"
        body = api.get(url).json()
        pages.append([row["slug"] for row in body["results"]])
        url = body[way]
    return pages


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50])
def test_every_row_is_seen_once_in_order(api: APIClient, projects: list[str], size: int) -> None:
    pages = walk(api, f"/api/projects?page_size={size}")
    assert [slug for page in pages for slug in page] == projects
    assert all(len(page) == size for page in pages[:-1])


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_way_back_shows_the_same_pages(api: APIClient, projects: list[str], size: int) -> None:
    forward = walk(api, f"/api/projects?page_size={size}")
    url = f"/api/projects?page_size={size}"
    for _ in forward[1:]:
        url = api.get(url).json()["next"]
    back = walk(api, url, "previous")
    assert [row for page in back[::-1] for row in page] == [row for page in forward for row in page]


def test_rows_that_come_and_go_disturb_no_other(
    api: APIClient, user: User, projects: list[str]
) -> None:
    first = api.get("/api/projects?page_size=3").json()
    create_project(actor=user, name="Newcomer")
    Project.objects.filter(slug=projects[1]).update(archived_at=timezone.now())
    Project.objects.filter(slug=projects[2]).update(archived_at=timezone.now())
    rest = walk(api, first["next"])
    assert [slug for page in rest for slug in page] == projects[3:]


def test_filters_stay_in_the_links(api: APIClient, projects: list[str]) -> None:
    link = api.get("/api/projects?page_size=2&q=p&archived=any").json()["next"]
    query = parse_qs(urlsplit(link).query)
    assert (query["page_size"], query["q"], query["archived"]) == (["2"], ["p"], ["any"])


@pytest.mark.parametrize(
    "cursor", ["x", "", "cD0yMDI2", "W2ZhbHNlLFsiJyJdXQ:abc:def", "%00", "é", "a" * 5000]
)
def test_a_forged_cursor_is_a_problem(api: APIClient, cursor: str) -> None:
    problem(api.get("/api/projects", {"cursor": cursor}), 400, "invalid")


def test_a_cursor_of_another_list_is_refused(api: APIClient, projects: list[str]) -> None:
    link = api.get("/api/projects?page_size=1").json()["next"]
    cursor = parse_qs(urlsplit(link).query)["cursor"][0]
    problem(api.get("/api/tokens", {"cursor": cursor}), 400, "invalid")


@pytest.mark.parametrize(
    "path", ["projects", "projects/p0/members", "projects/p0/secrets", "audit", "tokens", "workers"]
)
def test_the_number_of_queries_does_not_grow_with_the_rows(
    api: APIClient, user: User, path: str, make_user: Any
) -> None:
    from apps.registry.roles import Role
    from apps.registry.services.members import set_member_roles
    from apps.registry.services.tokens import create_token
    from apps.runs.models import Worker
    from apps.runs.services.workers import start_worker
    from apps.tools.services.secrets import set_secret

    project = create_project(actor=user, name="P0")

    def add(number: int) -> None:
        create_project(actor=user, name=f"Q{number}")
        member = make_user(f"m{number}@example.org")
        roles = {Role.VIEWER, Role.APPROVER}
        set_member_roles(actor=user, project=project, user=member, roles=roles)
        set_secret(actor=user, project=project, name=f"KEY{number}", value="v")
        create_token(user=user, name="t", scopes={"read"})
        start_worker(kind=Worker.Kind.WORKER, pid=number + 1)

    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            assert api.get(f"/api/{path}").status_code == 200
        return len(found)

    add(0)
    queries()
    few = queries()
    for number in range(1, 6):
        add(number)
    assert queries() == few
    assert few <= 8
