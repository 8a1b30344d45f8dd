"""The OpenAPI document: complete, valid, and true — schemathesis tries it on the running API."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from django.test import Client
from django.urls import URLResolver, get_resolver
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from apps.registry.api.documents import document
from apps.registry.models import User
from apps.registry.roles import Role
from apps.registry.services.members import grant_roles
from apps.registry.services.projects import create_project
from apps.registry.services.tokens import create_token
from apps.runs import eventlog
from apps.runs.models import Approval
from apps.runs.services.artifacts import store_artifact
from apps.runs.services.runs import create_run, create_thread
from apps.tools.services.openapi import add_openapi_document
from apps.tools.services.policies import add_project_rule, publish_policy
from apps.tools.services.secrets import set_secret
from apps.tools.services.tools import install_tool, register_tool
from tests.mcp.furnish import furnished_server
from tests.tools.manifests import manifest
from tests.tools.policies import policy, rule

pytestmark = pytest.mark.req("API-1")

METHODS = {"get", "post", "put", "patch", "delete"}
UNDOCUMENTED = {"openapi.json", "docs/", "docs"}
EXAMPLES = 15
PETS = '{"openapi": "3.1.0", "info": {}, "paths": {"/pets": {"get": {"operationId": "list"}}}}'


def operations() -> list[tuple[str, str, dict[str, Any]]]:
    paths = json.loads(document()[0])["paths"]
    return [
        (path, method, operation)
        for path, item in paths.items()
        for method, operation in item.items()
        if method in METHODS
    ]


def test_the_document_is_openapi_3_1_and_open_to_anyone() -> None:
    """It describes shapes and holds no data, so it needs neither sign-in nor database."""
    response = Client().get("/api/openapi.json")
    assert (response.status_code, response["Content-Type"]) == (200, "application/json")
    assert response.json()["openapi"].startswith("3.1.")
    assert "public" in response["Cache-Control"]
    again = Client().get("/api/openapi.json", headers={"If-None-Match": response["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert Client().post("/api/openapi.json").status_code == 405


def test_the_document_is_valid() -> None:
    schemathesis.openapi.from_dict(json.loads(document()[0])).validate()


def test_every_operation_explains_itself() -> None:
    tags = {tag["name"] for tag in json.loads(document()[0])["tags"]}
    names = []
    for path, method, operation in operations():
        where = f"{method} {path}"
        names.append(operation["operationId"])
        assert re.fullmatch(r"[a-z]+(_[a-z]+)+", operation["operationId"]), where
        assert operation["summary"], where
        assert "Scope: `" in operation["description"], where
        assert set(operation["tags"]) <= tags, where
        assert {"token": []} in operation["security"], where
        assert {"400", "401", "403", "429", "503"} <= set(operation["responses"]), where
        assert ("404" in operation["responses"]) or "{" not in path, where
        for parameter in operation.get("parameters", []):
            assert parameter.get("description"), f"{where}: {parameter['name']}"
        keys = [each["name"] for each in operation.get("parameters", [])]
        assert ("Idempotency-Key" in keys) == (method == "post"), where
    assert len(names) == len(set(names))


def test_every_address_is_in_the_document() -> None:
    documented = {re.sub(r"\{\w+\}", "{}", path) for path, _, _ in operations()}
    routes: set[str] = set()
    for resolver in get_resolver().url_patterns:
        if isinstance(resolver, URLResolver) and str(resolver.pattern) == "api/":
            routes |= {str(each.pattern) for each in resolver.url_patterns}
    wanted = {"/api/" + re.sub(r"<[^>]+>", "{}", route) for route in routes - UNDOCUMENTED}
    assert wanted == documented
    assert len(wanted) > 15


def test_bodies_are_closed_in_the_document_as_in_the_code() -> None:
    schemas = json.loads(document()[0])["components"]["schemas"]
    bodies = [name for name in schemas if name.endswith("Request")]
    assert len(bodies) >= 8
    assert all(schemas[name]["additionalProperties"] is False for name in bodies)


# --- schemathesis -----------------------------------------------------------------------------


@dataclass(frozen=True)
class World:
    """A person who may do everything, and things of theirs to do it to."""

    token: str
    real: dict[str, dict[str, Any]]


@pytest.fixture
def _one_connection() -> Iterator[None]:
    """As Django's test client does: the end of a request must not close the test's transaction."""
    request_signals = (request_started, request_finished)
    for signal in request_signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in request_signals:
        signal.connect(close_old_connections)


@pytest.fixture
def world(administrator: User, user: User, _one_connection: None) -> World:
    project = create_project(actor=administrator, name="Apollo")
    grant_roles(project=project, user=user, roles={Role.VIEWER}, added_by=None)
    set_secret(actor=administrator, project=project, name="KEY", value="value")
    set_secret(actor=administrator, project=None, name="KEY", value="value")
    _, token = create_token(
        user=administrator, name="t", scopes={"read", "write", "secrets", "admin"}
    )
    spare, _ = create_token(user=administrator, name="spare", scopes={"read"})
    thread = create_thread(actor=administrator, project=project, title="Thread")
    run = create_run(actor=administrator, thread=thread, run_kind="script", input={})
    file = store_artifact(run.pk, b"content", media_type="text/plain")
    question = {"approval_id": str(run.pk), "title": "Go on?", "options": ["yes", "no"]}
    eventlog.append(run.pk, [eventlog.system("approval_requested", question)])
    tool, _ = register_tool(actor=administrator, manifest=manifest(), project=project)
    install_tool(actor=administrator, project=project, tool=tool)
    for owner in (project, None):
        publish_policy(actor=administrator, document=policy(rule()), project=owner)
    add_project_rule(actor=administrator, project=project, rule=rule("deny", "x"))
    mcp = furnished_server(administrator, project)
    entry = mcp.entries.get(name="search")
    api, _, _ = add_openapi_document(
        actor=administrator, project=project, text=PETS, base_url="https://pets.example.org"
    )
    project_things = {"slug": "apollo", "user_id": str(user.pk), "name": "KEY"}
    return World(
        token,
        {
            "projects": project_things,
            "members": project_things,
            "secrets": project_things,
            "tools": {"slug": "apollo", "tool": tool.name, "id": str(tool.pk)},
            "policies": {"slug": "apollo", "policy": "test", "rule": "x"},
            "mcp": {"slug": "apollo", "server": mcp.slug, "mcp_entry": str(entry.pk)},
            "openapi": {"slug": "apollo", "document": api.sha256},
            "tokens": {"id": str(spare.pk)},
            "people": {"id": str(user.pk)},
            "audit": {"id": 1},
            "threads": {"id": str(thread.pk), "slug": "apollo"},
            "runs": {"id": str(run.pk), "seq": 1},
            "artifacts": {"id": str(run.pk), "sha256": file.pk},
            "approvals": {"id": str(Approval.objects.get(run=run).pk)},
        },
    )


api_schema = schemathesis.openapi.from_wsgi("/api/openapi.json", app=get_wsgi_application())


@api_schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
def test_schemathesis_finds_no_failure(case: schemathesis.Case, world: World) -> None:
    """No 5xx, no undocumented status, content type or header; every answer fits its schema, and
    what breaks the schema of a request is refused."""
    things = world.real.get(case.operation.definition.raw["tags"][0], {})
    # Every other request aims at what exists; the rest keeps the invented names.
    aimed = len(json.dumps(case.path_parameters, default=str)) % 2 and things
    for name in set(case.path_parameters) & set(things) if aimed else ():
        case.path_parameters[name] = things[name]
    case.call_and_validate(
        headers={"Authorization": f"Bearer {world.token}"},
        checks=[
            not_a_server_error,
            status_code_conformance,
            content_type_conformance,
            response_headers_conformance,
            response_schema_conformance,
            *([] if aimed else [negative_data_rejection, unsupported_method]),
        ],
    )
