"""The contracts are served to programs and shown to people."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from django.test import Client
from rest_framework.test import APIClient

from omni.contracts import catalogue
from omni.contracts.description import describe

pytestmark = [pytest.mark.req("CON-3"), pytest.mark.django_db]


@pytest.fixture
def browser(user: Any) -> Client:
    client = Client()
    client.force_login(user, "django.contrib.auth.backends.ModelBackend")
    return client


def test_the_list_names_every_schema_and_where_it_is() -> None:
    """Open to anyone: it describes shapes and holds no data."""
    answer = APIClient().get("/api/schemas")
    assert answer.status_code == 200
    rows = answer.json()["results"]
    assert {row["name"] for row in rows} == set(catalogue.names())
    for row in rows:
        assert APIClient().get(row["url"]).json()["$id"] == row["id"]


def test_a_schema_is_served_as_it_is_and_cached_by_its_etag() -> None:
    answer = APIClient().get("/api/schemas/v1/tool-manifest")
    assert answer.content == catalogue.raw("tool-manifest", 1)
    assert answer["Content-Type"] == "application/json"
    assert "public" in answer["Cache-Control"]
    again = APIClient().get("/api/schemas/v1/tool-manifest", HTTP_IF_NONE_MATCH=answer["ETag"])
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", answer["ETag"])
    other = APIClient().get("/api/schemas/v1/policy", HTTP_IF_NONE_MATCH=answer["ETag"])
    assert other.status_code == 200


@pytest.mark.parametrize("name", ["run-event", "tool-manifest", "payloads/artifact_ref"])
def test_a_bundled_schema_needs_no_other(name: str) -> None:
    """An ordinary validator can use it without knowing anything of ours."""
    plain = APIClient().get(f"/api/schemas/v1/{name}")
    bundled = APIClient().get(f"/api/schemas/v1/{name}?bundle=true")
    assert bundled["ETag"] != plain["ETag"]
    validator = jsonschema_rs.validator_for(bundled.json(), offline=True)
    example = catalogue.schema(name)["examples"][0]
    assert validator.is_valid(example)
    assert not validator.is_valid({**example, "surprise": 1})


@pytest.mark.parametrize(
    "path",
    ["v1/nothing", "v2/policy", "v1/", "policy", "v1/../v1/policy", "v1/%2e%2e/errors.py", "v1"],
)
def test_an_unknown_schema_is_a_problem_document(path: str) -> None:
    answer = APIClient().get(f"/api/schemas/{path}")
    assert answer.status_code == 404
    assert answer["Content-Type"].startswith("application/problem+json")


@pytest.mark.parametrize("query", ["bundle=perhaps", "bundel=true"])
def test_an_unknown_wish_is_refused(query: str) -> None:
    assert APIClient().get(f"/api/schemas/v1/policy?{query}").status_code == 400


def test_schemas_cannot_be_changed(user: Any) -> None:
    client = APIClient()
    client.force_authenticate(user)
    for method in ("post", "put", "patch", "delete"):
        assert getattr(client, method)("/api/schemas/v1/policy").status_code == 405


@pytest.mark.parametrize("name", catalogue.names())
def test_every_schema_has_a_page_with_its_fields(browser: Client, name: str) -> None:
    page = browser.get(f"/schemas/{name}").content.decode()
    for shape in describe(name).shapes:
        for field in shape.fields:
            assert f"<code>{field.name}</code>" in page


def test_names_in_a_meaning_stand_as_code(browser: Client) -> None:
    page = browser.get("/schemas/").content.decode()
    assert "<code>node.exec.result.&lt;group&gt;</code>" in page
    assert "`" not in page


def test_links_between_schemas_lead_somewhere(browser: Client) -> None:
    page = browser.get("/schemas/run-event").content.decode()
    assert 'href="/schemas/shapes#uuid"' in page
    assert 'href="#kind"' in page and 'id="kind"' in page
    assert 'id="uuid"' in browser.get("/schemas/shapes").content.decode()


def test_the_list_can_be_searched(browser: Client) -> None:
    everything = browser.get("/schemas/").content.decode()
    assert all(f'href="/schemas/{name}"' in everything for name in catalogue.names())
    some = browser.get("/schemas/?q=timer fired").content.decode()
    assert "/schemas/payloads/system/timer_fired" in some
    assert "/schemas/policy" not in some
    assert "No schema matches" in browser.get("/schemas/?q=qqqq").content.decode()


def test_the_pages_are_for_people_who_are_signed_in(browser: Client) -> None:
    assert Client().get("/schemas/policy").status_code == 302
    assert browser.get("/schemas/nothing").status_code == 404
    assert browser.post("/schemas/policy").status_code in (403, 405)
