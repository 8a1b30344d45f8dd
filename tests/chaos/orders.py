"""What a chaos worker can be told to do; each order runs in a process of its own."""

from __future__ import annotations

import time
import uuid
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.db import connection
from django.utils import timezone

from apps.registry.models import User
from apps.registry.services.projects import create_project
from apps.runs import eventlog
from apps.runs.drive.driver import advance
from apps.runs.eventlog.project import fold_from_scratch, load_state
from apps.runs.models import Approval, Run, Thread
from apps.runs.services.approvals import answer_approval
from apps.runs.services.runs import create_run, create_thread
from apps.runs.services.settle import settle_ended
from omni.contracts.canonical import canonical
from tests.chaos.faults import Fault

EMAIL = "chaos@example.org"
PAST = "2000-01-01T00:00:00Z"


def make(*, count: int = 1, run_kind: str = "script", text: str = "", **input: Any) -> list[str]:
    """New runs in one thread that is made when it is missing."""
    thread = Thread.objects.filter(title="Chaos").first() or _thread()
    return [
        str(
            create_run(
                actor=thread.created_by, thread=thread, run_kind=run_kind, input=input, text=text
            ).pk
        )
        for _ in range(count)
    ]


def _thread() -> Thread:
    user = User.objects.create_user(EMAIL, None)
    project = create_project(actor=user, name="Chaos")
    return create_thread(actor=user, project=project, title="Chaos")


def drive(
    *,
    runs: list[str],
    effects: str,
    fault: str = "",
    fenced: bool = True,
    seconds: float = 90,
    skew: float = 0,
) -> Any:
    """Advance these runs and their children until all have ended or wait for a person."""
    _set_clock(skew)
    struck = Fault(fault, effects)
    struck.guard_appends(fenced=fenced)
    worker, ports = uuid.uuid4(), struck.ports()
    outcomes: list[str] = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        ready = [run for run in _family(runs) if run.ended_at is None and _may_go_on(run)]
        for run in ready:
            outcomes.append(advance(run.pk, worker_id=worker, ports=ports))
        for run in _family(runs):
            if run.ended_at is not None and not run.settled:
                settle_ended(run.pk)
        if not any(run.ended_at is None and not _asks(run) for run in _family(runs)):
            break
        if "fenced" in outcomes:
            break
        time.sleep(0.01)
    return {"outcomes": outcomes, "counts": struck.counts}


def _set_clock(seconds: float) -> None:
    """Let this process's clock be wrong by so much; each order has a process of its own."""
    right = timezone.now
    timezone.now = lambda: right() + timedelta(seconds=seconds)


def farthest_time(*, runs: list[str]) -> float:
    """By how many seconds an event or a timer is off the database's clock, at most."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now = cursor.fetchone()[0]
    times = []
    for run in _family(runs):
        for event in eventlog.read_all(run.pk):
            times.append(event.at)
            if event.name == "timer_set" and event.payload:
                times.append(datetime.fromisoformat(event.payload["due_at"]))
    return max(abs((now - each).total_seconds()) for each in times)


def _family(runs: list[str]) -> list[Run]:
    """The runs in the order given, then their children."""
    found = {str(run.pk): run for run in Run.objects.filter(pk__in=runs)}
    children = Run.objects.filter(parent__in=runs).order_by("parent", "created_at")
    return [*(found[pk] for pk in runs), *children]


def _asks(run: Run) -> bool:
    """It, or the child it waits for, waits for an answer."""
    pending = Approval.objects.filter(state=Approval.State.PENDING)
    return pending.filter(run=run).exists() or pending.filter(run__parent=run).exists()


def _may_go_on(run: Run) -> bool:
    now = timezone.now()
    if run.lease_owner is not None:
        return run.lease_until is not None and run.lease_until < now
    return run.due_at is not None and not _asks(run)


def finish(*, runs: list[str], effects: str) -> int:
    """A sound worker and a person who answers, until everything has ended."""
    for turn in range(8):
        step_clock()
        drive(runs=runs, effects=effects)
        if not answer(runs=runs):
            return turn
    raise AssertionError("the runs do not end")


def answer(*, runs: list[str]) -> int:
    """Answer what is asked: go on."""
    asking = [run.pk for run in _family(runs)]
    pending = list(Approval.objects.filter(state=Approval.State.PENDING, run__in=asking))
    for approval in pending:
        word = "continue" if "continue" in approval.options else "approve"
        answer_approval(actor=approval.run.created_by, approval=approval, answer=word)
    return len(pending)


def step_clock() -> int:
    """As if the clock had jumped far ahead: every lease is over, everything is due."""
    leased = Run.objects.filter(lease_owner__isnull=False).update(lease_until=PAST)
    Run.objects.filter(due_at__isnull=False, ended_at=None).update(due_at=PAST)
    return leased


def begun(*, runs: list[str]) -> bool:
    return Run.objects.filter(pk__in=runs, status="running").exists()


def calling(*, runs: list[str]) -> bool:
    """One of them is in the middle of a call, by its log."""
    names = [{event.kind for event in eventlog.read_all(uuid.UUID(run))} for run in runs]
    return any("tool_call" in kinds and "tool_result" not in kinds for kinds in names)


def unfinished() -> list[str]:
    return [str(pk) for pk in Run.objects.filter(ended_at=None).values_list("pk", flat=True)]


def judge(*, runs: list[str], effects: str) -> list[dict[str, Any]]:
    """Everything that must hold for each run and its children, as a list of findings."""
    path = Path(effects)
    lines = path.read_text().split("\n")[:-1] if path.exists() else []
    done = Counter(tuple(line.split(" ")) for line in lines)
    return [_judge(run, done) for run in _family(runs)]


def _judge(run: Run, done: Counter[tuple[str, ...]]) -> dict[str, Any]:
    events = list(eventlog.read_all(run.pk))
    names = [event.name or event.kind for event in events]
    keys = [event.idempotency_key for event in events if event.idempotency_key]
    payloads = [(event.kind, event.payload or {}) for event in events]
    calls = [payload for kind, payload in payloads if kind == "tool_call"]
    kept, fresh = load_state(run.pk), fold_from_scratch(run.pk)
    wrong = []
    if [event.seq for event in events] != list(range(1, len(events) + 1)):
        wrong.append("the numbers have a gap")
    if not eventlog.verify(run.pk).ok:
        wrong.append("the chain does not verify")
    if len(keys) != len(set(keys)):
        wrong.append("an event is there twice")
    if len({call["call_id"] for call in calls}) != len(calls):
        wrong.append("a call was intended twice")
    if canonical(kept.as_json()) != canonical(fresh.as_json()):
        wrong.append("the kept state is not what the events add up to")
    wrong += _misdone(run, calls, done)
    return {
        "run": str(run.pk),
        "status": run.status,
        "settled": run.settled,
        "reason": fresh.reason,
        "steps": fresh.steps_done,
        "names": names,
        "actors": [event.actor for event in events],
        "wrong": wrong,
    }


def _misdone(run: Run, calls: list[dict[str, Any]], done: Counter[tuple[str, ...]]) -> list[str]:
    """Effects without an intent, and effects that took place more often than they may."""
    wrong = []
    intended = {call["call_id"]: call for call in calls}
    for (tool, call_id, run_id), times in done.items():
        if run_id != str(run.pk):
            continue
        if call_id not in intended:
            wrong.append(f"{tool} took place without an intent")
        elif times > 1 and not intended[call_id]["idempotent"]:
            wrong.append(f"{tool} took place {times} times")
    return wrong
