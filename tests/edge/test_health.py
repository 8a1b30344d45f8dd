"""Health: the process answers by itself; readiness tells the truth and nothing more."""

from __future__ import annotations

import dataclasses
import socket
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.db import connections
from django.db.models.functions import Now
from django.test import Client

from apps.runs.models import Worker
from apps.runs.services.workers import start_worker, stop_worker
from omni import config
from omni.edge import health
from omni.edge.liveness import Healthz

pytestmark = [pytest.mark.urls("tests.edge.urls"), pytest.mark.req("OPS-2")]

DEAD = "127.0.0.1:1"


@pytest.fixture(autouse=True)
def _own_checks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing remembered from before, and no check still running afterwards."""
    board = health._Board()
    monkeypatch.setattr(health, "_board", board)
    yield
    board._threads.shutdown()


@pytest.fixture
def everything_runs(transactional_db: None) -> None:
    start_worker(kind=Worker.Kind.WORKER, pid=1)
    start_worker(kind=Worker.Kind.BEAT, pid=2)


@pytest.fixture
def database_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connections.settings["default"], "HOST", "127.0.0.1")
    monkeypatch.setitem(connections.settings["default"], "PORT", "1")


@pytest.fixture
def silent_server() -> Iterator[int]:
    """Accepts connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def use(monkeypatch: pytest.MonkeyPatch, **settings: Any) -> None:
    changed = dataclasses.replace(config.current(), **settings)
    monkeypatch.setattr(config, "current", lambda: changed)


def failing(response: Any) -> set[str]:
    return {name for name, one in response.json()["checks"].items() if one["status"] == "fail"}


def test_healthz_needs_no_django(serve: Callable[[Any], int]) -> None:
    """The ASGI layer answers it, whatever the host name; everything else reaches Django."""
    reached: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope["path"])
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    base = f"http://127.0.0.1:{serve(Healthz(app))}"
    response = httpx.get(f"{base}/healthz", headers={"Host": "any.example"})
    assert (response.status_code, response.json()) == (200, {"status": "ok"})
    assert httpx.get(f"{base}/other").status_code == 204
    assert reached == ["/other"]


def test_healthz_asks_no_database(client: Client) -> None:
    """No `django_db` mark: a query would fail this test."""
    assert client.get("/healthz").json() == {"status": "ok"}


def test_ready_when_everything_answers(everything_runs: None, client: Client) -> None:
    response = client.get("/readyz")
    assert response.status_code == 200
    assert response.json()["status"] == "ok"
    names = {"database", "cache", "broker", "artifacts", "worker", "beat"}
    assert set(response.json()["checks"]) == names
    for finding in response.json()["checks"].values():
        assert finding["status"] == "ok"
        assert finding["detail"]
        assert 0 <= finding["latency_ms"] < 3000
    assert response["Cache-Control"] == "no-store"


@pytest.mark.parametrize("ending", ["stopped", "silent", "never started"])
@pytest.mark.parametrize("kind", list(Worker.Kind))
def test_a_missing_worker_or_beat_makes_it_not_ready(
    transactional_db: None, client: Client, kind: Worker.Kind, ending: str
) -> None:
    """Stopped, or not heard of for four reports by the database's clock."""
    for each in Worker.Kind:
        if each == kind and ending == "never started":
            continue
        row = start_worker(kind=each, pid=1)
        if each == kind and ending == "stopped":
            stop_worker(row)
        elif each == kind:
            gone = timedelta(seconds=4 * config.current().heartbeat_seconds + 1)
            Worker.objects.filter(pk=row).update(seen_at=Now() - gone)
    response = client.get("/readyz")
    assert response.status_code == 503
    assert failing(response) == {kind.value}


def test_it_still_answers_while_the_database_is_away(
    database_away: None, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    """Even to a browser with a session cookie; the cause is logged, not shown."""
    client.cookies["omni_session"] = "x" * 32
    response = client.get("/readyz")
    assert response.status_code == 503
    assert failing(response) == {"database", "worker", "beat"}
    text = response.content.decode()
    assert "127.0.0.1" not in text and "refused" not in text and "Error" not in text


def test_a_cache_and_a_broker_that_are_away_are_named(
    everything_runs: None, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, redis_url=f"redis://:hunter2-hunter2@{DEAD}/0", broker_url="")
    response = client.get("/readyz")
    assert response.status_code == 503
    assert failing(response) == {"cache", "broker"}
    assert b"hunter2" not in response.content and DEAD.encode() not in response.content


def test_a_broker_of_its_own_is_checked(
    everything_runs: None, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, broker_url=f"amqp://guest:guest@{DEAD}//")
    assert failing(client.get("/readyz")) == {"broker"}


def test_servers_that_hang_cost_a_bounded_time_and_number_of_threads(
    client: Client, monkeypatch: pytest.MonkeyPatch, silent_server: int
) -> None:
    """Three visitors, one after the other, while no server says a word."""
    monkeypatch.setattr(health, "TIMEOUT", 1.0)
    monkeypatch.setattr(health, "FRESH_SECONDS", 0.0)
    monkeypatch.setitem(connections.settings["default"], "HOST", "127.0.0.1")
    monkeypatch.setitem(connections.settings["default"], "PORT", str(silent_server))
    use(monkeypatch, redis_url=f"redis://127.0.0.1:{silent_server}/0", broker_url="")
    before = threading.active_count()
    for _ in range(3):
        assert len(failing(client.get("/readyz"))) == 5
    assert threading.active_count() <= before + len(health.CHECKS)


def test_a_check_that_still_waits_is_not_started_again(
    everything_runs: None, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And it reports as soon as what it waited for is back."""
    released = threading.Event()
    started: list[str] = []

    def waits() -> str:
        started.append("x")
        released.wait(60)
        return "Back."

    monkeypatch.setattr(health, "TIMEOUT", 0.5)
    monkeypatch.setattr(health, "FRESH_SECONDS", 0.0)
    monkeypatch.setitem(health.CHECKS, "cache", (waits, "The cache does not answer."))
    for _ in range(3):
        assert "cache" in failing(client.get("/readyz"))
    released.set()
    until = time.monotonic() + 60
    while "cache" in failing(client.get("/readyz")):
        assert time.monotonic() < until
    assert len(started) <= 2


def test_a_crowd_of_visitors_costs_one_round_of_checks(
    everything_runs: None, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds: list[str] = []
    check = health.CHECKS["cache"][0]

    def counted() -> str:
        rounds.append("x")
        return check()

    monkeypatch.setitem(health.CHECKS, "cache", (counted, ""))
    for _ in range(5):
        assert client.get("/readyz").status_code == 200
    assert len(rounds) == 1


def test_not_being_ready_yet_is_no_error_in_the_log(
    transactional_db: None, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    """During a start `/readyz` is asked again and again; Django would call each 503 an error."""
    assert client.get("/readyz").status_code == 503
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []
