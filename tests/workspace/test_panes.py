"""One page for every pane: what the server answers to a full load, a link, a drawer, a dialog."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.registry.models import Project
from omni.workspace import navigation
from omni.workspace.templatetags.workspace import icon_names

pytestmark = [pytest.mark.django_db, pytest.mark.req("UI-1")]


def from_pane(name: str, **more: str) -> dict[str, str]:
    return {"HX-Request": "true", "HX-Target": name, **more}


@pytest.fixture
def signed_in(client: Client, user: Any) -> Client:
    client.force_login(user)
    return client


def test_every_entry_has_an_address_and_an_icon() -> None:
    """An app that declares navigation finds it in the left pane, drawn and clickable."""
    entries = navigation.items(staff=True)
    tabs = navigation.items(staff=True, attribute="project_tabs")
    assert {item.label for item in entries} >= {"Home", "Projects", "Workers", "API tokens"}
    first = [item.label for item in tabs][:6]
    assert first == ["Overview", "Threads", "Members", "Tools", "MCP", "Policies"]
    for item in (*entries, *tabs):
        assert item.icon in icon_names(), item
    for item in entries:
        assert reverse(item.url_name).startswith("/")


@pytest.mark.parametrize(
    ("target", "has_document", "has_navigation"),
    [(None, True, True), ("main", False, True), ("drawer", False, False), ("dialog", False, False)],
)
def test_the_pane_decides_about_the_shell(
    signed_in: Client, target: str | None, has_document: bool, has_navigation: bool
) -> None:
    response = signed_in.get("/projects/new", headers=from_pane(target) if target else {})
    body = response.content.decode()
    assert ("<!doctype html>" in body) is has_document
    assert ('id="nav"' in body) is has_navigation
    assert "Create project" in body
    assert response.headers.get("X-Omni-Pane", "") == (target or "")
    assert {"HX-Request", "HX-Target"} <= set(response["Vary"].split(", "))


def test_going_back_gets_the_whole_page(signed_in: Client) -> None:
    """htmx asks so when its history has no copy, and replaces the whole body."""
    headers = from_pane("main", **{"HX-History-Restore-Request": "true"})
    assert b"<!doctype html>" in signed_in.get("/projects/", headers=headers).content


def test_a_form_in_a_dialog_moves_the_centre(signed_in: Client, project: Project) -> None:
    response = signed_in.post("/projects/apollo/archive", headers=from_pane("dialog"))
    assert response.status_code == 200
    assert json.loads(response["HX-Location"]) == {"path": "/projects/", "target": "#main"}
    project.refresh_from_db()
    assert project.is_archived


def test_a_refused_form_is_no_place_to_come_back_to(signed_in: Client) -> None:
    response = signed_in.post("/projects/new", {"name": ""}, headers=from_pane("main"))
    assert response.status_code == 422
    assert response["HX-Push-Url"] == "false"
    assert b"This field is required." in response.content


def test_an_error_is_a_fragment_too(signed_in: Client) -> None:
    response = signed_in.get("/projects/nowhere/", headers=from_pane("main"))
    assert response.status_code == 404
    assert response["X-Omni-Pane"] == "main"
    assert b"<!doctype" not in response.content


def test_only_our_templates_are_marked_for_panes(signed_in: Client) -> None:
    """The mark lets the browser tell a page from any other bytes of this site."""
    assert "X-Omni-Pane" not in signed_in.get("/healthz", headers=from_pane("drawer")).headers


def test_only_operators_see_the_state_of_the_platform(client: Client, make_user: Any) -> None:
    client.force_login(make_user("op@example.org", is_staff=True))
    assert b"Cache and broker" in client.get("/").content
    client.force_login(make_user("joe@example.org"))
    page = client.get("/")
    assert b"Cache and broker" not in page.content
    assert b"First steps" in page.content


def test_the_palette_finds_only_what_one_may_see(
    client: Client, user: Any, stranger: Any, project: Project
) -> None:
    headers = from_pane("palette-results")
    client.force_login(user)
    assert b"/projects/apollo/" in client.get("/search?q=apol", headers=headers).content
    client.force_login(stranger)
    assert b"Nothing found" in client.get("/search?q=apol", headers=headers).content
    assert b"admin console" not in client.get("/search?q=", headers=headers).content


@pytest.mark.req("SEC-1")
def test_theme_is_kept_and_redirects_stay_here(client: Client) -> None:
    response = client.post(
        "/theme", {"theme": "dark"}, headers={"Referer": "http://testserver/login"}
    )
    assert response["Location"] == "http://testserver/login"
    assert response.cookies["omni_theme"].value == "dark"
    assert b'data-theme="dark"' in client.get("/login").content
    odd = client.post("/theme", {"theme": '"><b>'}, headers={"Referer": "https://example.org/"})
    assert odd["Location"] == "/"
    assert "omni_theme" not in odd.cookies


def test_times_are_said_in_words_with_the_exact_one_beside() -> None:
    from datetime import timedelta

    from django.utils import timezone

    from omni.workspace.templatetags.workspace import ago

    now = timezone.now()
    expected = {
        timedelta(seconds=5): "just now",
        timedelta(minutes=7): "7 min ago",
        timedelta(hours=3): "3 h ago",
        timedelta(days=5): "5 days ago",
        timedelta(days=-30, minutes=-1): "in 30 days",
    }
    for distance, words in expected.items():
        shown = ago(now - distance)
        assert f">{words}</time>" in shown
        assert (now - distance).isoformat(timespec="seconds") in shown
    assert ago(None) == "never"
