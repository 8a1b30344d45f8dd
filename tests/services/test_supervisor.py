"""The supervisor under real signals: restarts what dies, loses nothing, leaves nothing behind."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from omni.config import Config
from omni.services import commands, doctor, home
from tests.services.installation import ROOT, Installation, eventually, is_alive

pytestmark = pytest.mark.req("OPS-1", "OPS-2")
PLANNED_RESTART = r"beat stopped \(exit code 7\); starting again in ([\d.]+) s"
NAMES = {"postgres", "redis", "web", "worker", "beat"}


def test_up_and_down_leave_nothing_but_data(omni: Installation) -> None:
    """Ready with every process, stopped without any; the second start has the same rows."""
    first = omni.up()
    assert "Omni is ready" in first
    assert f"http://127.0.0.1:{omni.port}/admin/" in first
    status = omni.status()
    assert status["running"] and status["phase"] == "ready"
    assert {each["name"] for each in status["processes"]} == NAMES
    assert {each["state"] for each in status["processes"]} == {"running"}
    with omni.database() as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1")

    assert omni.run("down").returncode == 0
    assert omni.processes() == []
    assert omni.run("status").returncode == 3
    omni.up()
    with omni.database() as connection:
        assert connection.execute("SELECT count(*) FROM kept").fetchone() == (1,)


def files_with_the_password(omni: Installation) -> list[Path]:
    files = [path for path in omni.home.rglob("*") if path.is_file()]
    return [path for path in files if b"first-pass-word" in path.read_bytes()]


@pytest.mark.req("SEC-3")
def test_without_a_terminal_the_first_password_goes_into_a_private_file(
    omni: Installation,
) -> None:
    """Pipes end in logs: there only the file is named, once, and the doctor reminds of it."""
    file = omni.home / "keys" / "first-password.txt"
    said = omni.up()
    assert "first-pass-word" not in said and str(file) in said
    assert file.read_text() == "first-pass-word\n"
    assert file.stat().st_mode & 0o777 == 0o600
    assert files_with_the_password(omni) == [file]
    (found,) = doctor._first_password(Config(home=omni.home))
    assert found.status == "warn" and str(file) in found.remedy
    omni.run("down")
    file.unlink()
    assert str(file) not in omni.up() and not file.exists()


@pytest.mark.req("SEC-3")
@pytest.mark.parametrize("terminal", ["xterm", "dumb"])
def test_in_a_terminal_the_first_password_is_shown_and_kept_nowhere(
    omni: Installation, terminal: str
) -> None:
    """Also with --detach, where the daemon itself has no terminal."""
    ours, theirs = os.openpty()
    command, env = omni.command("up", "--detach"), {**omni.env, "TERM": terminal}
    with subprocess.Popen(command, cwd=ROOT, env=env, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        said = b""
        with contextlib.suppress(OSError):
            while piece := os.read(ours, 4096):
                said += piece
        os.close(ours)
        assert process.wait(timeout=120) == 0
    assert b"first-pass-word" in said
    assert files_with_the_password(omni) == []


@pytest.mark.parametrize("name", ["worker", "postgres", "redis"])
def test_a_killed_child_is_restarted_and_named(omni: Installation, name: str) -> None:
    """kill -9 of a child: it comes back, status counts it and says how it ended."""
    omni.up()
    with omni.database() as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1")
    os.kill(omni.process(name)["pid"], signal.SIGKILL)
    eventually(lambda: omni.process(name)["restarts"] == 1)
    eventually(lambda: omni.process(name)["state"] == "running")
    assert omni.process(name)["last_exit"] == "killed by SIGKILL"
    assert name in omni.run("status").stdout
    with eventually(omni.database) as connection:
        assert connection.execute("SELECT count(*) FROM kept").fetchone() == (1,)


def test_a_killed_supervisor_takes_everything_along_and_the_next_start_recovers(
    omni: Installation,
) -> None:
    """kill -9 of the supervisor: children and their children end, data and lock survive it."""
    omni.up()
    with omni.database() as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1")
    eventually(lambda: any(each.name() == "sleep" for each in omni.family()))
    family = omni.family()
    os.kill(omni.state()["pid"], signal.SIGKILL)
    eventually(lambda: not any(is_alive(each) for each in family))
    assert omni.run("status").returncode == 3
    omni.up()
    with omni.database() as connection:
        assert connection.execute("SELECT count(*) FROM kept").fetchone() == (1,)


def test_what_a_killed_supervisor_could_not_take_along_is_ended_by_the_next(
    omni: Installation,
) -> None:
    """A grandchild that nobody told to die with its parent does not outlive the next start."""
    fork = "if os.fork() == 0: os.execv('/bin/sleep', ['sleep', '999'])"
    stubborn = f"import os, time\n{fork}\ntime.sleep(999)"
    omni.up(STANDIN_WORKER=stubborn)
    os.kill(omni.state()["pid"], signal.SIGKILL)
    left = eventually(lambda: len(pids := omni.processes()) == 1 and pids)
    omni.up()
    assert left[0] not in omni.processes()


def test_a_crash_loop_is_slowed_down(omni: Installation) -> None:
    """A child that always fails is restarted with growing pauses, not in a tight loop."""
    omni.up(STANDIN_BEAT="import sys, time; time.sleep(0.3); sys.exit(7)")
    eventually(lambda: omni.process("beat")["restarts"] >= 2)
    assert omni.process("beat")["last_exit"] == "exit code 7"
    pauses = [float(each) for each in re.findall(PLANNED_RESTART, omni.log("supervisor"))]
    assert len(pauses) >= 2 and pauses == sorted(set(pauses))


def test_ctrl_c_stops_everything_cleanly(omni: Installation) -> None:
    """In the foreground one SIGINT ends all children in order, with exit code 0."""
    with subprocess.Popen(
        omni.command("up"), cwd=ROOT, env=omni.env, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        lines = iter(process.stdout.readline, "")
        assert any("Omni is ready" in line for line in lines)
        process.send_signal(signal.SIGINT)
        rest = "".join(lines)
        assert process.wait(timeout=120) == 0, rest
    assert omni.processes() == []
    story = omni.log("supervisor")
    assert story.index("beat stopped") < story.index("redis stopped")
    assert story.index("redis stopped") < story.index("postgres stopped (exit code 0)")


def test_a_child_that_ignores_the_signal_is_killed_in_time(omni: Installation) -> None:
    """Stopping never hangs on one process: by itself this one would end in a quarter of an hour."""
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(999)"
    omni.up(STANDIN_WORKER=deaf)
    assert omni.run("down").returncode == 0
    assert omni.processes() == []


def test_a_detached_supervisor_has_its_own_session(omni: Installation) -> None:
    """Closing the terminal that started it does not reach it."""
    omni.up()
    pid = omni.state()["pid"]
    assert os.getsid(pid) == pid != os.getsid(0)
    for handle in ("0", "1", "2"):
        assert os.readlink(f"/proc/{pid}/fd/{handle}") == os.devnull


def test_a_start_that_fails_says_why_and_stops_what_it_started(omni: Installation) -> None:
    """A step's last words reach the person; no traceback, no process, exit code 1."""
    done = omni.run("up", "--detach", STANDIN_SETUP="raise SystemExit('table is made of cheese')")
    assert done.returncode == 1
    assert "“setup” failed" in done.stdout and "made of cheese" in done.stdout
    assert "Traceback" not in done.stdout
    assert omni.processes() == []


def test_worker_and_beat_load_while_the_rest_is_prepared(omni: Installation) -> None:
    """After the schema, before the static files; web only once those are there."""
    slow = """
import json, os, pathlib, time
def tell(part): print(json.dumps({"done": part}), flush=True)
log = pathlib.Path(os.environ["OMNI_HOME"], "logs", "supervisor.log")
def await_start(name):
    for _ in range(1200):
        if f"{name} started" in log.read_text(): return
        time.sleep(0.05)
    raise SystemExit(f"{name} was not started")
tell("schema")
await_start("worker"); await_start("beat")
assert "web started" not in log.read_text()
tell("assets")
await_start("web")
print(json.dumps({"admin_email": "admin@omni.local", "admin_password": None}))
"""
    omni.up(STANDIN_SETUP=slow)


@pytest.mark.parametrize("words", ["", "print('nonsense')", 'print(\'{"done": "schema"}\')'])
def test_a_setup_that_ends_without_an_answer_is_a_failed_start(
    omni: Installation, words: str
) -> None:
    done = omni.run("up", "--detach", STANDIN_SETUP=words or "pass")
    assert done.returncode == 1 and "“setup” failed" in done.stdout
    assert omni.processes() == []


def test_logs_and_reset(omni: Installation) -> None:
    """`logs` shows a process by name; `reset` asks, refuses while running, deletes only its own."""
    omni.up()
    assert "web is listening" in omni.run("logs", "web").stdout
    unknown = omni.run("logs", "nonsense")
    assert unknown.returncode == 1 and "Known logs" in unknown.stdout
    refused = omni.run("reset", "--yes")
    assert refused.returncode == 1 and "make down" in refused.stdout
    omni.run("down")
    assert "Nothing was deleted" in omni.run("reset").stdout
    (omni.home / "my notes.txt").write_text("precious")
    assert omni.run("reset", "--yes").returncode == 0
    assert [path.name for path in omni.home.iterdir()] == ["my notes.txt"]


def test_nobody_starts_while_reset_asks_and_deletes(
    omni: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From before the question until nothing is left, a start is refused and changes nothing."""
    lock = home.Lock(omni.home)
    home.open_home(omni.home, lock)
    lock.release()
    (omni.home / "keys").mkdir()
    config = Config(home=omni.home, port=omni.port)
    delete, refused = shutil.rmtree, []

    def start() -> None:
        done = omni.run("up", "--detach")
        refused.append((done.returncode, omni.processes()))

    def confirm() -> bool:
        start()
        return True

    def delete_slowly(path: Path) -> None:
        start()
        delete(path)

    monkeypatch.setattr(home.shutil, "rmtree", delete_slowly)
    assert set(commands.reset(config, confirm=confirm)) == {"run", "logs", "keys"}
    assert refused == [(4, [])] * 4
    assert not omni.home.exists()


def test_a_lock_on_a_deleted_file_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A start that opened the lock file just before a reset deleted it takes the new one."""
    lock, flock, opened = home.Lock(tmp_path), home.fcntl.flock, []

    def overtaken(handle: int, kind: int) -> None:
        if not opened:
            shutil.rmtree(tmp_path / "run")
        opened.append(handle)
        flock(handle, kind)

    monkeypatch.setattr(home.fcntl, "flock", overtaken)
    lock.take()
    assert home.Lock(tmp_path).is_held()
    lock.release()
