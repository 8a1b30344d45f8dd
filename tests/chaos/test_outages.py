"""Real Celery workers and beat while Redis, PostgreSQL and they themselves are taken away."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis

from omni.services.embedded import EmbeddedServices
from tests.chaos.crew import ROOT, ROUNDS, Crew, environment, must_have

PATIENCE = 240.0


def actions(go: str) -> list[dict[str, Any]]:
    """A run that stands in the middle of a call until there is a file of this name."""
    return [
        {"do": "step"},
        {"do": "tool", "tool": "pay", "arguments": {"until": go}},
        {"do": "timer", "seconds": 0.2},
        {"do": "tool", "tool": "read", "idempotent": True},
        {"do": "child", "input": {"steps": 2}},
        {"do": "step"},
    ]


class Installation:
    """Private servers, a worker and beat, each of which can be killed and started again."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.postgres = EmbeddedServices(home / "a", durable=False, redis=False)
        self.redis = EmbeddedServices(home / "b", durable=False, postgres=False)
        self.database_url = self.postgres.start().database_url
        self.redis_url = self.redis.start().redis_url
        self.variables = environment(
            self.database_url,
            OMNI_HOME=str(home),
            OMNI_REDIS_URL=self.redis_url,
            OMNI_BROKER_URL=self.redis_url,
            CHAOS_EFFECTS=str(home / "effects.txt"),
        )
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def migrate(self) -> None:
        migrate = [sys.executable, "manage.py", "migrate", "-v", "0"]
        subprocess.run(migrate, cwd=ROOT, env=self.variables, check=True)

    def start(self, name: str) -> None:
        words = {
            "worker": ["worker", "-c", "2", "--without-gossip", "--without-mingle"],
            "beat": ["beat", "-s", str(self.home / "beat.db")],
        }[name]
        command = [sys.executable, "-m", "celery", "-A", "tests.chaos.celery_app", *words]
        with (self.home / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [*command, "-l", "ERROR"],
                cwd=ROOT,
                env=self.variables,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def kill(self, name: str) -> None:
        """The process and everything it forked, as when a machine loses power."""
        process = self.processes.pop(name)
        must_have(process.poll() is None, f"killing {name}, which was gone already,")
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)

    def flush_and_restart_redis(self) -> None:
        with redis.Redis.from_url(self.redis_url) as client:
            client.flushall()
            before = client.info("server")["run_id"]
        self.redis.stop()
        self.redis.start()
        with redis.Redis.from_url(self.redis_url) as client:
            must_have(client.info("server")["run_id"] != before, "the restart of Redis")

    def restart_postgres(self) -> None:
        started = "SELECT pg_postmaster_start_time()"
        with psycopg.connect(self.database_url) as link:
            before = link.execute(started).fetchone()
        self.postgres.stop()
        time.sleep(0.5)
        self.postgres.start()
        with psycopg.connect(self.database_url) as link:
            must_have(link.execute(started).fetchone() != before, "the restart of PostgreSQL")

    def stop(self) -> None:
        for name in list(self.processes):
            os.killpg(self.processes[name].pid, signal.SIGKILL)
            self.processes.pop(name).wait(10)
        self.redis.stop()
        self.postgres.stop()


@pytest.fixture
def installation() -> Iterator[Installation]:
    home = Path(tempfile.mkdtemp(prefix="omni-chaos-"))
    (home / "static").mkdir()
    installation = Installation(home)
    try:
        installation.migrate()
        yield installation
    finally:
        installation.stop()
        shutil.rmtree(home, ignore_errors=True)


def until(true: Callable[[], Any], what: str, seconds: float = PATIENCE) -> None:
    limit = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < limit, f"{what}: not within {seconds} seconds"
        time.sleep(0.1)


@pytest.mark.req("RUN-10", "OPS-1")
def test_runs_outlive_worker_beat_redis_and_postgresql(installation: Installation) -> None:
    """Each fault strikes while runs are under way; nobody helps; every run ends."""
    installation.start("worker")
    installation.start("beat")
    with Crew(installation.home, installation.variables) as crew:
        faults: dict[str, Callable[[], None]] = {
            "redis": installation.flush_and_restart_redis,
            "postgres": installation.restart_postgres,
            "worker": lambda: (installation.kill("worker"), installation.start("worker"))[1],
            "beat": lambda: (installation.kill("beat"), installation.start("beat"))[1],
        }
        runs: list[str] = []
        for number, (name, strike) in enumerate(list(faults.items()) * max(ROUNDS, 1)):
            fresh = crew.ask("make", actions=actions(f"go-{number}"), count=3)
            runs += fresh
            until(lambda: crew.ask("calling", runs=fresh), f"runs are under way when {name} fails")  # noqa: B023
            strike()
            (installation.home / f"go-{number}").touch()

        def all_ended() -> bool:
            crew.ask("answer", runs=runs)
            return not crew.ask("unfinished")

        until(all_ended, "every run ends")
        found = crew.judge(runs)
    assert [one for one in found if one["wrong"]] == []
    assert [one for one in found if one["status"] != "done"] == []
    assert len(found) == 2 * len(runs)
