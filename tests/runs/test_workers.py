"""Workers and beat report themselves; who is alive is judged by the database's clock."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest
from celery import current_app
from django.conf import settings
from django.db.models.functions import Now
from django.test import Client
from kombu import Connection

from apps.registry.models import User
from apps.runs.models import Run, Worker
from apps.runs.selectors import holder_of, live_workers, workers, workers_seen_by
from apps.runs.services.leases import take_lease
from apps.runs.services.workers import (
    drain_worker,
    forget_old_workers,
    ready_worker,
    report_worker,
    start_worker,
    stop_worker,
)
from apps.runs.wakeup import ADVANCE
from omni import config
from tests.chaos.crew import ROOT, environment, test_database_url
from tests.services.installation import eventually

LONG_AGO = Now() - timedelta(minutes=5)


def state_of(worker_id: uuid.UUID) -> str:
    return str(workers().values_list("state", flat=True).get(pk=worker_id))


@pytest.mark.req("WRK-1")
def test_a_worker_is_alive_until_it_stops_or_falls_silent(db: None) -> None:
    one = start_worker(kind=Worker.Kind.WORKER, pid=1, queues=["omni"])
    two = start_worker(kind=Worker.Kind.WORKER, pid=2)
    assert {w.pk for w in live_workers()} == {one, two}
    stop_worker(one)
    Worker.objects.filter(pk=two).update(seen_at=LONG_AGO)
    assert list(live_workers()) == []
    assert report_worker(two)
    assert [w.pk for w in live_workers(Worker.Kind.WORKER)] == [two]
    assert list(live_workers(Worker.Kind.BEAT)) == []


@pytest.mark.req("WRK-1")
def test_a_workers_life(make_run: Callable[..., Run]) -> None:
    """From its first report to its last; what it drives is told by leases alone."""
    pk = start_worker(kind=Worker.Kind.WORKER, pid=1, is_ready=False)
    assert state_of(pk) == "starting"
    assert ready_worker(pk, queues=["omni"], concurrency=2)
    assert state_of(pk) == "idle"
    run = make_run(steps=1)
    assert holder_of(run) is None
    assert take_lease(run.pk, owner=pk)
    assert state_of(pk) == "busy"
    assert holder_of(run) == Worker.objects.get(pk=pk)
    Run.objects.filter(pk=run.pk).update(lease_until=LONG_AGO)
    assert state_of(pk) == "idle" and holder_of(run) is None
    drain_worker(pk)
    assert state_of(pk) == "draining"
    Worker.objects.filter(pk=pk).update(seen_at=LONG_AGO)
    assert state_of(pk) == "lost"
    stop_worker(pk)
    assert state_of(pk) == "stopped"
    assert state_of(start_worker(kind=Worker.Kind.BEAT, pid=2)) == "running"


@pytest.mark.req("WRK-1", "SEC-2")
def test_a_strangers_run_is_counted_and_not_named(
    make_run: Callable[..., Run], user: User, stranger: User, client: Client
) -> None:
    pk, run = start_worker(kind=Worker.Kind.WORKER, pid=1), make_run(steps=1)
    assert take_lease(run.pk, owner=pk)
    mine, theirs = (workers_seen_by(each).get(pk=pk) for each in (user, stranger))
    assert [each["id"] for each in mine.current_runs] == [str(run.pk)]  # type: ignore[attr-defined]
    assert (theirs.busy, theirs.current_runs) == (1, [])  # type: ignore[attr-defined]
    for address in ("/workers/", f"/workers/{pk}", f"/api/workers/{pk}", "/api/workers"):
        client.force_login(user, "django.contrib.auth.backends.ModelBackend")
        assert str(run.pk) in client.get(address).content.decode()
        client.force_login(stranger, "django.contrib.auth.backends.ModelBackend")
        shown = client.get(address).content.decode()
        assert str(run.pk) not in shown and str(run.pk)[:8] not in shown
        assert run.project.slug not in shown
    client.force_login(user, "django.contrib.auth.backends.ModelBackend")
    assert f"/workers/{pk}" in client.get(f"/runs/{run.pk}").content.decode()
    assert client.get(f"/api/runs/{run.pk}").json()["worker"] == str(pk)
    assert client.get(f"/workers/{uuid.uuid4()}").status_code == 404


@pytest.mark.req("WRK-1")
def test_the_most_recent_workers_are_kept_and_every_one_that_lives(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = dataclasses.replace(config.current(), workers_kept=15)
    monkeypatch.setattr("omni.config.current", lambda: few)
    for pid in range(40):
        start_worker(kind=Worker.Kind.WORKER, pid=pid)
    Worker.objects.filter(pid__lt=20).update(seen_at=LONG_AGO)
    assert forget_old_workers() == 20
    Worker.objects.update(seen_at=LONG_AGO)
    assert forget_old_workers() == 5
    assert workers().count() == 15


@contextmanager
def celery(*words: str, **environ: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process as the supervisor starts it, on the test database, with tools that can be held."""
    variables = environment(test_database_url(), OMNI_HEARTBEAT_SECONDS="1", **environ)
    process = subprocess.Popen(
        [sys.executable, "-m", "celery", "-A", "tests.chaos.celery_app", *words],
        cwd=ROOT,
        env=variables,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(120)


@pytest.fixture
def prompt_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge by the same heartbeat that the started processes keep."""
    quick = dataclasses.replace(config.current(), heartbeat_seconds=1)
    monkeypatch.setattr("omni.config.current", lambda: quick)


@pytest.mark.req("WRK-1", "OPS-2")
@pytest.mark.django_db(transaction=True)
def test_beat_reports_and_says_goodbye(prompt_reports: None, tmp_path: Path) -> None:
    schedule = str(tmp_path / "beat.db")
    with celery("beat", "-s", schedule, CHAOS_EFFECTS=str(tmp_path / "effects")) as process:
        eventually(lambda: live_workers(Worker.Kind.BEAT).exists())
        first = Worker.objects.get().seen_at
        eventually(lambda: Worker.objects.get().seen_at > first)
        assert Worker.objects.get().pid == process.pid
        process.terminate()
        process.wait(120)
    assert state_of(Worker.objects.get().pk) == "stopped"


@pytest.fixture
def broker() -> str:
    """A queue that no other test's worker empties."""
    number = 10 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 6
    return urlunsplit(urlsplit(settings.REDIS_URL)._replace(path=f"/{number}"))


@pytest.mark.req("WRK-1", "RUN-10")
@pytest.mark.django_db(transaction=True)
def test_real_workers_busy_lost_draining_and_stopped(
    make_run: Callable[..., Run], prompt_reports: None, broker: str, tmp_path: Path
) -> None:
    """One is killed in the middle of a run, the next takes it over and is asked to stop there."""
    hold = {"do": "tool", "tool": "read", "idempotent": True, "arguments": {"until": "go"}}
    run = make_run(actions=[hold])
    words = ("worker", "-c", "1", "--without-gossip", "--without-mingle")
    environ = {"OMNI_BROKER_URL": broker, "CHAOS_EFFECTS": str(tmp_path / "effects")}

    def drives(process: subprocess.Popen[bytes]) -> Any:
        """The row of the worker with this process id, once it is busy with the run."""
        with Connection(broker) as connection:
            current_app.send_task(ADVANCE, [str(run.pk)], connection=connection)
        holder = holder_of(run)
        is_it = holder is not None and holder.pid == process.pid
        return holder if holder and is_it and state_of(holder.pk) == "busy" else None

    with celery(*words, **environ) as first:
        killed = eventually(lambda: drives(first))
        assert (killed.queues, killed.concurrency) == (["omni"], 1)
        assert killed.ready_at and killed.ready_at >= killed.started_at
        os.killpg(first.pid, signal.SIGKILL)
        first.wait(120)
    eventually(lambda: state_of(killed.pk) == "lost")
    with celery(*words, **environ) as second:
        successor = eventually(lambda: drives(second))
        assert state_of(killed.pk) == "lost"
        second.terminate()
        eventually(lambda: state_of(successor.pk) == "draining")
        (tmp_path / "go").touch()
        assert second.wait(120) == 0
    run.refresh_from_db()
    assert (run.status, state_of(successor.pk)) == ("done", "stopped")
    assert run.lease_owner is None
