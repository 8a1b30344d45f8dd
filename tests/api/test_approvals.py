"""Approvals through the API: seen by members, answered once by those who may."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from apps.registry.models import Project, User
from apps.registry.roles import Role
from apps.registry.services.members import grant_roles
from apps.runs import eventlog
from apps.runs.eventlog import system
from apps.runs.models import Approval
from apps.runs.services.runs import create_run, create_thread
from tests.api.shapes import problem

pytestmark = [pytest.mark.req("API-1"), pytest.mark.req("RUN-1"), pytest.mark.django_db]

Ask = Callable[..., str]


@pytest.fixture
def ask(project: Project, user: User) -> Ask:
    """A run that asks something; answers the approval's address."""
    thread = create_thread(actor=user, project=project, title="Questions")

    def make(title: str = "Write to notes.md?") -> str:
        run = create_run(actor=user, thread=thread, run_kind="script", input={})
        asked = str(uuid.uuid4())
        payload = {
            "approval_id": asked,
            "title": title,
            "detail": {"path": "notes.md"},
            "options": ["allow", "deny"],
        }
        eventlog.append(run.pk, [system("approval_requested", payload)])
        return f"/api/approvals/{asked}"

    return make


def test_an_approval_is_listed_read_and_answered_once(api: APIClient, ask: Ask) -> None:
    where = ask()
    (listed,) = api.get("/api/approvals?state=pending&project=apollo").json()["results"]
    assert listed == api.get(where).json()
    assert (listed["answerable"], listed["options"]) == (True, ["allow", "deny"])
    detail = api.get(f"/api/runs/{listed['run']}").json()
    assert detail["pending_approvals"] == [listed]

    problem(api.post(f"{where}/answer", {"answer": "perhaps"}), 400, "invalid")
    answered = api.post(f"{where}/answer", {"answer": "allow", "reason": "Looks right."})
    assert answered.status_code == 200, answered.content
    row = answered.json()
    assert (row["state"], row["answer"], row["answerable"]) == ("answered", "allow", False)
    last = api.get(f"/api/runs/{row['run']}/events").json()["results"][-1]
    assert (last["name"], last["payload"]["answer"]) == ("approval_answered", "allow")

    assert api.post(f"{where}/answer", {"answer": "allow"}).json() == row
    late = problem(api.post(f"{where}/answer", {"answer": "deny"}), 409, "conflict")
    assert "answered already" in late["detail"]
    assert api.get("/api/approvals?state=pending").json()["results"] == []
    assert len(api.get(f"/api/runs/{row['run']}/events").json()["results"]) == last["seq"]


def test_a_key_repeats_the_answer(api: APIClient, ask: Ask) -> None:
    where = ask()
    body, keyed = {"answer": "deny"}, {"Idempotency-Key": "k1"}
    answers = [api.post(f"{where}/answer", body, headers=keyed) for _ in range(2)]
    assert answers[0].content == answers[1].content
    assert answers[1]["Idempotency-Replayed"] == "true"


@pytest.mark.req("SEC-2")
def test_roles_decide_who_answers(
    caller: Callable[..., APIClient], project: Project, ask: Ask, colleague: User, stranger: User
) -> None:
    where = ask()
    grant_roles(project=project, user=colleague, roles={Role.OPERATOR}, added_by=None)
    operator = caller(colleague)
    assert operator.get(where).json()["answerable"] is False
    problem(operator.post(f"{where}/answer", {"answer": "allow"}), 403, "permission_denied")
    outsider = caller(stranger)
    assert outsider.get("/api/approvals").json()["results"] == []
    problem(outsider.get(where), 404, "not_found")
    problem(outsider.post(f"{where}/answer", {"answer": "allow"}), 404, "not_found")
    assert Approval.objects.get().state == "pending"
    grant_roles(project=project, user=stranger, roles={Role.APPROVER}, added_by=None)
    assert outsider.get(where).json()["answerable"] is True
    assert outsider.post(f"{where}/answer", {"answer": "deny"}).status_code == 200


def test_the_list_does_not_ask_more_as_it_grows(api: APIClient, ask: Ask) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            assert api.get("/api/approvals").status_code == 200
        return len(seen)

    ask()
    before = queries()
    for number in range(6):
        ask(f"Question {number}?")
    assert queries() <= before
