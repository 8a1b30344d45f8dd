"""Budgets: set aside before a call, settled after it, raised by a person or the end of a run."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection

from apps.registry.models import Project, User
from apps.registry.services.projects import create_project
from apps.runs import eventlog
from apps.runs.drive.driver import advance
from apps.runs.models import Approval, BudgetUse, Run, Thread
from apps.runs.services.approvals import answer_approval
from apps.runs.services.runs import create_run, create_thread
from apps.tools.services.builtin import load_builtins
from apps.tools.services.policies import publish_policy, put_policy_in_force

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.req("POL-7")]
LIST = {"tool": "filesystem.list"}


@pytest.fixture
def thread(user: User) -> Thread:
    load_builtins()
    project = create_project(actor=user, name="Apollo")
    return create_thread(actor=user, project=project, title="Spending")


@pytest.fixture
def bounded(thread: Thread, user: User) -> Callable[..., None]:
    def put(**budget: Any) -> None:
        document = {
            "name": "bounds",
            "version": "1.0.0",
            "default": "deny",
            "rules": [],
            "budgets": [{"on_reached": "ask", **budget}],
        }
        policy, _ = publish_policy(actor=user, document=document, project=thread.project)
        put_policy_in_force(actor=user, policy=policy, project=thread.project)

    return put


def make(thread: Thread, user: User, steps: int) -> Run:
    return create_run(actor=user, thread=thread, run_kind="plan", input={"steps": [LIST] * steps})


def drive(run: Run) -> str:
    return advance(run.pk, worker_id=uuid.uuid4())


def payloads(run: Run, name: str) -> list[Any]:
    return [e.payload for e in eventlog.read_all(run.pk) if name in (e.name, e.kind)]


def used(scope: str, unit: str) -> Decimal:
    return BudgetUse.objects.get(scope__startswith=scope, unit=unit).amount


def test_what_is_set_aside_is_settled_with_what_it_cost(
    thread: Thread, user: User, bounded: Callable[..., None]
) -> None:
    bounded(per="project", steps=10, seconds=1000)
    run = make(thread, user, 2)
    assert drive(run) == "done"
    assert len(payloads(run, "budget_reserved")) == len(payloads(run, "budget_settled")) == 2
    assert payloads(run, "budget_reserved")[0]["amount"] == {"steps": 1, "seconds": 30}
    assert used("project:", "steps") == 2
    assert used("project:", "seconds") < 30


@pytest.mark.parametrize("per", ["run", "thread", "project", "day"])
def test_at_the_bound_a_run_asks_and_goes_on_when_it_is_raised(
    thread: Thread, user: User, bounded: Callable[..., None], per: str
) -> None:
    bounded(per=per, steps=2)
    run = make(thread, user, 3)
    assert drive(run) == "waiting for approval"
    assert len(payloads(run, "tool_call")) == 2
    reached = payloads(run, "budget_reached")[0]
    assert (reached["limit"], reached["proposed"]) == ({"steps": 2}, {"steps": 4})
    approval = Approval.objects.get()
    assert approval.title == f"Raise the budget of this {per} to 4 steps?"
    answer_approval(actor=user, approval=approval, answer="raise")
    assert drive(run) == "done"
    assert used(f"{per}:", "steps") == 3


def test_a_bound_that_is_not_raised_refuses_the_call(
    thread: Thread, user: User, bounded: Callable[..., None]
) -> None:
    bounded(per="run", steps=1)
    run = make(thread, user, 2)
    drive(run)
    answer_approval(actor=user, approval=Approval.objects.get(), answer="stop")
    assert drive(run) == "failed"
    error = payloads(run, "tool_error")[0]
    assert error["category"] == "budget_exceeded" and "1 steps" in error["message"]
    assert used("run:", "steps") == 1


def test_a_bound_can_fail_at_once(thread: Thread, user: User, bounded: Callable[..., None]) -> None:
    bounded(per="run", steps=1, on_reached="fail")
    run = make(thread, user, 2)
    assert drive(run) == "failed"
    assert not Approval.objects.exists()
    assert payloads(run, "tool_error")[0]["category"] == "budget_exceeded"


def test_runs_at_the_same_time_never_spend_more_than_there_is(
    thread: Thread, user: User, bounded: Callable[..., None]
) -> None:
    bounded(per="project", steps=7, on_reached="fail")
    runs = [make(thread, user, 3) for _ in range(4)]

    def work(run: Run) -> None:
        try:
            drive(run)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(run,)) for run in runs]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    made = sum(len(payloads(run, "tool_result")) for run in runs)
    assert made == 7 == used("project:", "steps")


def test_another_project_has_its_own(
    thread: Thread, user: User, bounded: Callable[..., None]
) -> None:
    bounded(per="day", steps=1, on_reached="fail")
    assert drive(make(thread, user, 1)) == "done"
    other: Project = create_project(actor=user, name="Gemini")
    free = create_thread(actor=user, project=other, title="Free")
    assert drive(make(free, user, 3)) == "done"


def test_what_a_call_gave_back_is_there_for_the_next(
    thread: Thread, user: User, bounded: Callable[..., None]
) -> None:
    """Each sets thirty seconds aside and takes none of them."""
    bounded(per="run", seconds=31, on_reached="fail")
    assert drive(make(thread, user, 3)) == "done"


@pytest.mark.req("POL-1")
def test_a_rule_can_look_at_what_is_spent(
    thread: Thread, user: User, bounded: Callable[..., None]
) -> None:
    bounded(per="run", steps=4)
    rule = {
        "id": "nearly-spent",
        "effect": "deny",
        "match": {"spent_share": 0.5},
        "reason": "Half is spent.",
    }
    document = {"name": "thrift", "version": "1.0.0", "default": "deny", "rules": [rule]}
    policy, _ = publish_policy(actor=user, document=document, project=thread.project)
    put_policy_in_force(actor=user, policy=policy, project=thread.project)
    run = make(thread, user, 4)
    assert drive(run) == "failed"
    assert len(payloads(run, "tool_result")) == 2
    assert payloads(run, "policy_decided")[-1]["rule"] == "nearly-spent"
