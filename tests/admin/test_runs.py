"""Runs, their logs and their questions in the admin console."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.db import connection
from django.test import Client
from django.urls import reverse

from apps.registry.models import AuditEntry
from apps.runs import eventlog
from apps.runs.models import Approval, Run

pytestmark = [pytest.mark.req("ADM-1"), pytest.mark.django_db]

Make = dict[str, Callable[[int], Any]]
RUNS = "/admin/runs/run/"


def act(client: Client, action: str, run: Run) -> str:
    answer = client.post(RUNS, {"action": action, "_selected_action": [str(run.pk)]})
    return " ".join(str(each) for each in get_messages(answer.wsgi_request))


@pytest.mark.req("RUN-5")
def test_the_log_is_proved_and_disproved(console: Client, make_rows: Make) -> None:
    run = make_rows["runs.run"](1)
    assert "holds" in act(console, "verify", run)
    page = reverse("admin:runs_run_verify_log", args=[run.pk])
    assert b"The log holds: 1 event," in console.get(page).content
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE runs_runevent DISABLE TRIGGER USER")
        cursor.execute("UPDATE runs_runevent SET actor = 'user:me'")
        cursor.execute("ALTER TABLE runs_runevent ENABLE TRIGGER USER")
    assert "event 1 does not hold" in act(console, "verify", run)
    assert b"does not hold" in console.get(page).content


@pytest.mark.req("RUN-4")
def test_the_log_is_shown_page_by_page_and_escaped(console: Client, make_rows: Make) -> None:
    run = make_rows["runs.run"](1)
    said = [eventlog.NewEvent("user_message", {"text": f"<b>{n}</b>"}) for n in range(150)]
    eventlog.append(run.pk, said)
    page = reverse("admin:runs_run_event_log", args=[run.pk])
    first = console.get(page).content.decode()
    assert first.count('id="event-') == 100
    assert "&lt;b&gt;0&lt;/b&gt;" in first
    assert "<b>0</b>" not in first
    assert "?after=100" in first
    rest = console.get(page, {"after": "100"}).content.decode()
    assert rest.count('id="event-') == 51
    assert console.get(page, {"after": "x" * 30}).status_code == 200
    assert console.post(page).status_code in (200, 405)
    run.refresh_from_db()
    assert run.last_seq == 151


@pytest.mark.req("RUN-9")
def test_operators_cancel_and_resume_through_services(console: Client, make_rows: Make) -> None:
    """No role in the project is needed, the log and the project's audit log say who it was."""
    run = make_rows["runs.run"](1)
    assert "1 run is looked at" in act(console, "resume", run)
    assert "1 run is being cancelled" in act(console, "cancel", run)
    run.refresh_from_db()
    assert run.status == "cancelled"
    assert "0 runs" in act(console, "cancel", run)
    assert "has ended" in act(console, "resume", run)
    entries = AuditEntry.objects.filter(project=run.project, action="admin_changed")
    assert sorted(each.data["what"] for each in entries) == ["cancelled", "resumed"]
    assert all(each.data["as_operator"] for each in entries)


@pytest.mark.req("SEC-2")
def test_who_may_only_look_steers_nothing(client: Client, onlooker: Any, make_rows: Make) -> None:
    run, asked = make_rows["runs.run"](1), make_rows["runs.approval"](2)
    before = run.last_seq
    client.force_login(onlooker)
    for action in ("cancel", "resume"):
        act(client, action, run)
    page = reverse("admin:runs_approval_answer_question", args=[asked.pk])
    assert client.post(page, {"answer": "yes"}).status_code == 403
    run.refresh_from_db()
    assert (run.status, run.last_seq) == ("queued", before)
    assert Approval.objects.get(pk=asked.pk).state == "pending"


def test_the_queue_of_approvals_is_answered(console: Client, make_rows: Make) -> None:
    asked = make_rows["runs.approval"](1)
    queue = console.get("/admin/runs/approval/?state__exact=pending").content.decode()
    assert "Question 1?" in queue
    page = reverse("admin:runs_approval_answer_question", args=[asked.pk])
    assert "Question 1?" in console.get(page).content.decode()
    assert console.post(page, {"answer": "perhaps"}).status_code == 200
    assert console.post(page, {"answer": "yes", "reason": "Fine."}).status_code == 302
    asked.refresh_from_db()
    assert (asked.state, asked.answer, asked.reason) == ("answered", "yes", "Fine.")
    assert "answered already" in console.post(page, {"answer": "no"}).content.decode()
    assert AuditEntry.objects.filter(target_type="approval", action="admin_changed").count() == 1
