"""What is kept beside the log: projections, hints, redacted payloads, many runs at once."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from apps.registry.models import User
from apps.runs import eventlog
from apps.runs.drive.driver import advance
from apps.runs.eventlog import system
from apps.runs.eventlog.project import load_state, rebuild
from apps.runs.models import Projection, Run
from apps.runs.services import sweep as sweeping
from apps.runs.services.leases import due_runs
from apps.runs.services.sweep import sweep
from omni.contracts.errors import Conflict

MakeRun = Callable[..., Run]


@pytest.mark.req("RUN-4", "RUN-7")
@pytest.mark.django_db(transaction=True)
def test_what_is_erased_leaves_the_kept_state_too(make_run: MakeRun, user: User) -> None:
    run = make_run("echo", text="1 High Street")
    assert advance(run.pk, worker_id=uuid.uuid4()) == "done"
    assert "High Street" in str(Projection.objects.get(pk=run.pk).state)
    for event in eventlog.read_all(run.pk):
        if event.payload and "High Street" in str(event.payload):
            eventlog.erase_payload(run.pk, event.seq, reason="asked", actor=f"user:{user.pk}")
    assert not Projection.objects.filter(pk=run.pk, state__icontains="High Street").exists()
    assert "High Street" not in str(load_state(run.pk).as_json())
    assert rebuild(run.pk)
    assert eventlog.verify(run.pk).ok


@pytest.mark.req("RUN-4")
@pytest.mark.django_db(transaction=True)
def test_a_live_run_keeps_what_it_decides_by(make_run: MakeRun, user: User) -> None:
    """Erasing a recorded call under a running run would have it made again."""
    run = make_run(actions=[{"do": "timer", "seconds": 60}])
    advance(run.pk, worker_id=uuid.uuid4())
    with pytest.raises(Conflict):
        eventlog.erase_payload(run.pk, 3, reason="asked", actor=f"user:{user.pk}")
    assert eventlog.verify(run.pk).erased == 0


@pytest.mark.req("RUN-2", "TEL-3")
@pytest.mark.django_db
def test_redaction_takes_secrets_and_nothing_else(make_run: MakeRun) -> None:
    """A long or deep payload within the limits is stored whole, but for the secret in it."""
    run = make_run(steps=1)
    deep: Any = "sk-" + "a1B2" * 8
    for _ in range(20):
        deep = {"deeper": deep}
    output = {"numbers": list(range(3000)), "deep": deep, "password": "hunter2hunter2"}
    eventlog.append(run.pk, [system("step_finished", {"step": "s1", "output": output})])
    stored = eventlog.read(run.pk, after=1)[0].payload
    assert stored is not None
    assert stored["output"]["numbers"] == list(range(3000))
    assert "a1B2" not in str(stored) and "hunter2" not in str(stored)
    assert str(stored).count("deeper") == 20


@pytest.mark.req("RUN-10")
@pytest.mark.django_db(transaction=True)
def test_the_sweeper_does_not_flood_the_queue(make_run: MakeRun) -> None:
    """While all workers are busy, a due run is hinted at now and then, not at every sweep."""
    run = make_run(steps=1)
    assert due_runs() == [run.pk]
    assert due_runs() == []
    Run.objects.filter(pk=run.pk).update(due_at="2000-01-01T00:00:00Z")
    assert due_runs() == [run.pk]


@pytest.mark.req("RUN-10")
@pytest.mark.django_db(transaction=True)
def test_one_broken_run_does_not_stop_the_sweeper(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = [make_run(steps=0) for _ in range(3)]
    for run in ended:
        assert advance(run.pk, worker_id=uuid.uuid4()) == "done"
    Run.objects.update(settled=False)
    original = sweeping.settle_ended

    def settle(run_id: uuid.UUID) -> bool:
        if run_id == ended[1].pk:
            raise RuntimeError("broken")
        return original(run_id)

    monkeypatch.setattr(sweeping, "settle_ended", settle)
    assert sweep()["settled"] == 2


@pytest.mark.req("RUN-3")
@pytest.mark.django_db(transaction=True)
def test_sixty_four_runs_written_at_once_are_each_gapless(make_run: MakeRun) -> None:
    """Sixteen writers go round all of 64 runs, so that several are at each at any time."""
    runs = [make_run(steps=1) for _ in range(64)]
    errors: list[Exception] = []

    def write(writer: int) -> None:
        try:
            for at in range(len(runs)):
                run = runs[(at + writer * 4) % len(runs)]
                events = [system("step_finished", {"step": f"s{n}"}) for n in (1, 2, 3)]
                eventlog.append(run.pk, events, actor="system")
        except Exception as error:  # noqa: BLE001
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=write, args=(n,)) for n in range(16)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert errors == []
    for run in runs:
        verdict = eventlog.verify(run.pk)
        assert verdict.ok and verdict.events == 1 + 16 * 3
