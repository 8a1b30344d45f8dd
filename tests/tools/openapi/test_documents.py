"""Documents of a project over the API: added from text or an address, shown, removed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.registry.models import AuditEntry, User
from apps.registry.roles import Permission, Role, granted
from apps.registry.services.members import grant_roles
from apps.tools.executors.openapi.executor import OpenapiExecutor
from apps.tools.models import OpenApiDocument
from apps.tools.selectors import openapi_text
from apps.tools.services import openapi as service
from omni.contracts.validation import validate
from tests.api.shapes import problem
from tests.tools.openapi.conftest import Api, document, operation

pytestmark = [pytest.mark.req("TOOL-10"), pytest.mark.req("API-1")]

ADDRESS = "/api/projects/apollo/openapi"
TEXT = document(
    {"/pets": {"get": operation(key="listPets"), "post": {"requestBody": {"$ref": "#/gone"}}}},
    servers=[{"url": "https://api.example.org/v1"}],
)


@pytest.fixture
def caller(user: User) -> APIClient:
    client = APIClient()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    client.force_authenticate(user)
    return client


@pytest.fixture
def reachable(api: Api, monkeypatch: pytest.MonkeyPatch) -> Api:
    """As if the operator had opened the place of this server."""
    monkeypatch.setattr(service, "opened_places", lambda: frozenset({api.place}))
    return api


def post(client: APIClient, **body: Any) -> Any:
    return client.post(ADDRESS, body, format="json")


def test_add_list_show_remove(caller: APIClient, project: Any, user: User) -> None:
    first = post(caller, document=TEXT)
    assert first.status_code == 201, first.content
    body = first.json()
    assert [tool["name"] for tool in body["tools"]] == ["pet_shop.list_pets"]
    assert body["skipped"] == [
        {"method": "POST", "path": "/pets", "reason": "It refers to #/gone, which is not there."}
    ]
    assert (body["title"], body["api_version"], body["added_by"]) == ("Pet shop", "1.2", user.email)
    again = post(caller, document=TEXT, base_url="https://other.example.org")
    assert (again.status_code, again.json()["base_url"]) == (200, "https://other.example.org")
    (row,) = caller.get(ADDRESS).json()["results"]
    assert (row["sha256"], row["tool_count"], row["skipped_count"]) == (body["sha256"], 1, 1)
    one = f"{ADDRESS}/{body['sha256']}"
    shown = caller.get(one, {"manifests": "true", "credential": "KEY"}).json()
    validate("tool-manifest", shown["tools"][0]["manifest"])
    assert openapi_text(project.pk, body["sha256"]) == TEXT
    assert OpenapiExecutor().kind == "openapi_proxy"
    assert caller.delete(one).status_code == 204
    problem(caller.get(one), 404)
    problem(caller.delete(one), 404)
    actions = AuditEntry.objects.filter(action__startswith="openapi").values_list("action")
    assert [action for (action,) in actions.order_by("id")] == [
        "openapi_added", "openapi_added", "openapi_removed",
    ]  # fmt: skip


def test_the_same_document_in_two_projects(make_user: Callable[..., Any], project: Any) -> None:
    from apps.registry.services.projects import create_project

    other = make_user("grace@example.org")
    second = create_project(actor=other, name="Gemini")
    for owner, where in ((project.created_by, project), (other, second)):
        service.add_openapi_document(actor=owner, project=where, text=TEXT)
    assert OpenApiDocument.objects.count() == 2


@pytest.mark.parametrize(
    "sent",
    [
        {}, {"document": TEXT, "url": "https://x.example/"}, {"document": "nonsense"},
        {"document": '{"swagger": "2.0"}'}, {"document": 5}, {"document": TEXT, "more": 1},
        {"document": TEXT, "base_url": "ftp://x"}, {"document": TEXT, "credential": "no name!"},
        {"document": document({})}, {"url": "file:///etc/passwd"}, {"url": "http://127.0.0.1/"},
        {"url": "http://169.254.169.254/latest"}, {"url": "http://2130706433/"},
    ],
)  # fmt: skip
def test_what_cannot_be_added(caller: APIClient, project: Any, sent: Any) -> None:
    problem(caller.post(ADDRESS, sent, format="json"), 400, "invalid")
    assert not OpenApiDocument.objects.exists()


def test_a_document_is_fetched(caller: APIClient, project: Any, reachable: Api) -> None:
    text = document({"/pets": {"get": operation(key="listPets")}}, servers=[{"url": "../v2"}])
    reachable.says("/docs/api.json", text.encode())
    reachable.says("/moved", b"", status=302, Location="/docs/api.json")
    answer = post(caller, url=f"{reachable.url}/docs/api.json")
    assert answer.json()["base_url"] == f"{reachable.url}/v2"
    assert post(caller, url=f"{reachable.url}/moved").status_code == 200
    assert OpenApiDocument.objects.get().text == text


@pytest.mark.parametrize(
    ("status", "data"), [(404, b"{}"), (200, b"\xff\xfe"), (302, b""), (200, b"<html>")]
)
def test_what_is_no_document_is_not_kept(
    caller: APIClient, project: Any, reachable: Api, status: int, data: bytes
) -> None:
    reachable.says("/api.json", data, status=status, Location="http://169.254.169.254/")
    problem(post(caller, url=f"{reachable.url}/api.json"), 400, "invalid")


@pytest.mark.req("SEC-2")
@pytest.mark.parametrize("role", list(Role))
def test_roles_decide(caller: APIClient, project: Any, stranger: User, role: Role) -> None:
    sha256 = post(caller, document=TEXT).json()["sha256"]
    grant_roles(project=project, user=stranger, roles={role}, added_by=None)
    client = APIClient()
    client.force_authenticate(stranger)
    assert client.get(ADDRESS).status_code == 200
    assert client.get(f"{ADDRESS}/{sha256}").status_code == 200
    allowed = Permission.CHANGE in granted({role})
    assert (post(client, document=TEXT).status_code == 200) == allowed
    assert (client.delete(f"{ADDRESS}/{sha256}").status_code == 204) == allowed


def test_a_hash_that_is_none(caller: APIClient, project: Any) -> None:
    for name in ("x", "0" * 64, "%00", "a" * 5000):
        assert caller.get(f"{ADDRESS}/{name}").status_code in (400, 404)


def test_the_text_is_what_was_hashed(caller: APIClient, project: Any) -> None:
    text = "# a comment\n" + json.dumps(json.loads(TEXT), ensure_ascii=False)
    sha256 = post(caller, document=text).json()["sha256"]
    assert openapi_text(project.pk, sha256) == text
