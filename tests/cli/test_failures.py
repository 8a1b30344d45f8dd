"""Failures: one sentence, a remedy, a documented exit code; never a traceback."""

from __future__ import annotations

import signal
import subprocess

import pytest

from tests.cli.conftest import OMNI, ROOT, Cli, Installation


@pytest.mark.req("CLI-1")
def test_nothing_runs_here(alone: Cli) -> None:
    assert "not running" in alone("status", code=3).stdout
    result = alone("projects", "list", code=3)
    assert "omni up" in result.stderr
    assert alone.problem("projects", "list", code=3)["category"] == "unavailable"


@pytest.mark.req("CLI-1")
def test_the_server_does_not_answer(alone: Cli) -> None:
    env = {"OMNI_URL": f"http://127.0.0.1:{alone.env['OMNI_PORT']}", "OMNI_TOKEN": "omni_x"}
    result = alone("whoami", code=3, **env)
    assert "does not answer: connection refused" in result.stderr
    assert "OMNI_URL" in result.stderr


@pytest.mark.req("CLI-1")
def test_a_wrong_token(ada: Cli) -> None:
    result = ada("projects", "list", code=4, OMNI_TOKEN="omni_wrong")
    assert "unknown, expired or revoked" in result.stderr
    assert "omni_wrong" not in result.stderr
    problem = ada.problem("projects", "list", code=4, OMNI_TOKEN="omni_wrong")
    assert problem["status"] == 401
    assert problem["category"] == "unauthenticated"


@pytest.mark.req("CLI-1")
def test_no_token(ada: Cli, installation: Installation) -> None:
    result = ada("whoami", code=4, OMNI_TOKEN="")
    assert f"omni login {installation.url}" in result.stderr


@pytest.mark.req("SEC-2")
def test_what_is_not_allowed_and_what_is_not_there(
    ada: Cli, eve: Cli, installation: Installation
) -> None:
    ada("projects", "create", "Closed", "--slug", "closed")
    assert "There is no such project" in eve("projects", "show", "closed", code=6).stderr
    reader = ada.but(OMNI_TOKEN=installation.tokens["reader"])
    assert "scope" in reader("projects", "create", "X", code=5).stderr
    assert eve.problem("people", "list", code=5)["category"] == "permission_denied"
    assert ada("projects", "create", "Closed", code=7).stderr.count("\n") == 2
    assert ada.problem("projects", "create", "Y", "--slug", "Not A Slug", code=8)["errors"]["slug"]


@pytest.mark.req("CLI-1")
def test_a_server_that_is_none_of_ours(alone: Cli) -> None:
    import http.server
    import threading

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/api/me" else 404)
            self.end_headers()
            self.wfile.write(b"<html>hello</html>")

        def log_message(self, *_: object) -> None:
            return

    with http.server.HTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        env = {"OMNI_URL": f"http://127.0.0.1:{server.server_port}", "OMNI_TOKEN": "omni_x"}
        assert "not as an Omni server does" in alone("whoami", code=1, **env).stderr
        assert "without saying why" in alone("roles", code=6, **env).stderr
        server.shutdown()


@pytest.mark.req("CLI-1")
def test_interrupted_it_ends_quietly(ada: Cli) -> None:
    child = subprocess.Popen(
        [*OMNI, "audit", "list", "--follow", "--json"],
        env=ada.env,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None and child.stdout.readline()
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert child.returncode == 130
    assert said.strip() == ""


@pytest.mark.req("CLI-1")
def test_a_reader_that_leaves_is_no_error(ada: Cli) -> None:
    """`omni … | head -1` must not complain."""
    command = f"{OMNI[0]} -m omni settings | head -1; echo ${{PIPESTATUS[0]}}"
    slow = f"{OMNI[0]} -m omni settings --json | true; echo ${{PIPESTATUS[0]}}"
    for line in (command, slow):
        result = subprocess.run(
            ["bash", "-c", line], env=ada.env, cwd=ROOT, capture_output=True, text=True
        )
        assert result.stderr == ""
        assert result.stdout.splitlines()[-1] in ("0", "141")


@pytest.mark.req("CLI-1")
def test_a_bug_is_a_sentence_unless_one_asks_for_more(alone: Cli) -> None:
    """A home folder that is a file is nothing anybody planned for in the saved logins."""
    script = (
        "import sys; from omni.cli import root; root.root.make_context = lambda *a: 1 / 0;"
        "sys.exit(root.run(['status']))"
    )
    command = [OMNI[0], "-c", script]
    quiet = subprocess.run(command, env=alone.env, cwd=ROOT, capture_output=True, text=True)
    assert quiet.returncode == 1
    assert "ZeroDivisionError" in quiet.stderr
    assert "Traceback" not in quiet.stderr
    loud = subprocess.run(
        command, env=alone.env | {"OMNI_DEBUG": "1"}, cwd=ROOT, capture_output=True, text=True
    )
    assert "Traceback" in loud.stderr
