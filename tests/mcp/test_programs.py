"""Servers that are programs: a real one from PyPI in the real sandbox, and none outside of it."""

from __future__ import annotations

import dataclasses
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from apps.tools.executors.base import ToolError
from apps.tools.mcp.client import call_tool, discover
from apps.tools.mcp.failures import Witness, normalised
from apps.tools.mcp.target import Bounds, Target
from apps.tools.services.mcp_checks import check_server
from apps.tools.services.mcp_servers import add_server
from omni import config
from omni.sandbox.shapes import Refused

pytestmark = [pytest.mark.req("MCP-1"), pytest.mark.req("SBX-2")]
PATIENT = Bounds(seconds=120)


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The installed packages, as a folder of programs."""
    changed = dataclasses.replace(config.current(), mcp_programs=sysconfig.get_path("purelib"))
    monkeypatch.setattr("omni.config.current", lambda: changed)


def program(*command: str) -> Target:
    return Target("clock", "stdio", command=command, environment={"PYTHONPATH": "/workspace"})


def refusal(target: Target, bounds: Bounds = PATIENT) -> ToolError:
    with pytest.raises(ToolError) as caught:
        discover(target, bounds=bounds)
    return caught.value


def test_a_server_from_pypi_works_in_the_sandbox(programs: None) -> None:
    clock = program("python3", "-m", "mcp_server_time", "--local-timezone", "UTC")
    found = discover(clock, bounds=PATIENT)
    assert {each.name for each in found.definitions} == {"get_current_time", "convert_time"}
    assert {each.problem for each in found.definitions} == {""}
    sha256 = next(each.sha256 for each in found.definitions if each.name == "convert_time")
    asked = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
    result = call_tool(clock, "convert_time", asked, definition_sha256=sha256, bounds=PATIENT)
    assert "21:00" in result["content"][0]["text"]


@pytest.mark.req("MCP-5")
@pytest.mark.parametrize(
    ("script", "kind", "words"),
    [
        ("echo gone >&2; exit 3", "unavailable", "exit code 3: gone"),
        ("head -c 20000000 /dev/zero", "limit_exceeded", ""),
        ("exec no-such-program", "unavailable", "not found"),
    ],
)
def test_a_program_that_misbehaves(script: str, kind: str, words: str) -> None:
    error = refusal(program("/bin/sh", "-c", script))
    assert (error.kind, words in str(error)) == (kind, True), str(error)


@pytest.mark.req("MCP-5")
def test_a_program_that_says_nothing_or_nonsense_times_out() -> None:
    short = Bounds(seconds=2)
    assert refusal(program("/bin/sh", "-c", "sleep 3600"), short).kind == "timeout"
    assert refusal(program("/bin/sh", "-c", "echo Hello!; sleep 3600"), short).kind == "timeout"
    noisy = normalised(TimeoutError(), server="clock", witness=Witness(noise=True))
    assert "not JSON-RPC" in str(noisy)


def test_a_program_sees_nothing_of_the_machine(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    refusal(program("/bin/sh", "-c", f"echo x > {trace}; cat {sys.executable} >&2"))
    assert not trace.exists()


@pytest.mark.django_db
def test_where_nothing_can_be_isolated_it_is_refused(
    monkeypatch: pytest.MonkeyPatch, project: Any, user: Any
) -> None:
    def refuse(job: Any) -> Any:
        raise Refused("user namespaces are switched off")

    monkeypatch.setattr("apps.tools.mcp.stdio.Process", refuse)
    server = add_server(
        actor=user, project=project, slug="clock", transport="stdio", command=["cat"]
    )
    check = check_server(server.pk)
    assert check is not None
    assert (check.ok, check.category) == (False, "sandbox_refused")
    assert "user namespaces" in check.message
