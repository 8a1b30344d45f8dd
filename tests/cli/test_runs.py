"""Runs through the command line, executed by the worker of a real installation."""

from __future__ import annotations

import hashlib
import json
import socket
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import OMNI, ROOT, Cli, Installation

pytestmark = pytest.mark.req("CLI-1")


@pytest.fixture
def slug(ada: Cli) -> str:
    name = f"p{uuid.uuid4().hex[:8]}"
    ada("projects", "create", name, "--slug", name)
    return name


def script(ada: Cli, slug: str, *actions: object) -> str:
    given = json.dumps({"actions": list(actions)})
    started = ada.json(
        "runs", "start", slug, "--kind", "script", "--input", "-", "--detach", input=given
    )
    return str(started["id"])


def status(ada: Cli, run: str, *wanted: str) -> str:
    until = time.monotonic() + 120
    while (now := ada.json("runs", "show", run)["status"]) not in wanted:
        assert time.monotonic() < until, now
        time.sleep(0.2)
    return str(now)


@pytest.mark.req("RUN-1")
@pytest.mark.req("RUN-10")
def test_start_follows_a_run_that_a_worker_executes(ada: Cli, slug: str) -> None:
    shown = ada("runs", "start", slug, "Hello there.")
    assert "Hello there." in shown.stdout
    assert "running → done" in shown.stdout.splitlines()[-1]
    (thread,) = ada.json("threads", "list", slug)
    assert (thread["title"], thread["runs"]) == ("Hello there.", 1)
    (run,) = ada.json("runs", "list", "--project", slug, "--status", "done", "--since", "1h")
    assert run["id"] in shown.stderr
    detail = ada.json("runs", "show", run["id"])
    assert detail["usage"]["model_calls"] == 1
    assert "done" in ada("runs", "show", run["id"]).stdout
    lines = ada("runs", "tail", run["id"], "--json").stdout.splitlines()
    assert [json.loads(line)["seq"] for line in lines] == list(range(1, run["last_seq"] + 1))
    assert [json.loads(line) for line in lines] == ada.json("runs", "events", run["id"])
    rest = ada("runs", "tail", run["id"], "--json", "--after", "3").stdout.splitlines()
    assert rest == lines[3:]
    kinds = ada.json("runs", "events", run["id"], "--kind", "user_message", "-n", "1")
    assert [each["payload"]["text"] for each in kinds] == ["Hello there."]
    assert run["id"] in ada("runs", "list", "-p", slug).stdout


@pytest.mark.req("WRK-1")
def test_who_drives_a_run_is_who_wrote_its_events(ada: Cli, slug: str) -> None:
    run = script(ada, slug, {"do": "step"})
    status(ada, run, "done")
    actors = {each["actor"] for each in ada.json("runs", "events", run)}
    (worker,) = ada.json("workers", "list", "--kind", "worker")
    assert f"worker:{worker['id']}" in actors


def test_a_second_run_in_a_named_thread(ada: Cli, slug: str) -> None:
    thread = ada.json("threads", "create", slug, "Sites")
    ada("runs", "start", slug, "And then?", "--thread", thread["id"])
    assert [row["thread"] for row in ada.json("runs", "list", "-p", slug)] == [thread["id"]]
    assert ada.json("threads", "list", slug, "--search", "nothing") == []
    assert "Sites" in ada("threads", "list", slug).stdout


@pytest.mark.req("RUN-9")
def test_cancel_and_retry(ada: Cli, slug: str) -> None:
    run = script(ada, slug, {"do": "timer", "seconds": 600})
    status(ada, run, "running")
    assert ada.json("runs", "cancel", run, "--reason", "Enough.")["cancelled"] is True
    status(ada, run, "cancelled")
    late = ada.json("runs", "cancel", run)
    assert (late["cancelled"], late["status"]) == (False, "cancelled")
    assert "ended already" in ada("runs", "cancel", run).stderr
    ada("runs", "tail", run, code=1)
    ada("runs", "resume", run, code=7)
    again = ada.json("runs", "retry", run)["id"]
    status(ada, again, "running")
    assert ada.json("runs", "resume", again)["id"] == again
    ada("runs", "retry", again, code=7)
    ada("runs", "cancel", again)


def test_an_approval_is_answered_and_the_run_goes_on(ada: Cli, eve: Cli, slug: str) -> None:
    run = script(ada, slug, {"do": "ask", "title": "Go on?"})
    status(ada, run, "waiting_permission")
    (asked,) = ada.json("approvals", "list", "-p", slug)
    assert asked["title"] == "Go on?"
    assert "Go on?" in ada("approvals", "list", "-p", slug).stdout
    ada("approvals", "answer", asked["id"], "perhaps", code=8)
    eve("approvals", "answer", asked["id"], "approve", code=6)
    assert ada.json("approvals", "answer", asked["id"], "approve")["state"] == "answered"
    ada("approvals", "answer", asked["id"], "reject", code=7)
    status(ada, run, "done")
    assert ada.json("approvals", "list", "-p", slug) == []
    assert len(ada.json("approvals", "list", "-p", slug, "--state", "any")) == 1


@pytest.mark.req("RUN-14")
def test_files_go_in_and_come_out(ada: Cli, eve: Cli, slug: str, tmp_path: Path) -> None:
    """Also one larger than other requests may be, through the real server."""
    run = script(ada, slug, {"do": "timer", "seconds": 600})
    body = bytes(range(256)) * 48 * 1024
    (tmp_path / "data.csv").write_bytes(body)
    made = ada.json("artifacts", "put", run, str(tmp_path / "data.csv"))
    assert made["sha256"] == hashlib.sha256(body).hexdigest()
    assert (made["size"], made["media_type"], made["name"]) == (len(body), "text/csv", "data.csv")
    assert ada.json("artifacts", "list", run) == [made]
    assert "data.csv" in ada("artifacts", "list", run).stdout
    target = tmp_path / "copy.csv"
    got = ada.json("artifacts", "get", run, made["sha256"], "--output", str(target))
    assert got == {"sha256": made["sha256"], "size": len(body), "file": str(target)}
    assert target.read_bytes() == body
    piped = subprocess.run(
        [*OMNI, "artifacts", "get", run, made["sha256"]], env=ada.env, cwd=ROOT, capture_output=True
    )
    assert piped.stdout == body
    eve("artifacts", "get", run, made["sha256"], "-o", str(tmp_path / "stolen"), code=6)
    assert sorted(each.name for each in tmp_path.iterdir() if each.is_file()) == [
        "copy.csv", "data.csv",
    ]  # fmt: skip
    ada("runs", "cancel", run)


@pytest.mark.req("RUN-5")
def test_verify_proves_and_disproves(ada: Cli, omni: Cli, slug: str) -> None:
    run = script(ada, slug, {"do": "step", "output": {"n": 1}})
    status(ada, run, "done")
    assert ada.json("runs", "verify", run)["ok"] is True
    assert "holds" in ada("runs", "verify", run).stdout
    forge = (
        "from django.db import connection as c; x = c.cursor().execute;"
        "x('ALTER TABLE runs_runevent DISABLE TRIGGER USER');"
        "x('''UPDATE runs_runevent SET payload = '{}' WHERE run_id = %s AND seq = 2''',"
        f"['{run}']); x('ALTER TABLE runs_runevent ENABLE TRIGGER USER')"
    )
    omni("manage", "shell", "--no-imports", "-c", forge)
    broken = ada.json("runs", "verify", run, code=1)
    assert (broken["ok"], broken["seq"]) == (False, 2)
    assert "payload" in ada("runs", "verify", run, code=1).stdout


@pytest.mark.req("RUN-7")
def test_rebuild_throws_away_and_finds_the_same(ada: Cli, omni: Cli, slug: str) -> None:
    run = script(ada, slug, {"do": "step"}, {"do": "step"})
    status(ada, run, "done")
    before = ada.json("runs", "show", run)
    assert omni.json("runs", "rebuild", run) == {"rebuilt": 1, "different": []}
    assert ada.json("runs", "show", run) == before
    spoil = (
        "from apps.runs.models import Projection as P;"
        f"p = P.objects.get(pk='{run}'); p.state['steps_done'] = 77; p.save()"
    )
    omni("manage", "shell", "--no-imports", "-c", spoil)
    assert omni.json("runs", "rebuild", run, code=1)["different"] == [run]
    assert ada.json("runs", "show", run) == before
    assert "byte for byte" in omni("runs", "rebuild", run).stdout
    omni("runs", "rebuild", code=2)
    omni("runs", "rebuild", str(uuid.uuid4()), code=6)


def test_what_is_wrong_is_said(ada: Cli, eve: Cli, slug: str) -> None:
    ada("runs", "show", "seven", code=2)
    ada("runs", "show", str(uuid.uuid4()), code=6)
    ada("runs", "tail", str(uuid.uuid4()), code=6)
    ada("runs", "start", slug, "x", "--kind", "dream", code=8)
    ada("runs", "start", "nowhere", "x", code=6)
    run = script(ada, slug, {"do": "step"})
    for verb in ("show", "tail", "events", "verify", "cancel", "resume", "retry"):
        eve("runs", verb, run, code=6)


class Cutter(threading.Thread):
    """Stands between a client and the server, and cuts every connection after some bytes."""

    def __init__(self, port: int, after: int) -> None:
        super().__init__(daemon=True)
        self.server, self.after, self.cuts = port, after, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def run(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.carry(client)

    def carry(self, client: socket.socket) -> None:
        with client, socket.create_connection(("127.0.0.1", self.server)) as server:
            server.sendall(client.recv(65536))
            left = self.after
            while left > 0 and (data := server.recv(min(512, left))):
                client.sendall(data)
                left -= len(data)
            self.cuts += left <= 0


@pytest.fixture
def cutter(installation: Installation) -> Iterator[Cutter]:
    thread = Cutter(installation.port, after=4000)
    thread.start()
    yield thread
    thread.listener.close()


@pytest.mark.req("LIVE-2")
def test_tail_survives_lost_connections(ada: Cli, slug: str, cutter: Cutter) -> None:
    """Every event once and in order, though each connection is cut in the middle of something."""
    run = script(ada, slug, *[{"do": "step", "output": {"n": n}} for n in range(12)])
    status(ada, run, "done")
    whole = ada("runs", "tail", run, "--json").stdout
    through = ada("runs", "tail", run, "--json", OMNI_URL=f"http://127.0.0.1:{cutter.port}").stdout
    assert through == whole
    assert cutter.cuts >= 2
