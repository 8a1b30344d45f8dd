"""Built-in tools that run programs: in the sandbox, on the workspace, every change recorded."""

from __future__ import annotations

import http.server
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from apps.registry.models import User
from apps.registry.services.projects import create_project
from apps.runs import eventlog
from apps.runs.drive.driver import advance
from apps.runs.models import Approval, ArtifactUse, Run, Thread
from apps.runs.services.approvals import answer_approval
from apps.runs.services.artifacts import open_artifact
from apps.runs.services.rollback import roll_back
from apps.runs.services.runs import cancel_run, create_run, create_thread
from apps.tools.invoke.surroundings import workspace_of
from apps.tools.services.builtin import load_builtins
from apps.tools.services.secrets import set_secret
from apps.tools.services.tools import install_tool, register_tool
from omni import config
from omni.contracts.errors import Conflict
from tests.tools.manifests import manifest

pytestmark = pytest.mark.django_db(transaction=True)
Call = Callable[..., Run]


@pytest.fixture
def thread(user: User) -> Thread:
    load_builtins()
    project = create_project(actor=user, name="Apollo")
    return create_thread(actor=user, project=project, title="Programs")


@pytest.fixture
def call(thread: Thread, user: User) -> Call:
    """Make one call, approve what it asks, drive it to its end."""

    def make(tool: str, **arguments: Any) -> Run:
        steps = [{"tool": tool, "arguments": arguments}]
        run = create_run(actor=user, thread=thread, run_kind="plan", input={"steps": steps})
        return finish(run, user)

    return make


def finish(run: Run, user: User) -> Run:
    while advance(run.pk, worker_id=uuid.uuid4()).startswith("waiting"):
        pending = Approval.objects.get(run=run, state="pending")
        answer_approval(actor=user, approval=pending, answer="approve")
    run.refresh_from_db()
    return run


def payloads(run: Run, name: str) -> list[Any]:
    return [e.payload for e in eventlog.read_all(run.pk) if name in (e.name, e.kind)]


@pytest.mark.req("TOOL-7", "SBX-1")
def test_a_command_sees_the_workspace_and_nothing_of_the_machine(
    call: Call, thread: Thread
) -> None:
    (workspace_of(thread.pk) / "a.txt").write_text("one\ntwo\n")
    run = call("command.run", command=["sh", "-c", "wc -l < a.txt; env; cat /etc/shadow"])
    output = payloads(run, "tool_result")[0]["output"]
    assert output["stdout"].startswith("2\n")
    assert "OMNI" not in output["stdout"]
    assert output["exit_code"] != 0 and "shadow" in output["stderr"]
    assert payloads(run, "tool_call")[0]["executor"] == "sandbox_job 1.0.0"


@pytest.mark.req("TOOL-8", "SBX-3")
def test_what_a_program_changes_is_recorded_and_can_be_undone(
    call: Call, thread: Thread, user: User
) -> None:
    folder = workspace_of(thread.pk)
    (folder / "a.txt").write_text("old\n")
    (folder / "gone.txt").write_text("gone\n")
    code = (
        "import os, pathlib as p; p.Path('a.txt').write_text('new\\n'); os.remove('gone.txt');"
        "os.mkdir('d'); p.Path('d/b.bin').write_bytes(bytes(range(256)));"
        "p.Path(os.environ['OUTPUT_DIR'], 'report.txt').write_text('done')"
    )
    run = call("python.run", code=code)
    assert run.status == "done", payloads(run, "tool_error")
    changes = {each["path"]: each["change"] for each in payloads(run, "workspace_changed")}
    assert changes == {"a.txt": "modified", "gone.txt": "deleted", "d/b.bin": "created"}
    assert ArtifactUse.objects.filter(run=run, name="report.txt").exists()
    assert payloads(run, "tool_result")[0]["artifacts"][0]["name"] == "report.txt"
    assert finish(roll_back(actor=user, run=run), user).status == "done"
    assert (folder / "a.txt").read_text() == "old\n"
    assert (folder / "gone.txt").read_text() == "gone\n"
    assert not (folder / "d" / "b.bin").exists()


@pytest.mark.req("SBX-4", "TOOL-8")
def test_a_limit_is_told_and_what_was_changed_before_it_is_recorded(call: Call) -> None:
    code = "open('half.txt', 'w').write('half'); x = bytearray(3 << 30)"
    run = call("python.run", code=code)
    if run.status == "done":
        # Python itself may notice first; then it is a result with an exit code.
        assert "MemoryError" in payloads(run, "tool_result")[0]["output"]["stderr"]
    else:
        assert payloads(run, "tool_error")[0]["category"] == "limit_exceeded"
        assert payloads(run, "tool_error")[0]["data"]["status"] == "memory_limit"
    assert [each["path"] for each in payloads(run, "workspace_changed")] == ["half.txt"]


@pytest.mark.req("RUN-9")
def test_cancelling_a_run_stops_its_program(thread: Thread, user: User) -> None:
    steps = [{"tool": "command.run", "arguments": {"command": ["sleep", "100"]}}]
    run = create_run(actor=user, thread=thread, run_kind="plan", input={"steps": steps})
    advance(run.pk, worker_id=uuid.uuid4())
    answer_approval(actor=user, approval=Approval.objects.get(), answer="approve")
    timer = threading.Timer(0.1, lambda: _cancel_when_called(run, user))
    timer.start()
    assert advance(run.pk, worker_id=uuid.uuid4()) == "cancelled"
    timer.join()
    assert payloads(run, "tool_error")[0]["category"] == "cancelled"


def _cancel_when_called(run: Run, user: User) -> None:
    from django.db import connection

    try:
        while not payloads(run, "tool_call"):
            pass
        cancel_run(actor=user, run=run)
    finally:
        connection.close()


class _Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        self.wfile.write(b"hello from the page")

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def page() -> Iterator[int]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.req("TOOL-7", "POL-2")
def test_a_page_is_fetched_once_its_host_is_approved_and_its_place_opened(
    call: Call, page: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"http://127.0.0.1:{page}/"
    refused = call("http.get", url=url)
    assert payloads(refused, "tool_error")[0]["category"] == "permission_denied"
    assert Approval.objects.get().detail["hosts"] == ["127.0.0.1"]
    monkeypatch.setenv("OMNI_EGRESS_PRIVATE", f"127.0.0.1:{page}")
    config.current.cache_clear()
    try:
        run = call("http.get", url=url)
    finally:
        monkeypatch.undo()
        config.current.cache_clear()
    output = payloads(run, "tool_result")[0]["output"]
    assert (output["status"], output["text"]) == (200, "hello from the page")


@pytest.mark.req("TOOL-8")
def test_names_that_a_program_chooses_never_lose_its_result(call: Call, thread: Thread) -> None:
    code = (
        "import os\n"
        "for name in ('a\\\\b', '~x', '..x', 'new\\nline', 'x' * 200): open(name, 'w').write('1')\n"
        "open(b'\\xff', 'w').write('1'); os.mkdir('closed'); os.chmod('closed', 0)\n"
        "print('done')"
    )
    first, again = call("python.run", code=code), call("command.run", command=["true"])
    assert payloads(first, "tool_result")[0]["output"]["stdout"] == "done\n"
    assert len(payloads(first, "workspace_changed")) == 6
    assert again.status == "done"


@pytest.mark.req("TOOL-8")
def test_many_and_large_files_are_told_and_what_was_not_kept_is_not_put_back(
    call: Call, thread: Thread, user: User
) -> None:
    folder = workspace_of(thread.pk)
    (folder / "large.bin").write_bytes(b"x" * (3 << 20))
    code = "import os; os.remove('large.bin'); [open(f'f{n}', 'w').close() for n in range(550)]"
    run = call("python.run", code=code)
    assert run.status == "done", payloads(run, "tool_error")
    assert len(payloads(run, "workspace_changed")) == 500
    assert ArtifactUse.objects.filter(run=run, name="workspace-changes.json").exists()
    gone = call("command.run", command=["rm", "-rf", "f1"])
    (folder / "large.bin").write_bytes(b"y" * (3 << 20))
    removed = call("command.run", command=["rm", "large.bin"])
    assert gone.status == removed.status == "done"
    with pytest.raises(Conflict, match="was not kept"):
        roll_back(actor=user, run=removed)


@pytest.mark.req("SEC-3")
def test_a_secret_that_a_program_writes_is_in_no_artifact(
    call: Call, thread: Thread, user: User
) -> None:
    value = "sesame-open-the-door-9917"
    set_secret(actor=user, project=thread.project, name="DOOR", value=value)
    code = (
        f"v = '-'.join({value.split('-')!r}); import os;"
        "open('a.txt', 'w').write(v); open(os.environ['OUTPUT_DIR'] + '/b.txt', 'w').write(v)"
    )
    run = call("python.run", code=code)
    assert run.status == "done"
    for use in ArtifactUse.objects.filter(run=run):
        with open_artifact(use.artifact_id) as stream:
            assert value.encode() not in stream.read()


@pytest.mark.req("SBX-4")
def test_a_program_that_fills_the_workspace_is_ended(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.tools.executors.quota.MAX_BYTES", 4 << 20)
    code = (
        "import time\nfor n in range(8):\n    open(f'{n}.bin', 'wb').write(b'x' * (1 << 20))\n"
        "time.sleep(100)"
    )
    error = payloads(call("python.run", code=code), "tool_error")[0]
    assert error["category"] == "limit_exceeded" and "workspace" in error["message"]
    refused = payloads(call("command.run", command=["true"]), "tool_error")[0]
    assert refused["category"] == "limit_exceeded"


@pytest.mark.req("POL-5")
def test_a_program_that_claims_to_simulate_is_not_believed(thread: Thread, user: User) -> None:
    claims = manifest(
        name="own.touch",
        scopes=["filesystem.write"],
        capabilities=["read"],
        simulates=True,
        output_schema={"type": "object"},
        executor={
            "kind": "sandbox_job",
            "version": "1.0.0",
            "config": {"command": ["touch", "made.txt"], "output": "exit_code"},
        },
    )
    tool, _ = register_tool(actor=user, manifest=claims, project=thread.project)
    install_tool(actor=user, project=thread.project, tool=tool)
    steps = {"steps": [{"tool": "own.touch"}]}
    for mode, status in (("dry_run", "done"), ("analysis_only", "failed")):
        run = create_run(actor=user, thread=thread, run_kind="plan", input=steps, mode=mode)
        assert finish(run, user).status == status
        assert not (workspace_of(thread.pk) / "made.txt").exists()
