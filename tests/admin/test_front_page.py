"""The admin console's front page and its door."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

pytestmark = [pytest.mark.req("ADM-1"), pytest.mark.django_db]


def cards(client: Client) -> dict[str, Any]:
    return {card.title: card for card in client.get("/admin/").context["state"].cards}


def test_its_figures_are_right(
    console: Client, make_user: Callable[..., Any], user: Any, project: Any, stranger: Any
) -> None:
    """People, projects, tokens, workers, refusals and secrets as they are in the database."""
    from apps.registry.models import AuditAction, Scope
    from apps.registry.services import audit
    from apps.registry.services.projects import archive_project, create_project
    from apps.registry.services.tokens import create_token
    from apps.runs.services.workers import start_worker, stop_worker
    from apps.tools.services.secrets import set_secret

    make_user("off@example.org", is_active=False)
    archive_project(actor=user, project=create_project(actor=user, name="Old"))
    create_token(user=user, name="soon", scopes={Scope.READ}, days=3)
    create_token(user=user, name="later", scopes={Scope.READ}, days=60)
    start_worker(kind="worker", pid=1)
    stop_worker(start_worker(kind="worker", pid=2))
    start_worker(kind="beat", pid=3)
    audit.record(AuditAction.SIGN_IN_FAILED, actor_label="x@example.org", allowed=False)
    audit.record(AuditAction.PERMISSION_DENIED, actor=stranger, allowed=False)
    set_secret(actor=user, project=project, name="KEY", value="a value")

    shown = {title: (card.value, card.detail) for title, card in cards(console).items()}
    assert shown == {
        "People": ("3", "1 operator · 1 off"),
        "Projects": ("1", "1 archived"),
        "API tokens": ("2", "1 expiring within 14 days"),
        "Live workers": ("1", "beat is running"),
        "Refused in 24 hours": ("2", "1 failed sign-in · 1 denial"),
        "Secrets": ("1", "0 for the whole platform"),
    }
    for card in cards(console).values():
        assert console.get(card.url).status_code == 200, card.url


def test_its_chart_counts_each_of_fourteen_days(console: Client) -> None:
    """Days without anything are there too; what is older is not."""
    from apps.registry.models import AuditEntry
    from omni.workspace.admin_state import sign_ins_by_day

    now = timezone.now()
    already = sign_ins_by_day(now)[-1][1]["signed_in"]
    for days, action in ((0, "signed_in"), (2, "sign_in_locked"), (2, "permission_denied")):
        AuditEntry.objects.create(action=action, at=now - timedelta(days=days))
    AuditEntry.objects.create(action="signed_in", at=now - timedelta(days=14))
    history = sign_ins_by_day(now)
    assert len(history) == 14
    assert history[-1] == (now.date(), {"signed_in": already + 1, "failed": 0, "denied": 0})
    assert history[-3][1] == {"signed_in": 0, "failed": 1, "denied": 1}
    assert sum(sum(counts.values()) for _, counts in history) == already + 3
    assert 'class="chart"' in console.get("/admin/").content.decode()


def test_it_reads_well_before_anything_happened(client: Client, make_staff: Any) -> None:
    """An operator without permissions is told what to do, and sees no figures."""
    client.force_login(make_staff("new@example.org"))
    page = client.get("/admin/")
    assert page.context["state"].cards == []
    text = page.content.decode()
    assert "An administrator adds you to a group" in text
    assert "Latest" not in text


@pytest.mark.req("SEC-2")
def test_operators_see_what_their_permissions_open(client: Client, make_staff: Any) -> None:
    """Cards and navigation alike."""
    client.force_login(make_staff("w@example.org", "runs.view_worker"))
    assert list(cards(client)) == ["Live workers"]
    page = client.get("/admin/")
    titles = [group["title"] for group in page.context["sidebar_navigation"]]
    assert titles == ["Start", "Workers and schedules"]


def test_the_navigation_leads_to_every_registered_model(console: Client) -> None:
    """A model without an entry could be found by nobody."""
    from tests.admin import pages

    groups = console.get("/admin/").context["sidebar_navigation"]
    links = {item["link"].split("?")[0] for group in groups for item in group["items"]}
    missing = {
        label
        for label, (model, _) in pages.registered().items()
        if pages.changelist(model) not in links
    }
    assert not missing
    for link in links:
        assert console.get(link).status_code == 200, link


def test_it_is_entered_through_the_workspace(client: Client, administrator: Any) -> None:
    """Visitors are sent to the one login page and come back to where they wanted to go."""
    answer = client.get("/admin/registry/project/", follow=True)
    assert answer.redirect_chain[-1][0] == "/login?next=/admin/registry/project/"
    data = {"username": administrator.email, "password": "correct-horse-9"}
    back = client.post(answer.redirect_chain[-1][0], {**data, "next": "/admin/registry/project/"})
    assert back["Location"] == "/admin/registry/project/"
    elsewhere = client.get("/admin/login/?next=https://evil.example/")
    assert elsewhere["Location"] == "/admin/"


@pytest.mark.req("SEC-4")
def test_who_is_no_operator_is_told_so(client: Client, stranger: Any) -> None:
    """A clear page, status 403, and an entry in the audit log."""
    from apps.registry.models import AuditEntry

    client.force_login(stranger)
    answer = client.get("/admin/")
    assert answer.status_code == 403
    assert "for operators" in answer.content.decode()
    entry = AuditEntry.objects.first()
    assert entry is not None
    assert (entry.action, entry.actor, entry.allowed) == ("permission_denied", stranger, False)


def test_passwords_are_changed_in_the_workspace_only(console: Client) -> None:
    for path in ("/admin/password_change/", "/admin/password_change/done/"):
        assert console.get(path)["Location"].startswith("/account/")


@pytest.mark.req("SEC-1")
def test_its_policy_allows_no_inline_script(console: Client, client: Client) -> None:
    """The theme needs evaluated expressions; inline scripts stay forbidden, and only here."""
    policy = console.get("/admin/")["Content-Security-Policy"]
    scripts = next(part for part in policy.split(";") if "script-src" in part)
    assert scripts.split() == ["script-src", "'self'", "'unsafe-eval'"]
    assert "unsafe-eval" not in client.get("/login")["Content-Security-Policy"]


@pytest.mark.req("SBX-2")
def test_it_names_the_tier_of_the_sandbox(console: Client) -> None:
    facts = dict(console.get("/admin/").context["state"].facts)
    assert facts["Sandbox"].startswith(("namespaces", "bubblewrap", "refuses"))
