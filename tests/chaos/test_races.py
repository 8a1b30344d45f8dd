"""What happens between two statements of a driver: somebody else writes, cancels, erases."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction

from apps.registry.models import User
from apps.runs import eventlog
from apps.runs.drive import driver
from apps.runs.drive.driver import advance
from apps.runs.drive.ports import Ports
from apps.runs.eventlog import statement
from apps.runs.eventlog.project import fold_from_scratch, load_state
from apps.runs.models import Approval, Run, Thread
from apps.runs.services.approvals import answer_approval
from apps.runs.services.runs import append_user_message, cancel_run, create_run
from apps.runs.services.settle import settle_ended
from omni.contracts.canonical import canonical
from omni.engine.effects import Finish
from tests.permitted import Permitted

MakeRun = Callable[..., Run]
pytestmark = pytest.mark.django_db(transaction=True)


def drive(run: Run, ports: Ports | None = None) -> str:
    return advance(run.pk, worker_id=uuid.uuid4(), ports=ports)


def history(run: Run) -> list[str]:
    return [event.name or event.kind for event in eventlog.read_all(run.pk)]


def answers(run: Run) -> list[str]:
    return [m["text"] for m in load_state(run.pk).messages if m["role"] == "assistant"]


def assert_sound(run: Run) -> None:
    """The log verifies and the kept state is what its events add up to."""
    assert eventlog.verify(run.pk).ok
    kept, fresh = load_state(run.pk), fold_from_scratch(run.pk)
    assert canonical(kept.as_json()) == canonical(fresh.as_json())


class Said:
    """A model that says one word, and does something first."""

    def __init__(self, before: Callable[[int], None] = lambda call: None) -> None:
        self.before = before
        self.calls = 0

    def stream(self, model: str, messages: Any, context: Any) -> Any:
        self.calls += 1
        yield "a"
        time.sleep(0.06)
        yield "b"
        self.before(self.calls)
        time.sleep(0.06)
        yield "c"

    def usage(self, messages: Any, answer: str) -> dict[str, Any]:
        return {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


@pytest.mark.req("RUN-1", "RUN-7")
def test_a_message_between_reading_and_taking_up_is_seen(
    make_run: MakeRun, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is appended behind a driver's back reaches its state before it decides."""
    run = make_run("echo", text="one")
    original, sent = driver.load_state, []

    def then_a_message(run_id: uuid.UUID) -> Any:
        state = original(run_id)
        if not sent:
            sent.append(append_user_message(actor=user, run=run, text="two"))
        return state

    monkeypatch.setattr(driver, "load_state", then_a_message)
    assert drive(run) == "done"
    assert sent and answers(run) == ["one", "two"]
    assert_sound(run)


@pytest.mark.req("RUN-1", "RUN-7")
def test_a_message_between_two_pieces_of_an_answer_is_seen(make_run: MakeRun, user: User) -> None:
    """The pieces an effect appends itself need not be neighbours in the log."""
    run = make_run("echo", text="one")

    def interrupt(call: int) -> None:
        if call == 1:
            append_user_message(actor=user, run=run, text="two")

    assert drive(run, Ports(model=Said(interrupt))) == "done"
    assert answers(run) == ["abc", "abc"]
    assert_sound(run)


@pytest.mark.req("RUN-1")
def test_a_run_does_not_end_past_a_message_it_has_not_seen(
    make_run: MakeRun, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An end is written only when nothing came in since it was decided."""
    run = make_run("echo", text="one")
    original, sent = driver.decide, []

    def late(run_id: uuid.UUID, state: Any) -> Any:
        effect = original(run_id, state)
        if isinstance(effect, Finish) and not sent:
            sent.append(append_user_message(actor=user, run=run, text="two"))
        return effect

    monkeypatch.setattr(driver, "decide", late)
    assert drive(run) == "done"
    assert sent and answers(run) == ["one", "two"]
    assert_sound(run)


@pytest.mark.req("RUN-9", "RUN-1")
def test_what_a_tool_did_before_a_cancel_is_recorded(make_run: MakeRun, user: User) -> None:
    """A cancel stops what comes next; it does not hide what has happened."""
    run = make_run(actions=[{"do": "tool", "tool": "a"}, {"do": "tool", "tool": "b"}])
    calls: list[str] = []

    class Cancelling(Permitted):
        def call(self, tool: str, arguments: Any, call_id: str, context: Any) -> Any:
            calls.append(tool)
            cancel_run(actor=user, run=run)
            return {"said": tool}

    assert drive(run, Ports(tools=Cancelling())) == "cancelled"
    assert calls == ["a"]
    after = history(run)[history(run).index("cancel_requested") + 1 :]
    # Whether the step is noted as well depends on how soon the driver hears of the cancel.
    assert [name for name in after if name != "step_finished"] == ["tool_result", "state_changed"]
    assert_sound(run)


@pytest.mark.req("RUN-9")
def test_a_cancel_in_the_middle_of_an_answer_is_no_failure_of_the_model(
    make_run: MakeRun, user: User
) -> None:
    run = make_run("echo", text="one")
    assert (
        drive(run, Ports(model=Said(lambda call: cancel_run(actor=user, run=run) and None)))
        == "cancelled"
    )
    names = history(run)
    assert "model_error" not in names
    assert names.index("cancel_requested") > len(names) - 1 - names[::-1].index(
        "assistant_message_delta"
    )


class _Died(BaseException):
    """Stands for a worker that vanishes: nothing catches it, nothing is released."""


def _expire(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(lease_until="2000-01-01T00:00:00Z")


@pytest.mark.req("RUN-10")
def test_a_call_that_kills_every_worker_ends_the_run(make_run: MakeRun) -> None:
    """Taking a run up again is no progress: a poisonous one fails with a reason, soon."""
    run = make_run(actions=[{"do": "tool", "tool": "poison", "idempotent": True}])
    deaths: list[str] = []

    class Poison(Permitted):
        def call(self, tool: str, arguments: Any, call_id: str, context: Any) -> Any:
            deaths.append(call_id)
            raise _Died

    for _ in range(20):
        try:
            drive(run, Ports(tools=Poison()))
        except _Died:
            _expire(run)
        run.refresh_from_db()
        if run.ended_at:
            break
    assert run.status == "failed" and len(set(deaths)) == 1
    assert "died without progress" in load_state(run.pk).reason
    assert len(deaths) <= 10


@pytest.mark.req("RUN-10")
def test_a_worn_out_run_with_a_due_timer_still_ends(make_run: MakeRun) -> None:
    run = make_run(actions=[{"do": "timer", "seconds": 0.01}])
    drive(run)
    time.sleep(0.05)
    Run.objects.filter(pk=run.pk).update(attempts=8)
    drive(run)
    run.refresh_from_db()
    assert run.status == "failed" and run.settled


@pytest.mark.req("RUN-10")
@pytest.mark.parametrize(
    "actions",
    [[{"do": "dance"}], [{}], ["x"], [{"do": "tool"}], [{"do": "timer", "seconds": "soon"}],
     [{"do": "ask", "title": ""}], [{"do": "ask", "title": "x" * 100_000}]],
)  # fmt: skip
def test_a_malformed_script_fails_with_a_reason_at_once(
    make_run: MakeRun, actions: list[Any]
) -> None:
    try:
        run = make_run(actions=actions)
    except Exception as error:  # noqa: BLE001
        assert type(error).__name__ == "InvalidInput"
        return
    assert drive(run) == "failed"
    assert load_state(run.pk).reason


@pytest.mark.req("RUN-10")
def test_a_model_that_breaks_is_an_event_not_a_dead_worker(make_run: MakeRun) -> None:
    class Broken(Said):
        def stream(self, model: str, messages: Any, context: Any) -> Any:
            raise RuntimeError("wires crossed")
            yield ""

    run = make_run("echo", text="one")
    assert drive(run, Ports(model=Broken())) == "failed"
    assert history(run).count("model_error") == 3


@pytest.mark.req("RUN-14", "RUN-11")
@pytest.mark.parametrize("output", ["large", "deep", "nan", "object"])
def test_an_output_that_does_not_fit_is_settled_once(make_run: MakeRun, output: str) -> None:
    """A large output becomes an artifact, an impossible one an error; neither repeats the call."""
    calls: list[str] = []
    deep: Any = []
    for _ in range(100):
        deep = [deep]
    values = {"large": "x" * 200_000, "deep": deep, "nan": float("nan"), "object": object()}

    class Tool(Permitted):
        def call(self, tool: str, arguments: Any, call_id: str, context: Any) -> Any:
            calls.append(call_id)
            return values[output]

    run = make_run(actions=[{"do": "tool", "tool": "t"}])
    outcome = drive(run, Ports(tools=Tool()))
    assert len(calls) == 1
    if output == "large":
        assert outcome == "done" and "artifact_ref" in history(run)
    else:
        assert outcome == "failed" and "tool_error" in history(run)
    assert_sound(run)


@pytest.mark.req("RUN-10")
def test_a_lost_connection_does_not_lose_the_result_of_a_call(make_run: MakeRun) -> None:
    """The database drops the driver in the middle of a call; the result is written all the same."""
    calls: list[str] = []

    class Tool(Permitted):
        def call(self, tool: str, arguments: Any, call_id: str, context: Any) -> Any:
            calls.append(call_id)
            with pytest.raises(OperationalError), connection.cursor() as cursor:
                cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
            return {"ok": True}

    run = make_run(actions=[{"do": "tool", "tool": "t"}, {"do": "tool", "tool": "t"}])
    assert drive(run, Ports(tools=Tool())) == "done"
    assert len(calls) == len(set(calls)) == 2
    assert history(run).count("tool_result") == 2
    assert_sound(run)


@pytest.mark.req("RUN-6", "RUN-10")
@pytest.mark.parametrize("committed", [True, False])
def test_an_append_whose_answer_was_lost_is_looked_up_before_it_is_repeated(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch, committed: bool
) -> None:
    """Every append in turn loses its answer, once after and once before its commit."""
    original, count = statement.fetch, 0

    def answer_lost(*arguments: Any) -> Any:
        nonlocal count
        count += 1
        if count % 2 == 0:
            return original(*arguments)
        if committed:
            original(*arguments)
        raise OperationalError("server closed the connection unexpectedly")

    run = make_run("script", actions=[
        {"do": "step"}, {"do": "tool", "tool": "t"}, {"do": "ask", "title": "Go?"}])  # fmt: skip
    monkeypatch.setattr(statement, "fetch", answer_lost)

    class Tool(Permitted):
        def call(self, tool: str, arguments: Any, call_id: str, context: Any) -> Any:
            return None

    assert drive(run, Ports(tools=Tool())) == "waiting for approval"
    assert count >= 3
    monkeypatch.undo()
    assert history(run) == [
        "run_created", "state_changed", "step_finished", "tool_call", "tool_result",
        "step_finished", "approval_requested", "state_changed",
    ]  # fmt: skip
    assert Approval.objects.filter(run=run).count() == 1
    assert_sound(run)


def _meanwhile(*steps: Callable[[], Any]) -> tuple[threading.Thread, threading.Event, list[Any]]:
    """Another connection that takes the first step, says so, waits, then takes the others."""
    ready, errors = threading.Event(), list[Any]()

    def work() -> None:
        try:
            with transaction.atomic():
                steps[0]()
                ready.set()
                time.sleep(0.4)
                for step in steps[1:]:
                    step()
        except Exception as error:  # noqa: BLE001
            errors.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    return thread, ready, errors


@pytest.mark.req("RUN-10")
def test_settling_a_child_and_cancelling_its_parent_do_not_lock_each_other_out(
    make_run: MakeRun,
) -> None:
    """Rows are locked from parent to child, everywhere."""
    run = make_run(actions=[{"do": "child", "input": {"steps": 1}}])
    drive(run)
    child = run.children.get()
    drive(child)
    Run.objects.filter(pk=child.pk).update(settled=False)

    def lock(one: Run) -> Callable[[], Any]:
        return lambda: Run.objects.select_for_update().get(pk=one.pk)

    thread, ready, errors = _meanwhile(lock(run), lock(child))
    assert ready.wait(60)
    settle_ended(child.pk)
    thread.join(60)
    assert errors == []


@pytest.mark.req("POL-3")
def test_answering_and_ending_do_not_lock_each_other_out(make_run: MakeRun, user: User) -> None:
    """The run is locked before its approvals, everywhere."""
    run = make_run(actions=[{"do": "ask", "title": "Go?"}])
    drive(run)
    approval = Approval.objects.get()
    thread, ready, errors = _meanwhile(
        lambda: Run.objects.select_for_update().get(pk=run.pk),
        lambda: Approval.objects.filter(pk=approval.pk).update(reason="seen"),
    )
    assert ready.wait(60)
    answer_approval(actor=user, approval=approval, answer="approve")
    thread.join(60)
    assert errors == []


@pytest.mark.req("RUN-6")
def test_the_same_run_started_twice_at_once_is_one_run(user: User, thread: Thread) -> None:
    """Two requests with one id, neither of which sees the other's row yet."""
    run_id = uuid.uuid4()

    def start() -> Run:
        return create_run(
            actor=user, thread=thread, run_kind="script", input={"steps": 1}, run_id=run_id
        )

    other, ready, errors = _meanwhile(start)
    assert ready.wait(60)
    assert start().pk == run_id
    other.join(60)
    assert errors == [] and history(Run.objects.get()) == ["run_created"]
