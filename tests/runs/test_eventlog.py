"""The event log: gapless, append-only, chained, idempotent, validated, erasable only openly."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from apps.runs import eventlog
from apps.runs.eventlog import Fenced, Lease, NewEvent, RunCancelling, RunEnded, system
from apps.runs.eventlog.project import fold_from_scratch, load_state, rebuild, save_projection
from apps.runs.models import Run
from apps.runs.services.leases import take_lease
from omni.contracts.canonical import canonical
from omni.contracts.errors import Conflict, InvalidInput, NotFound, OmniError
from omni.engine.lifecycle import LEGAL, Status

SOMEBODY = f"user:{uuid.uuid4()}"
MakeRun = Callable[..., Run]


def step(number: int, key: str | None = None) -> NewEvent:
    return system("step_finished", {"step": f"s{number}"}, key=key)


def numbers(run: Run) -> list[int]:
    return [event.seq for event in eventlog.read_all(run.pk)]


@pytest.mark.req("RUN-3", "RUN-5")
def test_batches_are_numbered_from_one_and_chained(make_run: MakeRun) -> None:
    run = make_run(steps=3)
    eventlog.append(run.pk, [step(1), step(2)])
    eventlog.append(run.pk, [step(3)])
    assert numbers(run) == [1, 2, 3, 4]
    verdict = eventlog.verify(run.pk)
    assert verdict.ok and verdict.events == 4


@pytest.mark.req("RUN-3")
@pytest.mark.django_db(transaction=True)
def test_eight_writers_on_one_run_leave_no_gap(make_run: MakeRun) -> None:
    run = make_run(steps=1)
    seen: list[int] = []
    lock = threading.Lock()

    def write(writer: int) -> None:
        try:
            for number in range(1, 26):
                done = eventlog.append(run.pk, [step(number), step(number)], actor="system")
                with lock:
                    seen.extend(event.seq for event in done)
        finally:
            connection.close()

    threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(seen) == list(range(2, 402))
    assert numbers(run) == list(range(1, 402))
    assert eventlog.verify(run.pk).ok


@pytest.mark.req("RUN-4")
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE runs_runevent SET actor = 'user:me' WHERE run_id = %s",
        "UPDATE runs_runevent SET payload = NULL WHERE run_id = %s",
        "UPDATE runs_runevent SET payload = '{}' WHERE run_id = %s",
        "DELETE FROM runs_runevent WHERE run_id = %s",
        "TRUNCATE runs_runevent",
    ],
)
def test_the_database_refuses_changes_even_from_raw_sql(make_run: MakeRun, statement: str) -> None:
    run = make_run(steps=1)
    before = [event.as_json() for event in eventlog.read_all(run.pk)]
    with (
        pytest.raises(DatabaseError, match="append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(statement, [run.pk] if "%s" in statement else None)
    assert [event.as_json() for event in eventlog.read_all(run.pk)] == before


@pytest.mark.req("RUN-4", "RUN-5")
def test_erasure_leaves_a_tombstone_and_a_verifiable_chain(make_run: MakeRun) -> None:
    run = make_run("echo", text="my address is 1 High Street")
    eventlog.erase_payload(run.pk, 2, reason="asked for by the person", actor=SOMEBODY)
    erased = eventlog.event_at(run.pk, 2)
    assert erased is not None and erased.payload is None and erased.payload_hash
    assert "High Street" not in str([e.as_json() for e in eventlog.read_all(run.pk)])
    verdict = eventlog.verify(run.pk)
    assert verdict.ok and verdict.erased == 1
    with pytest.raises(Conflict):
        eventlog.erase_payload(run.pk, 2, reason="again", actor=SOMEBODY)
    with pytest.raises(Conflict):
        eventlog.erase_payload(run.pk, 3, reason="hide the erasure", actor=SOMEBODY)
    with pytest.raises(NotFound):
        eventlog.erase_payload(run.pk, 99, reason="nothing", actor=SOMEBODY)


@pytest.mark.req("RUN-5")
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ('payload = \'{"step": "s7"}\'', "payload"),
        ("actor = 'user:forged'", "hash"),
        ("at = at + interval '1 second'", "hash"),
        ("prev_hash = repeat('0', 64)", "predecessor"),
    ],
)
def test_tampering_behind_the_triggers_is_found(
    make_run: MakeRun, change: str, reason: str
) -> None:
    run = make_run(steps=2)
    eventlog.append(run.pk, [step(1), step(2)])
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE runs_runevent DISABLE TRIGGER USER")
        cursor.execute(f"UPDATE runs_runevent SET {change} WHERE run_id = %s AND seq = 3", [run.pk])
        cursor.execute("ALTER TABLE runs_runevent ENABLE TRIGGER USER")
    verdict = eventlog.verify(run.pk)
    assert not verdict.ok and verdict.seq == 3 and reason in verdict.reason


@pytest.mark.req("RUN-6")
def test_the_same_key_twice_is_one_event(make_run: MakeRun) -> None:
    run = make_run(steps=1)
    first = eventlog.append(run.pk, [step(1, key="a")])
    again = eventlog.append(run.pk, [step(1, key="a"), step(2, key="b")])
    assert again[0] == first[0]
    assert numbers(run) == [1, 2, 3]
    with pytest.raises(Conflict, match="another event"):
        eventlog.append(run.pk, [step(9, key="a")])
    assert numbers(run) == [1, 2, 3]


@pytest.mark.req("RUN-2")
@pytest.mark.parametrize(
    "event",
    [
        NewEvent("gossip", {}),
        NewEvent("system_event", {}, name="gossip"),
        NewEvent("user_message", {}),
        NewEvent("user_message", {"text": 7}),
        NewEvent("user_message", {"text": "x", "colour": "red"}),
        NewEvent("user_message", {"text": "x" * 100_000}),
        NewEvent("system_event", {"step": "s1", "output": float("nan")}, name="step_finished"),
        NewEvent("user_message", {"text": "nul \x00 byte"}),
    ],
)
def test_a_bad_event_is_refused_and_nothing_is_written(make_run: MakeRun, event: NewEvent) -> None:
    run = make_run(steps=1)
    with pytest.raises(OmniError):
        eventlog.append(run.pk, [step(1), event])
    assert numbers(run) == [1]


@pytest.mark.req("RUN-2")
def test_deep_nesting_and_foreign_runs_are_refused(make_run: MakeRun) -> None:
    run = make_run(steps=1)
    deep: Any = "x"
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(InvalidInput):
        eventlog.append(run.pk, [system("step_finished", {"step": "s1", "output": deep})])
    with pytest.raises(NotFound):
        eventlog.append(uuid.uuid4(), [step(1)])
    assert numbers(run) == [1]


@pytest.mark.req("RUN-8")
def test_the_database_and_the_engine_have_one_table_of_transitions(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT before, after FROM runs_transition")
        assert {(Status(a), Status(b)) for a, b in cursor.fetchall()} == LEGAL


@pytest.mark.req("RUN-8")
@pytest.mark.parametrize("after", list(Status))
def test_an_illegal_transition_leaves_the_log_unchanged(make_run: MakeRun, after: Status) -> None:
    run = make_run(steps=1)
    change = system("state_changed", {"from": "queued", "to": after.value})
    if (Status.QUEUED, after) in LEGAL:
        eventlog.append(run.pk, [change])
        run.refresh_from_db()
        assert run.status == after
    else:
        with pytest.raises(Conflict):
            eventlog.append(run.pk, [step(1), change])
        assert numbers(run) == [1]
    with pytest.raises((Conflict, RunEnded)):
        eventlog.append(run.pk, [system("state_changed", {"from": "done", "to": "running"})])


@pytest.mark.req("RUN-9")
def test_after_a_cancel_no_call_and_no_delta_can_be_written(make_run: MakeRun) -> None:
    run = make_run(steps=1)
    eventlog.append(run.pk, [system("cancel_requested", {})])
    delta = {"message_id": str(uuid.uuid4()), "index": 0, "text": "late"}
    call = {"call_id": "c", "tool": "x", "version": "1.0.0", "arguments": {}, "idempotent": True}
    for event in (NewEvent("assistant_message_delta", delta), NewEvent("tool_call", call)):
        with pytest.raises(RunCancelling):
            eventlog.append(run.pk, [event])
    assert numbers(run) == [1, 2]


@pytest.mark.req("RUN-10")
def test_a_fenced_worker_cannot_write(make_run: MakeRun) -> None:
    run = make_run(steps=1)
    claim = take_lease(run.pk, owner=uuid.uuid4())
    assert claim is not None
    assert take_lease(run.pk, owner=uuid.uuid4()) is None
    Run.objects.filter(pk=run.pk).update(lease_until="2000-01-01T00:00:00Z")
    second = take_lease(run.pk, owner=uuid.uuid4())
    assert second is not None
    with pytest.raises(Fenced):
        eventlog.append(run.pk, [step(1)], lease=claim.lease)
    with pytest.raises(Fenced):
        forged = Lease(uuid.uuid4(), second.lease.epoch, 1000)
        eventlog.append(run.pk, [step(1)], lease=forged)
    eventlog.append(run.pk, [step(1)], lease=second.lease)
    assert numbers(run) == [1, 2]


@pytest.mark.req("RUN-7")
def test_a_wrong_projection_is_found_and_rebuilt(make_run: MakeRun) -> None:
    run = make_run(steps=2)
    eventlog.append(run.pk, [step(1)])
    save_projection(run.pk, load_state(run.pk))
    eventlog.append(run.pk, [step(2)])
    assert canonical(load_state(run.pk).as_json()) == canonical(fold_from_scratch(run.pk).as_json())
    assert rebuild(run.pk)
    wrong = load_state(run.pk)
    wrong.steps_done = 99
    save_projection(run.pk, wrong)
    assert not rebuild(run.pk)
    assert load_state(run.pk).steps_done == 2
