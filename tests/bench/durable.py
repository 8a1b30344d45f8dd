"""Durable steps and appends against what they cannot beat: bare commits of one row, in one go."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import redis

from omni.services.embedded import EmbeddedServices

ROOT = Path(__file__).resolve().parents[2]
STEPS = 200
TASKS = 50
ROUNDS = 5
LONG = 100_000
TABLE = "CREATE TABLE IF NOT EXISTS bench_floor (run uuid, seq bigint, payload jsonb)"
INSERT = "INSERT INTO bench_floor VALUES (%s, %s, %s)"
PAYLOAD = '{"step": "s1"}'


def together(count: int, work: Callable[[int], Any]) -> float:
    """Fork `count` processes, let them go at the same time, answer the seconds until the last."""
    pids, (gate, opener) = [], os.pipe()
    for number in range(count):
        pid = os.fork()
        if not pid:
            code = 1
            try:
                os.close(opener)
                work(number)(lambda: os.read(gate, 1))
                code = 0
            finally:
                os._exit(code)
        pids.append(pid)
    os.close(gate)
    time.sleep(0.7)
    start = time.perf_counter()
    os.close(opener)
    codes = [os.waitpid(pid, 0)[1] for pid in pids]
    seconds = time.perf_counter() - start
    if any(codes):
        raise SystemExit("A measured process failed.")
    return seconds


def floor(rows: int = 1, steps: int = STEPS) -> Callable[[int], Any]:
    """`steps` commits of `rows` rows each, with nothing around them."""

    def work(number: int) -> Any:
        def go(wait: Callable[[], Any]) -> None:
            run = uuid.uuid4()
            link = psycopg.connect(os.environ["OMNI_DATABASE_URL"], autocommit=True)
            with link, link.cursor() as cursor:
                cursor.execute("SELECT 1")
                wait()
                for seq in range(steps):
                    if rows == 1:
                        cursor.execute(INSERT, (run, seq, PAYLOAD))
                    else:
                        with link.transaction():
                            cursor.executemany(INSERT, [(run, seq, PAYLOAD)] * rows)

        return go

    return work


def durable(runs: list[uuid.UUID]) -> Callable[[int], Any]:
    """One run each, driven as a worker drives it."""

    def work(number: int) -> Any:
        def go(wait: Callable[[], Any]) -> None:
            from django.db import connection

            from apps.runs.drive.driver import advance

            connection.ensure_connection()
            wait()
            assert advance(runs[number], worker_id=uuid.uuid4()) == "done"

        return go

    return work


def appending(runs: list[uuid.UUID], batch: int, times: int) -> Callable[[int], Any]:
    def work(number: int) -> Any:
        def go(wait: Callable[[], Any]) -> None:
            from django.db import connection

            from apps.runs import eventlog

            connection.ensure_connection()
            events = [eventlog.system("step_finished", {"step": "s1"})] * batch
            wait()
            for turn in range(times):
                eventlog.append(runs[(number * times + turn) % len(runs)], events)

        return go

    return work


def fresh_runs(count: int, **input: Any) -> list[uuid.UUID]:
    """Made in a child, so that the measuring process holds no connection when it forks."""
    code = (
        "import django; django.setup(); import omni.celery; from tests.chaos import orders;"
        f"print(' '.join(orders.make(count={count}, **{input!r})))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [uuid.UUID(word) for word in done.stdout.split()]


def chain_seconds(chains: int) -> float:
    """From sending to the last task of the last chain."""
    from celery import chain

    from tests.bench.chain import last, step

    key = f"bench:{uuid.uuid4()}"
    with redis.Redis.from_url(os.environ["OMNI_REDIS_URL"], socket_timeout=130) as client:
        start = time.perf_counter()
        for _ in range(chains):
            chain(*[step.si() for _ in range(TASKS - 1)], last.si(key)).apply_async()
        for _ in range(chains):
            if client.blpop([key], timeout=120) is None:
                raise SystemExit("The Celery chain did not end.")
        return time.perf_counter() - start


def measure_steps() -> dict[str, float]:
    """Steps per second. Variants take turns and the best round counts: noise only ever slows."""
    found: dict[str, list[float]] = {}
    made = fresh_runs(9 * ROUNDS, steps=STEPS)
    for _ in range(ROUNDS):
        for count in (1, 8):
            runs, made = made[:count], made[count:]
            for name, work in (("floor", floor()), ("durable", durable(runs))):
                rate = count * STEPS / together(count, work)
                found.setdefault(f"{name} {count}", []).append(rate)
    command = [sys.executable, "-m", "celery", "-A", "tests.bench.chain", "worker", "-c", "2"]
    worker = subprocess.Popen(
        [*command, "-l", "ERROR", "-Q", "bench-chain"], cwd=ROOT, stdout=subprocess.DEVNULL
    )
    try:
        chain_seconds(1)
        for _ in range(ROUNDS):
            for count in (1, 8):
                found.setdefault(f"chain {count}", []).append(count * TASKS / chain_seconds(count))
    finally:
        worker.terminate()
        worker.wait(20)
    return {name: max(rates) for name, rates in found.items()}


def measure_appends() -> dict[str, float]:
    """Events per second: writers × batch, on one run, and for eight writers on 64 runs."""
    found: dict[str, float] = {}
    runs, many = fresh_runs(1, steps=1), fresh_runs(64, steps=1)

    def note(name: str, events: int, writers: int, work: Callable[[int], Any]) -> None:
        found[name] = max(found.get(name, 0), events / together(writers, work))

    for _ in range(ROUNDS - 2):
        for writers in (1, 8):
            for batch, times in ((1, 200), (10, 60), (100, 15)):
                events = writers * batch * times
                label = f"{writers} writer{'s' * (writers > 1)}, batch {batch}"
                note(f"INSERT, {label}", events, writers, floor(batch, times))
                note(f"append, {label}", events, writers, appending(runs, batch, times))
        note("append, 8 writers, 64 runs, batch 1", 1600, 8, appending(many, 1, 200))
    return found


def measure_long_run() -> dict[str, float]:
    """Seconds for a run of many events: append, fold, fold from the kept state, rebuild, verify."""
    run = fresh_runs(1, steps=LONG)[0]
    from apps.runs import eventlog
    from apps.runs.eventlog.project import fold_from_scratch, load_state, rebuild

    events = [eventlog.system("step_finished", {"step": "s1"})] * 1000

    def clock(work: Callable[[], Any]) -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return {
        "append in batches of 1000": clock(
            lambda: [eventlog.append(run, events) for _ in range(LONG // 1000)]
        ),
        "fold": clock(lambda: fold_from_scratch(run)),
        "rebuild": clock(lambda: rebuild(run)),
        "load the kept state": clock(lambda: load_state(run)),
        "verify": clock(lambda: eventlog.verify(run)),
    }


def main() -> None:
    """Measure in an installation of its own, print JSON."""
    home = Path(tempfile.mkdtemp(prefix="omni-bench-"))
    (home / "static").mkdir()
    services = EmbeddedServices(home)
    try:
        endpoints = services.start()
        os.environ.update(
            OMNI_HOME=str(home),
            OMNI_DATABASE_URL=endpoints.database_url,
            OMNI_REDIS_URL=endpoints.redis_url,
            OMNI_BROKER_URL=endpoints.redis_url,
            OMNI_PROCESS="worker",
            OMNI_LOG_LEVEL="ERROR",
            DJANGO_SETTINGS_MODULE="omni.settings",
        )
        subprocess.run([sys.executable, "manage.py", "migrate", "-v", "0"], cwd=ROOT, check=True)
        with psycopg.connect(endpoints.database_url, autocommit=True) as link:
            link.execute(TABLE)
        import django

        django.setup()
        import omni.celery  # noqa: F401

        found = {"steps": measure_steps(), "appends": measure_appends()}
        found["long run"] = measure_long_run()
        print(json.dumps(found))
    finally:
        services.stop()
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
