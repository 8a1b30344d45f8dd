"""Workers and beat report themselves; who is alive is judged by the database's clock."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models.functions import Now

from apps.runs.models import Worker
from apps.runs.selectors import live_workers, workers
from apps.runs.services.workers import (
    forget_old_workers,
    report_worker,
    start_worker,
    stop_worker,
)


@pytest.mark.req("WRK-1")
def test_a_worker_is_alive_until_it_stops_or_falls_silent(db: None) -> None:
    one = start_worker(kind=Worker.Kind.WORKER, pid=1, queues=["omni"])
    two = start_worker(kind=Worker.Kind.WORKER, pid=2)
    assert {w.pk for w in live_workers()} == {one, two}
    stop_worker(one)
    Worker.objects.filter(pk=two).update(seen_at=Now() - timedelta(minutes=5))
    assert list(live_workers()) == []
    assert report_worker(two)
    assert [w.pk for w in live_workers(Worker.Kind.WORKER)] == [two]
    assert list(live_workers(Worker.Kind.BEAT)) == []


@pytest.mark.req("WRK-1")
def test_old_workers_are_forgotten_and_recent_ones_kept(db: None) -> None:
    for pid in range(60):
        start_worker(kind=Worker.Kind.WORKER, pid=pid)
    Worker.objects.filter(pid__lt=20).update(seen_at=Now() - timedelta(days=2))
    assert forget_old_workers() == 10
    assert workers().count() == 50


def _until(condition: Callable[[], bool], seconds: float = 120) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.2)
    return False


@pytest.mark.req("WRK-1", "OPS-2")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["worker", "beat"])
def test_a_real_celery_process_reports_and_says_goodbye(kind: str) -> None:
    """Started as the supervisor starts it, on the test database."""
    settings = connection.settings_dict
    url = (
        f"postgresql://{settings['USER']}:{settings['PASSWORD']}@{settings['HOST']}"
        f":{settings['PORT']}/{settings['NAME']}"
    )
    environment = {**os.environ, "OMNI_DATABASE_URL": url, "OMNI_HEARTBEAT_SECONDS": "1"}
    environment |= {"DJANGO_SETTINGS_MODULE": "omni.settings", "OMNI_PROCESS": kind}
    extra = ["--concurrency", "1", "--without-gossip", "-n", "t@%h"] if kind == "worker" else []
    process = subprocess.Popen(
        [sys.executable, "-m", "celery", "-A", "omni.celery", kind, *extra],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert _until(lambda: live_workers(Worker.Kind(kind)).exists())
        first = live_workers().get().seen_at
        assert _until(lambda: live_workers().get().seen_at > first)
        assert live_workers().get().pid == process.pid
    finally:
        process.terminate()
        process.wait(120)
    assert Worker.objects.get().stopped_at is not None
