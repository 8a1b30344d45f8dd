"""The short way into the log, for a driver that knows the last event: as strict as the long one."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from apps.runs import eventlog
from apps.runs.drive.driver import advance
from apps.runs.eventlog import (
    Event,
    Fenced,
    Lease,
    NewEvent,
    RunCancelling,
    RunEnded,
    Tip,
    statement,
    system,
)
from apps.runs.models import Run
from apps.runs.services.leases import take_lease
from omni.contracts.errors import Conflict

MakeRun = Callable[..., Run]
pytestmark = pytest.mark.django_db(transaction=True)
SHORT, LONG = "runs_append_next(", "runs_append("


def step(number: int, *, key: bool = True) -> NewEvent:
    return system("step_finished", {"step": f"s{number}"}, key=f"step-{number}" if key else None)


def numbers(run: Run) -> list[int]:
    return [event.seq for event in eventlog.read_all(run.pk)]


class Pen:
    """A driver's lease, and what it knows of its run."""

    def __init__(self, run: Run) -> None:
        claim = take_lease(run.pk, owner=uuid.uuid4())
        assert claim is not None
        self.run, self.lease = run, claim.lease
        last = eventlog.read(run.pk)[-1]
        self.tip = Tip(last.seq, last.hash)

    def write(self, event: NewEvent, *, tip: Tip | None = None) -> Event:
        return eventlog.append(self.run.pk, [event], lease=self.lease, tip=tip or self.tip)[0]

    def ways(self, event: NewEvent, *, tip: Tip | None = None) -> list[str]:
        """Which functions were asked, in order."""
        with CaptureQueriesContext(connection) as asked:
            self.write(event, tip=tip)
        text = [query["sql"] for query in asked.captured_queries]
        return [way for sql in text for way in (SHORT, LONG) if way in sql]


@pytest.fixture
def pen(make_run: MakeRun) -> Pen:
    return Pen(make_run(steps=9))


@pytest.mark.req("RUN-3", "RUN-5")
def test_an_event_behind_the_known_one_takes_the_short_way_and_verifies(pen: Pen) -> None:
    assert pen.ways(step(1)) == [SHORT]
    written = eventlog.read(pen.run.pk)[-1]
    pen.tip = Tip(written.seq, written.hash)
    answered = pen.write(step(2))
    assert answered == eventlog.read(pen.run.pk)[-1]
    assert answered.prev_hash == written.hash and answered.at >= written.at
    assert numbers(pen.run) == [1, 2, 3]
    assert eventlog.verify(pen.run.pk).ok


@pytest.mark.req("RUN-10")
def test_it_renews_the_lease_and_counts_as_progress(pen: Pen) -> None:
    before = Run.objects.get(pk=pen.run.pk)
    pen.write(step(1))
    after = Run.objects.get(pk=pen.run.pk)
    assert before.lease_until and after.lease_until and after.lease_until > before.lease_until
    assert (before.attempts, after.attempts) == (1, 0)
    assert (after.status, after.due_at) == (before.status, before.due_at)


@pytest.mark.req("RUN-3")
def test_what_somebody_else_wrote_meanwhile_is_never_overwritten(pen: Pen) -> None:
    eventlog.append(pen.run.pk, [step(7, key=False)])
    assert pen.ways(step(1)) == [SHORT, LONG]
    assert numbers(pen.run) == [1, 2, 3]
    assert pen.ways(step(2), tip=Tip(3, "f" * 64)) == [SHORT, LONG]
    assert numbers(pen.run) == [1, 2, 3, 4]
    assert eventlog.verify(pen.run.pk).ok


@pytest.mark.req("RUN-10")
def test_a_fenced_worker_cannot_write_even_if_it_knows_the_last_event(pen: Pen) -> None:
    Run.objects.filter(pk=pen.run.pk).update(lease_until="2000-01-01T00:00:00Z")
    stale, pen.lease = pen.lease, Pen(pen.run).lease
    for wrong in (stale, Lease(uuid.uuid4(), pen.lease.epoch, 1000)):
        with pytest.raises(Fenced):
            eventlog.append(pen.run.pk, [step(1)], lease=wrong, tip=pen.tip)
    assert numbers(pen.run) == [1]
    pen.write(step(1))
    assert numbers(pen.run) == [1, 2]


@pytest.mark.req("RUN-9")
def test_after_a_cancel_only_results_are_written(pen: Pen) -> None:
    asked = eventlog.append(pen.run.pk, [system("cancel_requested", {})])[0]
    tip = Tip(asked.seq, asked.hash)
    call = {"call_id": "c", "tool": "x", "version": "1.0.0", "arguments": {}, "idempotent": True}
    with pytest.raises(RunCancelling):
        pen.write(NewEvent("tool_call", call), tip=tip)
    assert pen.ways(step(1), tip=tip) == [SHORT, LONG]
    assert numbers(pen.run) == [1, 2, 3]


@pytest.mark.req("RUN-8")
def test_changes_of_state_take_the_long_way_and_an_ended_run_takes_nothing(pen: Pen) -> None:
    with pytest.raises(Conflict):
        pen.write(system("state_changed", {"from": "queued", "to": "done"}))
    ended = pen.write(system("state_changed", {"from": "queued", "to": "failed"}))
    with pytest.raises(RunEnded):
        pen.write(step(1), tip=Tip(ended.seq, ended.hash))
    assert numbers(pen.run) == [1, 2]


@pytest.mark.req("RUN-8")
def test_the_function_itself_refuses_events_that_change_the_run(pen: Pen) -> None:
    """Whoever calls it: what has to change more than the last event is not for the short way."""
    for name in ("state_changed", "cancel_requested", "lease_taken"):
        text = eventlog.seal(step(1), "somebody").text.replace("step_finished", name)
        fence = (pen.lease.epoch, 1000, pen.lease.owner)
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT * FROM runs_append_next(%s, %s::jsonb, %s, %s, %s, %s, %s)",
                [pen.run.pk, text, *fence, pen.tip.seq + 1, pen.tip.hash],
            )
            assert cursor.fetchone() == (None, None)
    assert numbers(pen.run) == [1]


@pytest.mark.req("RUN-6")
def test_a_repeated_key_answers_with_the_event_that_is_there(pen: Pen) -> None:
    first = pen.write(step(1))
    pen.tip = Tip(first.seq, first.hash)
    assert pen.write(step(1)) == first
    with pytest.raises(Conflict):
        pen.write(system("step_finished", {"step": "another"}, key="step-1"))
    with transaction.atomic():
        assert pen.write(step(1)) == first
        pen.write(step(2))
    assert numbers(pen.run) == [1, 2, 3]


@pytest.mark.req("RUN-3")
def test_a_transaction_that_is_rolled_back_takes_its_event_with_it(pen: Pen) -> None:
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        pen.write(step(1))
        raise ZeroDivisionError
    assert pen.ways(step(1)) == [SHORT]
    assert numbers(pen.run) == [1, 2]


@pytest.mark.req("RUN-10")
@pytest.mark.parametrize("inside", [False, True])
def test_a_pooler_that_forgets_prepared_statements_loses_nothing(
    pen: Pen, inside: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statement, "_prepares", True)
    first = pen.write(step(1))
    link = connection.connection
    assert link is not None
    link.pgconn.exec_(b"DEALLOCATE ALL")  # behind the back of psycopg, as another session would
    pen.tip = Tip(first.seq, first.hash)
    if inside:
        with transaction.atomic():
            pen.write(step(2))
    else:
        pen.write(step(2))
    assert not statement._prepares
    assert numbers(pen.run) == [1, 2, 3]


@pytest.mark.req("RUN-10")
def test_a_driver_takes_the_short_way_for_its_steps(make_run: MakeRun) -> None:
    run = make_run(steps=5)
    with CaptureQueriesContext(connection) as asked:
        assert advance(run.pk, worker_id=uuid.uuid4()) == "done"
    text = [query["sql"] for query in asked.captured_queries]
    assert sum(SHORT in sql for sql in text) == 5
    assert sum(LONG in sql for sql in text) == 2
    assert eventlog.verify(run.pk).ok
