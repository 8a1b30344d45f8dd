"""Durable steps and appends against what they cannot beat: bare commits of one row, in one go."""

from __future__ import annotations

import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import redis

from omni.services.embedded import EmbeddedServices
from tests.bench import stream
from tests.bench.race import Rounds, Work, together, turns

ROOT = Path(__file__).resolve().parents[2]
STEPS = 200
# Each message of a chain carries the rest of it: a longer one would be slower for each task.
TASKS = 50
ROUNDS = 9
SECONDS = 60
LONG = 100_000
TABLE = "CREATE TABLE IF NOT EXISTS bench_floor (run uuid, seq bigint, payload jsonb)"
INSERT = "INSERT INTO bench_floor VALUES (%s, %s, %s)"
PAYLOAD = '{"step": "s1"}'


def floor(rows: int = 1, steps: int = STEPS) -> Work:
    """`steps` commits of `rows` rows each into a table without a key, with nothing around them."""

    def work(number: int, wait: Callable[[], Any]) -> None:
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

    return work


def durable(runs: list[uuid.UUID]) -> Work:
    """One run each, driven as a worker drives it, from taking the lease to giving it back."""

    def work(number: int, wait: Callable[[], Any]) -> None:
        from django.db import connection

        from apps.runs.drive.driver import advance

        connection.ensure_connection()
        wait()
        assert advance(runs[number], worker_id=uuid.uuid4()) == "done"

    return work


def appending(runs: list[uuid.UUID], batch: int, times: int) -> Work:
    def work(number: int, wait: Callable[[], Any]) -> None:
        from django.db import connection

        from apps.runs import eventlog

        connection.ensure_connection()
        events = [eventlog.system("step_finished", {"step": "s1"})] * batch
        wait()
        for turn in range(times):
            eventlog.append(runs[(number * times + turn) % len(runs)], events)

    return work


def in_django(code: str) -> str:
    """What `code` prints, elsewhere: the measuring process forks and must hold no connection."""
    setup = "import django; django.setup(); import omni.celery; from tests.chaos import orders; "
    command = [sys.executable, "-c", setup + code]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


def fresh_runs(count: int, **input: Any) -> list[uuid.UUID]:
    made = in_django(f"print(' '.join(orders.make(count={count}, **{input!r})))")
    return [uuid.UUID(word) for word in made.split()]


def chain_seconds(chains: int) -> float:
    """From sending to the last task of the last chain."""
    from celery import chain

    from tests.bench.chain import last, step

    key = f"bench:{uuid.uuid4()}"
    with redis.Redis.from_url(os.environ["OMNI_REDIS_URL"], socket_timeout=130) as client:
        start = time.perf_counter()
        for _ in range(chains):
            chain(step.s(0), *[step.s() for _ in range(TASKS - 2)], last.s(key)).apply_async()
        for _ in range(chains):
            done = client.blpop([key], timeout=120)
            if done is None or int(done[1]) != TASKS - 1:
                raise SystemExit("The Celery chain did not end as it should.")
        return time.perf_counter() - start


@contextmanager
def chain_worker() -> Iterator[None]:
    command = [sys.executable, "-W", "ignore", "-m", "celery", "-A", "tests.bench.chain"]
    # Nothing of Django, which Celery would otherwise look after at every task.
    plain = {name: os.environ[name] for name in os.environ if not name.startswith("DJANGO")}
    worker = subprocess.Popen(
        [*command, "worker", "-c", "2", "-l", "ERROR", "-Q", "bench-chain"],
        cwd=ROOT,
        env=plain,
        stdout=subprocess.DEVNULL,
    )
    try:
        chain_seconds(1)
        yield
    finally:
        worker.terminate()
        worker.wait(20)


def measure_steps() -> dict[str, dict[str, float]]:
    """Steps per second, for one run and for eight at once; floor, driver and chain take turns."""
    rounds = Rounds()
    made = fresh_runs(9 * (ROUNDS + 1), steps=STEPS)
    with chain_worker():
        for turn in turns(ROUNDS + 1, least=4, seconds=SECONDS):
            for count in (1, 8):
                runs, made = made[:count], made[count:]
                seconds = {
                    "floor": together(count, floor()),
                    "durable": together(count, durable(runs)),
                    "chain": chain_seconds(count) * STEPS / TASKS,
                }
                for name, taken in seconds.items():
                    if turn:  # the first one warms up
                        rounds.note(f"{name} {count}", count * STEPS, taken)
    ratios = {
        f"{one} to {other} {count}": rounds.ratio(f"{one} {count}", f"{other} {count}")
        for count in (1, 8)
        for one, other in (("floor", "durable"), ("floor", "chain"), ("durable", "chain"))
    }
    return {"steps": rounds.medians(), "step ratios": ratios | {"rounds": rounds.number}}


def measure_appends() -> dict[str, dict[str, float]]:
    """Events per second: writers × batch, on one run, and for eight writers on 64 runs."""
    rounds, ratios = Rounds(), {}
    runs, many = fresh_runs(1, steps=1), fresh_runs(64, steps=1)
    for _ in turns(5, least=1, seconds=SECONDS / 2):
        for writers in (1, 8):
            for batch, times in ((1, 200), (10, 60), (100, 15)):
                label = f"{writers} writer{'s' * (writers > 1)}, batch {batch}"
                pair = {"INSERT": floor(batch, times), "append": appending(runs, batch, times)}
                for name, work in pair.items():
                    seconds = together(writers, work)
                    rounds.note(f"{name}, {label}", writers * batch * times, seconds)
                ratios[f"append, {label}"] = rounds.ratio(f"append, {label}", f"INSERT, {label}")
        wide = "append, 8 writers, 64 runs, batch 1"
        rounds.note(wide, 1600, together(8, appending(many, 1, 200)))
        ratios[wide] = rounds.ratio(wide, "INSERT, 8 writers, batch 1")
    return {"appends": rounds.medians(), "append ratios": ratios}


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


def measure_stream(home: Path) -> dict[str, float]:
    code = (
        "from apps.registry.models import Scope, User;"
        "from apps.registry.services.tokens import create_token;"
        "user = User.objects.get(email=orders.EMAIL);"
        "print(create_token(user=user, name='bench', scopes={Scope.READ})[1])"
    )
    run = fresh_runs(1, steps=1)[0]
    return stream.measure(home, run, in_django(code))


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

        gc.freeze()  # as a worker does before it forks
        found: dict[str, Any] = {**measure_steps(), **measure_appends()}
        found["stream"] = measure_stream(home)
        found["long run"] = measure_long_run()
        print(json.dumps(found))
    finally:
        services.stop()
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
