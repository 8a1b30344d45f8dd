"""Log ids travel with a task through the real broker into the worker."""

from __future__ import annotations

import json
import logging
import queue
import subprocess
from pathlib import Path
from typing import Any

import pytest
from celery import Celery
from celery.contrib.testing.worker import start_worker
from structlog.contextvars import bound_contextvars, get_contextvars

from omni import config
from omni.edge.task_logs import bind_celery
from omni.services.programs import make_plan
from omni.telemetry import logs
from tests.services.installation import eventually

pytestmark = pytest.mark.req("TEL-3")


@pytest.fixture
def app() -> Celery:
    app = Celery("test-logs", broker=config.current().resolved_broker_url(), set_as_current=False)
    app.conf.task_default_queue = "test-task-logs"
    app.conf.task_ignore_result = True
    bind_celery()
    return app


def test_a_task_logs_under_the_request_that_sent_it(app: Celery) -> None:
    """request, user and run id arrive; the task's own id and name are added; nothing lingers."""
    seen: queue.Queue[dict[str, Any]] = queue.Queue()

    @app.task(name="test.note")
    def note() -> None:
        seen.put(get_contextvars())

    # Its heartbeat wakes the loop, which over AMQP would sleep on when the test is done.
    options = {"pool": "solo", "perform_ping_check": False, "without_heartbeat": False}
    with start_worker(app, loglevel="WARNING", **options):
        with bound_contextvars(request_id="req-12345678", run_id="run-1", ip="192.0.2.1"):
            sent = note.delay()
        first = seen.get(timeout=60)
        note.delay()
        second = seen.get(timeout=60)
    assert first == {
        "request_id": "req-12345678",
        "run_id": "run-1",
        "task_id": sent.id,
        "task": "test.note",
    }
    assert set(second) == {"task_id", "task"}


def test_an_eager_task_leaves_the_ids_of_its_sender_in_place(app: Celery) -> None:
    @app.task(name="test.eager")
    def eager() -> dict[str, Any]:
        return get_contextvars()

    with bound_contextvars(request_id="req-12345678"):
        inside = eager.apply().get()
        assert logs.request_id() == "req-12345678"
        assert "task" not in get_contextvars()
    assert inside["request_id"] == "req-12345678"
    assert inside["task"] == "test.eager"


def lines_of(name: str, log: Path, *, until: str) -> tuple[int, list[str]]:
    """What a real process of this name wrote from its start to its end, and its number."""
    plan = make_plan(config.current(), readable_logs=False)
    program = next(each for each in plan.processes if each.name == name)
    env = {**program.env, "OMNI_LOG_FORMAT": "json", "OMNI_NODE_ID": "node-7"}
    env |= {"DJANGO_SETTINGS_MODULE": "omni.settings"}
    with log.open("wb") as file:
        process = subprocess.Popen(program.argv, cwd=program.cwd, env=env, stdout=file, stderr=file)
    try:
        eventually(lambda: until in log.read_text(), seconds=120)
    finally:
        process.terminate()
        process.wait(120)
    return process.pid, log.read_text().splitlines()


def test_every_line_of_a_worker_is_json_and_names_it(tmp_path: Path) -> None:
    """No banner, no farewell past the logger."""
    pid, written = lines_of("worker", tmp_path / "log", until=" ready")
    lines = [json.loads(line) for line in written]
    assert {line["process"] for line in lines} == {"worker"}
    assert {line["worker"] for line in lines if "worker" in line} == {f"node-7/{pid}"}
    assert "worker" in lines[-1]
    assert any("shutdown" in line["event"] for line in lines)


def test_the_pulse_of_the_platform_does_not_bury_the_news(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Celery's three lines per sweep are left out; other tasks, failures and DEBUG are not."""

    def speak() -> list[str]:
        caplog.clear()
        for task in ("apps.runs.tasks.sweep", "apps.runs.tasks.advance"):
            facts = {"name": task, "id": "1"}
            logging.getLogger("celery.beat").info("Sending due task %s (%s)", "name", task)
            logging.getLogger("celery.app.trace").info("%(name)s succeeded", facts)
            logging.getLogger("celery.app.trace").error("%(name)s failed", facts)
        logging.getLogger("celery.beat").info("beat: Starting...")
        return [record.getMessage().replace("apps.runs.tasks.", "") for record in caplog.records]

    with caplog.at_level(logging.INFO):
        assert speak() == [
            "sweep failed",
            "Sending due task name (advance)",
            "advance succeeded",
            "advance failed",
            "beat: Starting...",
        ]
    with caplog.at_level(logging.DEBUG):
        assert len(speak()) == 7


def test_beat_begins_without_a_banner(tmp_path: Path) -> None:
    """The database of this test has no tables for it, so only its first words count."""
    _, written = lines_of("beat", tmp_path / "log", until="Starting")
    assert json.loads(written[0])["process"] == "beat"
