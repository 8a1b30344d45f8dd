"""The warm process: dies with the platform, comes back when it died, is never shared by a fork."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from omni.sandbox.job import Job, Limits, Result, run, run_in
from omni.sandbox.zygote import SHARED, Zygote

pytestmark = [pytest.mark.req("SBX-1", "SBX-2"), pytest.mark.xdist_group("sandbox")]

ROOT = Path(__file__).resolve().parents[2]
SLEEPER = Job(("python3", "-c", "import time; time.sleep(3600)"), limits=Limits(wall_seconds=90))
HELLO = Job(("echo", "hello"), limits=Limits(wall_seconds=90))


def eventually(condition: Callable[[], bool]) -> bool:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.02)
    return False


def gone(pids: list[int]) -> bool:
    def alive(pid: int) -> bool:
        try:
            return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False

    return not any(map(alive, pids))


def family(pid: int) -> list[int]:
    return [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]


def test_a_dead_one_is_replaced() -> None:
    assert run(HELLO).stdout == b"hello\n"
    first = SHARED.current().pid
    members = family(first)
    os.kill(first, signal.SIGKILL)
    # A job that it takes while it dies is interrupted, and nobody may run that a second time.
    assert eventually(lambda: gone(members))
    assert run(HELLO).stdout == b"hello\n"
    assert SHARED.current().pid != first


@pytest.mark.parametrize("which", [0, 1, 2])
def test_whichever_process_of_the_chain_dies_all_do(which: int) -> None:
    """The launcher, the one that waits, the one that forks."""
    zygote = Zygote()
    try:
        members = family(zygote.pid)
        os.kill(members[which], signal.SIGKILL)
        assert eventually(lambda: gone(members))
    finally:
        zygote.close()


def test_a_job_whose_zygote_is_killed_ends_with_it() -> None:
    zygote = Zygote()
    asked: list[int] = []

    def kill_it() -> bool:
        asked.append(1)
        if len(asked) == 4:
            os.kill(zygote.pid, signal.SIGKILL)
        return False

    try:
        result = run_in(zygote.open, SLEEPER, cancelled=kill_it)
        assert (result.status, result.exit_code) == ("signal", -9)
    finally:
        zygote.close()


HOST = """
import threading
from tests.sandbox.test_zygote import SLEEPER
from omni.sandbox.job import run
from omni.sandbox.zygote import SHARED
seen = []
def begun():
    if not seen:
        seen.append(1)
        print(SHARED.current().pid, flush=True)
    return False
threading.Thread(target=run, args=(SLEEPER,), kwargs={"cancelled": begun}, daemon=True).start()
threading.Event().wait()
"""


def test_everything_ends_when_the_platform_is_killed() -> None:
    host = subprocess.Popen(
        [sys.executable, "-c", HOST], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert host.stdout is not None
        pid = int(host.stdout.readline())
        assert eventually(lambda: len(family(pid)) >= 5)
        members = family(pid)
    finally:
        host.kill()
        host.communicate()
    assert eventually(lambda: gone(members))


def test_it_outlives_the_thread_that_made_it() -> None:
    """A death signal would follow the thread; ours follows the process."""
    import threading

    made: list[Zygote] = []
    thread = threading.Thread(target=lambda: made.append(Zygote()))
    thread.start()
    thread.join()
    try:
        assert run_in(made[0].open, HELLO).status == "ok"
    finally:
        made[0].close()


def test_a_forked_process_has_one_of_its_own() -> None:
    """As Celery's children: the parent's must not be held open by them, nor used by them."""
    code = (
        "import os, sys\n"
        "from tests.sandbox.test_zygote import HELLO\n"
        "from omni.sandbox.job import run\n"
        "from omni.sandbox.zygote import SHARED\n"
        "assert run(HELLO).status == 'ok'\n"
        "mine = SHARED.current().pid\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    fine = run(HELLO).status == 'ok' and SHARED.current().pid != mine\n"
        "    SHARED.close()\n"
        "    os._exit(0 if fine else 1)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "assert run(HELLO).status == 'ok' and SHARED.current().pid == mine\n"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=ROOT, check=False)
    assert done.returncode == 0


def test_a_cold_start_gives_the_same() -> None:
    zygote = Zygote()
    try:
        result: Result = run_in(zygote.open, HELLO)
        assert (result.status, result.stdout) == ("ok", b"hello\n")
    finally:
        zygote.close()
