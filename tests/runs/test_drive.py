"""Driving runs: echo, scripts, approvals, timers, children, cancel, crash recovery."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from apps.registry.models import User
from apps.runs import eventlog
from apps.runs.drive import pulse
from apps.runs.drive.driver import advance
from apps.runs.drive.ports import Ports
from apps.runs.eventlog import NewEvent, system
from apps.runs.eventlog.project import load_state
from apps.runs.models import Approval, Run
from apps.runs.services.approvals import answer_approval, expire_approvals
from apps.runs.services.leases import due_runs, take_lease
from apps.runs.services.runs import cancel_run, retry_run
from apps.runs.services.sweep import sweep
from omni.contracts.errors import Conflict
from omni.contracts.ports import RunContext
from tests.permitted import Permitted
from tests.services.installation import eventually

MakeRun = Callable[..., Run]
pytestmark = pytest.mark.django_db(transaction=True)


class Counter(Permitted):
    """A tool that counts how often it really ran."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def call(self, tool: str, arguments: dict[str, Any], call_id: str, context: RunContext) -> Any:
        self.calls.append(call_id)
        if tool == "fail":
            raise ValueError("broken")
        if tool == "sleep":
            while not context.cancelled():
                time.sleep(0.02)
        return {"count": len(self.calls)}


def drive(run: Run, ports: Ports | None = None) -> str:
    return advance(run.pk, worker_id=uuid.uuid4(), ports=ports)


def history(run: Run) -> list[str]:
    return [event.name or event.kind for event in eventlog.read_all(run.pk)]


def status(run: Run) -> str:
    run.refresh_from_db()
    return run.status


@pytest.mark.req("RUN-1", "RUN-12")
def test_an_echo_run_streams_its_answer_and_ends(make_run: MakeRun) -> None:
    run = make_run("echo", text="hello little world")
    assert drive(run) == "done"
    # How many pieces the answer came in depends on the time they took.
    names = history(run)
    pieces = names.count("assistant_message_delta")
    assert names == [
        "run_created",
        "user_message",
        "state_changed",
        "model_call",
        *["assistant_message_delta"] * pieces,
        "model_result",
        "assistant_message",
        "state_changed",
    ]
    assert 1 <= pieces <= 3
    assert load_state(run.pk).messages[-1] == {"role": "assistant", "text": "hello little world"}
    assert status(run) == "done"
    assert eventlog.verify(run.pk).ok
    run.refresh_from_db()
    assert run.lease_owner is None and run.settled


@pytest.mark.req("RUN-1")
def test_a_script_of_steps_records_each(make_run: MakeRun) -> None:
    run = make_run(steps=25)
    assert drive(run) == "done"
    assert history(run).count("step_finished") == 25
    assert load_state(run.pk).result == {"steps": 25}


@pytest.mark.req("TOOL-9")
def test_intent_comes_before_effect(make_run: MakeRun) -> None:
    tools = Counter()
    run = make_run(actions=[{"do": "tool", "tool": "count"}, {"do": "tool", "tool": "count"}])
    assert drive(run, Ports(tools=tools)) == "done"
    assert history(run)[2:-1] == [
        "tool_call",
        "tool_result",
        "step_finished",
        "tool_call",
        "tool_result",
        "step_finished",
    ]
    assert len(tools.calls) == 2


@pytest.mark.req("RUN-1")
def test_a_failing_tool_fails_the_run_with_its_reason(make_run: MakeRun) -> None:
    run = make_run(actions=[{"do": "tool", "tool": "fail"}])
    assert drive(run, Ports(tools=Counter())) == "failed"
    assert "broken" in load_state(run.pk).reason


@pytest.mark.req("POL-3")
def test_an_approval_waits_without_a_worker_and_the_first_answer_wins(
    make_run: MakeRun, user: User
) -> None:
    run = make_run(actions=[{"do": "ask", "title": "Go on?"}])
    assert drive(run) == "waiting for approval"
    run.refresh_from_db()
    assert (run.status, run.lease_owner, run.due_at) == ("waiting_permission", None, None)
    approval = Approval.objects.get()
    _, first = answer_approval(actor=user, approval=approval, answer="approve")
    _, again = answer_approval(actor=user, approval=approval, answer="approve")
    assert (first, again) == (True, False)
    with pytest.raises(Conflict):
        answer_approval(actor=user, approval=approval, answer="reject")
    assert run.pk in due_runs()
    assert drive(run) == "done"


@pytest.mark.req("POL-3")
def test_an_approval_expires(make_run: MakeRun) -> None:
    run = make_run(actions=[{"do": "ask", "title": "Go on?", "seconds": 0}])
    drive(run)
    assert expire_approvals() == 1
    assert drive(run) == "failed"
    assert Approval.objects.get().state == "expired"


@pytest.mark.req("RUN-10")
def test_a_timer_wakes_the_run(make_run: MakeRun) -> None:
    later = make_run(actions=[{"do": "timer", "seconds": 3600}])
    soon = make_run(actions=[{"do": "timer", "seconds": 0.1}])
    for run in (later, soon):
        assert drive(run) == "waiting for timer"
    due: set[uuid.UUID] = set()
    eventually(lambda: due.update(due_runs()) or soon.pk in due)
    assert later.pk not in due
    assert drive(soon) == "done"


@pytest.mark.req("RUN-1")
def test_a_child_run_reports_to_its_parent(make_run: MakeRun) -> None:
    run = make_run(actions=[{"do": "child", "input": {"steps": 2}}])
    assert drive(run) == "waiting for child"
    child = run.children.get()
    assert drive(child) == "done"
    assert run.pk in due_runs()
    assert drive(run) == "done"
    assert child.depth == 1


@pytest.mark.req("RUN-9")
def test_cancelling_a_waiting_run_ends_it_and_its_children_at_once(
    make_run: MakeRun, user: User
) -> None:
    run = make_run(
        actions=[{"do": "child", "input": {"actions": [{"do": "timer", "seconds": 60}]}}]
    )
    drive(run)
    child = run.children.get()
    drive(child)
    assert cancel_run(actor=user, run=run)
    assert (status(run), status(child)) == ("cancelled", "cancelled")
    assert not cancel_run(actor=user, run=run)


@pytest.mark.req("RUN-9")
def test_cancelling_reaches_a_running_tool(make_run: MakeRun, user: User) -> None:
    """Within a second: so often a driver looks."""
    assert pulse.LOOK_SECONDS < 1
    tools = Counter()
    run = make_run(actions=[{"do": "tool", "tool": "sleep"}, {"do": "tool", "tool": "count"}])
    outcome: list[str] = []

    def work() -> None:
        try:
            outcome.append(drive(run, Ports(tools=tools)))
        finally:
            connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    eventually(lambda: tools.calls)
    cancel_run(actor=user, run=run)
    thread.join(60)
    assert outcome == ["cancelled"]
    assert len(tools.calls) == 1
    assert history(run)[-3:] == ["cancel_requested", "tool_result", "state_changed"]


def _crash_with(run: Run, *events: NewEvent) -> None:
    """Leave the run as a worker does that dies behind these events."""
    claim = take_lease(run.pk, owner=uuid.uuid4())
    assert claim is not None
    eventlog.append(run.pk, list(events), lease=claim.lease)
    Run.objects.filter(pk=run.pk).update(lease_until="2000-01-01T00:00:00Z")


def _call(run: Run, *, idempotent: bool) -> NewEvent:
    call_id = str(uuid.uuid5(run.pk, "step-1"))
    payload = {
        "call_id": call_id,
        "tool": "count",
        "version": "0.0.0",
        "arguments": {},
        "idempotent": idempotent,
    }
    return NewEvent("tool_call", payload, key=f"call-{call_id}")


@pytest.mark.req("RUN-11")
def test_after_a_crash_an_idempotent_call_is_repeated_with_the_same_id(make_run: MakeRun) -> None:
    tools = Counter()
    run = make_run(actions=[{"do": "tool", "tool": "count", "idempotent": True}])
    started = system("state_changed", {"from": "queued", "to": "running"})
    _crash_with(run, started, _call(run, idempotent=True))
    assert run.pk in due_runs()
    assert drive(run, Ports(tools=tools)) == "done"
    assert tools.calls == [str(uuid.uuid5(run.pk, "step-1"))]
    assert history(run).count("tool_call") == 1


@pytest.mark.req("RUN-11")
def test_after_a_crash_any_other_call_is_never_repeated_blindly(
    make_run: MakeRun, user: User
) -> None:
    tools = Counter()
    run = make_run(actions=[{"do": "tool", "tool": "count"}])
    started = system("state_changed", {"from": "queued", "to": "running"})
    _crash_with(run, started, _call(run, idempotent=False))
    assert drive(run, Ports(tools=tools)) == "waiting for approval"
    assert tools.calls == []
    answer_approval(actor=user, approval=Approval.objects.get(), answer="continue")
    assert drive(run, Ports(tools=tools)) == "done"
    assert tools.calls == []
    assert "tool_error" in history(run)


@pytest.mark.req("RUN-10")
def test_a_run_that_kills_its_workers_is_failed_with_a_reason(make_run: MakeRun) -> None:
    run = make_run(steps=1)
    for _ in range(8):
        assert take_lease(run.pk, owner=uuid.uuid4())
        Run.objects.filter(pk=run.pk).update(lease_until="2000-01-01T00:00:00Z")
    drive(run)
    assert status(run) == "failed"
    assert "died without progress" in load_state(run.pk).reason


@pytest.mark.req("RUN-10")
def test_the_sweeper_repairs_what_a_crash_left_between_end_and_parent(make_run: MakeRun) -> None:
    run = make_run(actions=[{"do": "child", "input": {"steps": 1}}])
    drive(run)
    child = run.children.get()
    change = [
        system("state_changed", {"from": "queued", "to": "running"}),
        system("state_changed", {"from": "running", "to": "done"}),
    ]
    eventlog.append(child.pk, change)
    assert sweep()["settled"] == 1
    assert drive(run) == "done"


@pytest.mark.req("RUN-1")
def test_a_message_that_arrives_while_the_driver_lets_go_is_not_lost(
    make_run: MakeRun, user: User
) -> None:
    from apps.runs.services.runs import append_user_message

    run = make_run("echo", text="one")

    class Interrupting:
        def stream(self, model: str, messages: Any, context: RunContext) -> Any:
            if len(messages) == 1:
                append_user_message(actor=user, run=run, text="two")
            yield messages[-1]["text"]

        def usage(self, messages: Any, answer: str) -> dict[str, Any]:
            return {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}

    assert drive(run, Ports(model=Interrupting())) == "done"
    texts = [m["text"] for m in load_state(run.pk).messages if m["role"] == "assistant"]
    assert texts == ["one", "two"]


@pytest.mark.req("RUN-1")
def test_retrying_starts_a_new_run_with_the_same_input(make_run: MakeRun, user: User) -> None:
    run = make_run("echo", text="again")
    with pytest.raises(Conflict):
        retry_run(actor=user, run=run)
    drive(run)
    second = retry_run(actor=user, run=run)
    assert drive(second) == "done"
    assert "run_retried" in history(second)
    assert load_state(second.pk).messages[-1]["text"] == "again"
