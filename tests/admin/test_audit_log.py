"""The audit log in the admin console: complete, read-only, and safe to take away."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse

from tests.admin import pages

pytestmark = [pytest.mark.req("SEC-4"), pytest.mark.req("ADM-1"), pytest.mark.django_db]

LIST = "/admin/registry/auditentry/"


def record(**fields: Any) -> Any:
    from apps.registry.models import AuditAction
    from apps.registry.services import audit

    return audit.record(AuditAction.PERMISSION_DENIED, allowed=False, **fields)


def export(console: Client, action: str, *entries: Any) -> Any:
    chosen = {"action": action, "_selected_action": [entry.pk for entry in entries]}
    return console.post(LIST, chosen)


def test_no_path_of_the_console_changes_an_entry(
    console: Client, furnished: SimpleNamespace
) -> None:
    """An administrator who posts to every address of the log leaves it as it was."""
    from apps.registry.models import AuditEntry

    first = AuditEntry.objects.order_by("pk").first()
    assert first is not None
    before = list(AuditEntry.objects.order_by("pk").values())
    forged = {"actor_label": "nobody", "action": "signed_in", "allowed": "on", "post": "yes"}
    for url in pages.addresses(AuditEntry, first.pk):
        if url != LIST:
            console.post(url, forged)
    console.post(LIST, {"action": "delete_selected", "_selected_action": first.pk, "post": "yes"})
    after = AuditEntry.objects.filter(pk__lte=before[-1]["id"]).order_by("pk")
    assert list(after.values()) == before


def test_an_export_masks_secrets_and_disarms_formulas(console: Client) -> None:
    """No cell of the CSV starts a formula; a registered secret is masked in both formats."""
    from omni.telemetry.redaction import register_secret

    register_secret("hidden-forever-4711")
    entries = [
        record(actor_label=label, target_label="+1", data={"note": "saw hidden-forever-4711"})
        for label in ("=HYPERLINK(1)", "@SUM(A1)", "-2", "+3", "\t=1", " =1", "＝1", "plain")
    ]
    answer = export(console, "export_csv", *entries)
    assert answer["Content-Type"].startswith("text/csv")
    assert "attachment" in answer["Content-Disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert [row["id"] for row in rows] == [str(entry.pk) for entry in entries]
    for row in rows:
        for cell in row.values():
            assert not cell.lstrip(" ").startswith(("=", "+", "-", "@", "\t", "＝")), cell
    assert rows[-1]["actor"] == "plain"
    lines = export(console, "export_jsonl", *entries).content.decode()
    parsed = [json.loads(line) for line in lines.splitlines()]
    assert parsed[0]["actor"] == "=HYPERLINK(1)"
    assert "hidden-forever-4711" not in lines + answer.content.decode()


def test_an_export_that_is_too_long_is_refused(
    console: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a log would pass for a whole one."""
    from apps.registry.admin import export as files

    monkeypatch.setattr(files, "LIMIT", 1)
    answer = export(console, "export_csv", record(), record())
    assert answer.status_code == 302
    shown = console.get(LIST)
    assert "Filter by date first" in " ".join(map(str, shown.context["messages"]))


def test_every_change_without_a_service_is_recorded(console: Client, administrator: Any) -> None:
    """Adding, changing and deleting a schedule each leave an entry with who and what."""
    from django_celery_beat.models import IntervalSchedule

    from apps.registry.models import AuditEntry

    base = "/admin/django_celery_beat/intervalschedule/"
    assert console.post(f"{base}add/", {"every": "3", "period": "hours"}).status_code == 302
    row = IntervalSchedule.objects.get()
    tasks = {"periodictask_set-TOTAL_FORMS": "0", "periodictask_set-INITIAL_FORMS": "0"}
    console.post(f"{base}{row.pk}/change/", {"every": "4", "period": "hours", **tasks})
    console.post(f"{base}{row.pk}/delete/", {"post": "yes"})
    assert not IntervalSchedule.objects.exists()
    entries = list(AuditEntry.objects.filter(action="admin_changed").order_by("pk"))
    assert [min(entry.data) for entry in entries] == ["added", "changed", "deleted"]
    assert {entry.actor for entry in entries} == {administrator}
    assert LogEntry.objects.count() == 3


def test_history_is_the_audit_log_of_that_row(
    console: Client, client: Client, user: Any, project: Any, make_staff: Callable[..., Any]
) -> None:
    """It shows what happened through every door; without a view of the log, Django's own."""
    url = reverse("admin:registry_project_history", args=[project.pk])
    shown = console.get(url, follow=True)
    assert [entry.action for entry in shown.context["cl"].result_list] == ["project_created"]
    client.force_login(make_staff("p@example.org", "registry.view_project"))
    assert client.get(url).status_code == 200


def test_a_range_of_days_includes_both(console: Client) -> None:
    """From and to the same day finds that day's entries, and words that are no day find all."""
    from django.utils import timezone

    entry = record()
    day = timezone.localdate(entry.at).isoformat()

    def found(**asked: str) -> set[int]:
        listed = console.get(LIST, asked).context["cl"]
        return {row.pk for row in listed.result_list}

    assert entry.pk in found(at_from=day, at_to=day)
    assert entry.pk not in found(at_to="2020-01-01")
    for odd in ("2026-99-99", "soon", "0001-01-01", "9999-12-31"):
        assert entry.pk in found(at_from=odd, at_to=odd), odd


def refusals() -> list[Any]:
    from apps.registry.models import AuditEntry

    return list(AuditEntry.objects.filter(action="permission_denied").order_by("pk"))


@pytest.mark.req("SEC-4")
def test_every_refusal_of_the_console_is_recorded(
    client: Client, onlooker: Any, user: Any, project: Any
) -> None:
    """Pages to add, change or delete, and actions: who asked for what without the right to it."""
    client.force_login(onlooker)
    person = f"/admin/registry/user/{user.pk}"
    asked = [
        ("/admin/registry/user/add/", {"email": "x@example.org"}),
        (f"{person}/change/", {"name": "Taken"}),
        (f"{person}/delete/", {"post": "yes"}),
        ("/admin/registry/user/", {"action": "switch_off", "_selected_action": [str(user.pk)]}),
    ]
    for number, (path, sent) in enumerate(asked, start=1):
        client.post(path, sent)
        found = refusals()
        assert len(found) == number, path
        assert (found[-1].actor, found[-1].data["path"]) == (onlooker, path)
    assert found[-1].data["permission"] == "registry.user: switch_off"
    user.refresh_from_db()
    assert user.is_active


@pytest.mark.req("SEC-4")
def test_what_a_service_refuses_in_the_console_is_recorded(
    client: Client, make_staff: Callable[..., Any], administrator: Any
) -> None:
    """An operator who switches an administrator off is told no, and it is on record."""
    keeper = make_staff("keeps@example.org", "registry.view_user", "registry.change_user")
    client.force_login(keeper)
    chosen = {"action": "switch_off", "_selected_action": [str(administrator.pk)]}
    client.post("/admin/registry/user/", chosen)
    assert [entry.actor for entry in refusals()] == [keeper]
    administrator.refresh_from_db()
    assert administrator.is_active


@pytest.mark.req("SEC-4")
def test_taking_entries_away_is_recorded(console: Client, administrator: Any) -> None:
    from apps.registry.models import AuditEntry

    export(console, "export_jsonl", record(), record())
    entry = AuditEntry.objects.get(action="audit_exported")
    assert (entry.actor, entry.data) == (administrator, {"format": "jsonl", "entries": 2})
