"""Errors: a problem document for programs, a page for people, the cause only in the log."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from django.db import connections
from django.test import Client

from omni.config import ROOT
from omni.contracts.errors import ErrorCategory, OmniError
from omni.contracts.problem import TITLES, problem_from

pytestmark = [pytest.mark.urls("tests.edge.urls"), pytest.mark.req("API-1", "SEC-1")]

SCHEMA = json.loads((ROOT / "omni/contracts/v1/problem.schema.json").read_text())
STATUS = {
    "400": 400,
    "suspicious": 400,
    "403": 403,
    "404": 404,
    "500": 500,
    "database": 503,
    "conflict": 409,
    "field": 400,
}


@pytest.fixture
def visitor(client: Client) -> Client:
    client.raise_request_exception = False
    return client


@pytest.mark.parametrize("kind", STATUS)
def test_programs_get_a_problem_document(visitor: Client, kind: str) -> None:
    """Valid by the schema, with the request's id, and without the exception's own words."""
    response = visitor.get(f"/api/fail/{kind}")
    assert response.status_code == STATUS[kind]
    assert response["Content-Type"] == "application/problem+json"
    problem = json.loads(response.content)
    jsonschema_rs.validator_for(SCHEMA).validate(problem)
    assert problem["status"] == STATUS[kind]
    assert problem["instance"] == f"/api/fail/{kind}"
    assert problem["request_id"] == response["X-Request-ID"]
    assert b"hunter2" not in response.content
    assert b"db.internal" not in response.content


@pytest.mark.parametrize("kind", STATUS)
def test_people_get_a_page(visitor: Client, kind: str) -> None:
    response = visitor.get(f"/fail/{kind}", headers={"Accept": "text/html,*/*;q=0.8"})
    text = response.content.decode()
    assert response.status_code == STATUS[kind]
    assert response["Content-Type"].startswith("text/html")
    assert "<!doctype html>" in text
    assert response["X-Request-ID"] in text
    assert "hunter2" not in text and "Traceback" not in text
    assert response["Cache-Control"] == "no-store"


def test_field_errors_and_remedies_reach_the_program(visitor: Client) -> None:
    assert visitor.get("/api/fail/field").json()["errors"] == {"name": ["Too long."]}
    conflict = visitor.get("/api/fail/conflict").json()
    assert conflict["detail"] == "Somebody was faster."
    assert conflict["remedy"] == "Load the page again."
    assert conflict["type"] == "/problems/conflict"


def test_a_database_that_is_away_asks_to_try_again(visitor: Client) -> None:
    assert visitor.get("/fail/database")["Retry-After"]


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("application/json", "application/problem+json"),
        ("application/problem+json", "application/problem+json"),
        ("text/html,application/json;q=0.5", "text/html"),
        ("*/*", "text/html"),
        ("", "text/html"),
    ],
)
def test_what_the_caller_prefers_decides_outside_the_api(
    visitor: Client, accept: str, kind: str
) -> None:
    response = visitor.get("/fail/404", headers={"Accept": accept})
    assert response["Content-Type"].startswith(kind)


def test_an_unknown_host_name_is_refused_without_echoing_it(visitor: Client) -> None:
    """Both forms; the page must not need the host name either."""
    for address in ("/fail/404", "/api/fail/404"):
        response = visitor.get(address, headers={"Host": "evil.example"})
        assert response.status_code == 400
        assert b"OMNI_ALLOWED_HOSTS" in response.content
        assert b"evil" not in response.content


def test_a_form_that_is_too_large_for_django_is_a_413(visitor: Client, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10
    response = visitor.post("/api/show", data="x" * 11, content_type="text/plain")
    assert response.status_code == 413
    assert response.json()["category"] == "too_large"


def test_a_form_without_its_token_is_refused_in_both_forms() -> None:
    strict = Client(enforce_csrf_checks=True)
    assert strict.post("/api/show").json()["category"] == "permission_denied"
    page = strict.post("/show")
    assert page.status_code == 403
    assert b"Load the page again" in page.content


def test_the_page_appears_even_if_its_template_is_broken(
    visitor: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> str:
        raise RuntimeError("template")

    monkeypatch.setattr("omni.edge.errors.render_to_string", broken)
    response = visitor.get("/fail/404")
    assert response.status_code == 404
    assert b"<h1>404 Not found</h1>" in response.content


def test_a_signed_in_browser_gets_the_page_while_the_database_is_away(
    visitor: Client, monkeypatch: pytest.MonkeyPatch, django_db_blocker: Any
) -> None:
    """Nothing on the way to it or in it may need the session, which is in the database."""
    connection = connections["default"]
    monkeypatch.setitem(connection.settings_dict, "HOST", "127.0.0.1")
    monkeypatch.setitem(connection.settings_dict, "PORT", "1")
    visitor.cookies["omni_session"] = "x" * 32
    with django_db_blocker.unblock():
        connection.close()
        response = visitor.get("/page")
    text = response.content.decode()
    assert response.status_code == 503
    assert "The database does not answer." in text
    assert 'class="bare' in text, "the real page, not the one for broken templates"


def test_every_category_has_its_title_and_place_in_the_schema() -> None:
    assert set(TITLES) == set(ErrorCategory)
    assert set(SCHEMA["properties"]["category"]["enum"]) == {each.value for each in ErrorCategory}
    for category in ErrorCategory:
        problem = problem_from(OmniError("It failed.", category=category), instance="/x")
        jsonschema_rs.validator_for(SCHEMA).validate(problem)
