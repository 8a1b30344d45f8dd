"""Sessions with friendly and hostile servers: what is good is taken, the rest is an error."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from apps.tools.executors.base import ToolError
from apps.tools.mcp import loop
from apps.tools.mcp.client import Found, call_tool, discover
from apps.tools.mcp.target import Bounds, Target
from omni.contracts.foreign import ForeignSchema
from tests.mcp.conftest import Servers

pytestmark = pytest.mark.req("MCP-5")
# Long enough for a slow machine; the servers that stall do so for an hour.
PATIENT, SHORT = Bounds(seconds=60), Bounds(seconds=1)


def names(found: Found, kind: str = "tool") -> list[str]:
    return [each.name for each in found.definitions if each.kind == kind]


def refusal(target: Target, bounds: Bounds = PATIENT) -> ToolError:
    with pytest.raises(ToolError) as caught:
        discover(target, bounds=bounds)
    assert "tested" in str(caught.value)
    return caught.value


def sha_of(found: Found, name: str) -> str:
    return next(each.sha256 for each in found.definitions if each.name == name)


@pytest.mark.req("MCP-1")
@pytest.mark.parametrize("way", [("/mcp", "streamable_http"), ("/sse", "sse")])
def test_a_friendly_server_shows_everything(servers: Servers, way: tuple[str, str]) -> None:
    found = discover(servers.target(*way), bounds=PATIENT)  # type: ignore[arg-type]
    assert names(found) == ["add", "shout", "picture", "fail", "slow"]
    assert names(found, "resource") == ["note://today"]
    assert names(found, "prompt") == ["greet"]
    assert [each.problem for each in found.definitions if each.problem] == []
    assert (found.server_name, found.server_version, found.faults) == ("friendly", "1.2.3", ())


@pytest.mark.req("MCP-1")
@pytest.mark.parametrize("way", [("/mcp", "streamable_http"), ("/sse", "sse")])
def test_a_tool_is_called(servers: Servers, way: tuple[str, str]) -> None:
    target = servers.target(*way)  # type: ignore[arg-type]
    sha256 = sha_of(discover(target, bounds=PATIENT), "add")
    result = call_tool(
        target, "add", {"left": 2, "right": 3}, definition_sha256=sha256, bounds=PATIENT
    )
    assert result["structuredContent"] == {"total": 5}


def test_the_same_definition_has_the_same_hash_over_every_transport(servers: Servers) -> None:
    first = discover(servers.target("/mcp"), bounds=PATIENT)
    second = discover(servers.target("/sse", "sse"), bounds=PATIENT)
    assert first.definitions == second.definitions


@pytest.mark.parametrize(
    ("way", "kind", "words"),
    [
        ("garbage", "invalid_output", "not JSON-RPC"),
        ("html", "invalid_output", "text/html"),
        ("refused", "misconfigured", "HTTP 401"),
        ("busy", "rate_limited", "HTTP 429"),
        ("broken", "unavailable", "HTTP 500"),
        ("elsewhere", "misconfigured", "leads elsewhere"),
        ("nan", "invalid_output", "NaN"),
        ("endless", "limit_exceeded", "50 pages"),
        ("many", "limit_exceeded", "1000 entries"),
        ("giant", "limit_exceeded", "8,388,608 bytes"),
    ],
)
def test_a_hostile_server_is_an_error_with_a_cause(
    servers: Servers, way: str, kind: str, words: str
) -> None:
    error = refusal(servers.hostile(way))
    assert (error.kind, words in str(error)) == (kind, True), str(error)


@pytest.mark.parametrize("way", ["mute", "trickle"])
def test_a_server_that_stalls_costs_its_limit_and_no_more(servers: Servers, way: str) -> None:
    assert refusal(servers.hostile(way), SHORT).kind == "timeout"


def test_a_server_that_is_not_there(servers: Servers) -> None:
    target = Target(
        "tested",
        "streamable_http",
        "http://127.0.0.1:9/mcp",
        allow_private=frozenset({"127.0.0.1:9"}),
    )
    assert refusal(target).kind == "unavailable"
    assert refusal(servers.target("/nothing")).kind == "misconfigured"


@pytest.mark.parametrize(
    ("way", "good", "faults"),
    [("malformed", ["good"], 4), ("deep", [], 1), ("large", ["good", "big"], 0)],
)
def test_one_bad_tool_does_not_hide_the_others(
    servers: Servers, way: str, good: list[str], faults: int
) -> None:
    found = discover(servers.hostile(way), bounds=PATIENT)
    assert names(found) == good
    assert len(found.faults) == faults


@pytest.mark.parametrize(
    ("way", "problems"),
    [
        ("duplicate", {"good": "several entries", "single": ""}),
        ("bidi", {"good": "", "turned": "right-to-left override"}),
        ("schemas", {"good": "", "far": "another document"}),
        ("large", {"good": "", "big": "262,144 bytes"}),
    ],
)
def test_what_could_deceive_is_marked(servers: Servers, way: str, problems: dict[str, str]) -> None:
    found = {each.name: each for each in discover(servers.hostile(way)).definitions}
    assert set(found) == set(problems)
    for name, words in problems.items():
        assert words in found[name].problem
        assert bool(words) == bool(found[name].problem)


@pytest.mark.req("MCP-2")
def test_old_dialects_and_none_are_accepted_and_mean_the_same(servers: Servers) -> None:
    from apps.tools.mcp.schemas import DIALECT, modern

    found = {each.name: each for each in discover(servers.hostile("dialects")).definitions}
    assert {each.problem for each in found.values()} == {""}
    schema = modern(found["old"].body["inputSchema"])
    assert schema["$schema"] == modern(found["good"].body["inputSchema"])["$schema"] == DIALECT
    assert schema["properties"]["at"] == {"$ref": "#/$defs/point"}
    assert schema["$defs"]["point"]["prefixItems"] == [{"type": "number"}]
    assert schema["dependentRequired"] == {"at": ["at"]}
    ForeignSchema(schema).validate({"at": [1, "x"]})
    with pytest.raises(Exception, match="not valid at /at/0"):
        ForeignSchema(schema).validate({"at": ["x"]})


@pytest.mark.req("SEC-1")
@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "127.1", "0x7f.1", "[::1]", "2130706433"]
)
def test_private_addresses_are_refused(servers: Servers, host: str) -> None:
    target = Target("tested", "streamable_http", f"http://{host}:{servers.port}/mcp")
    assert refusal(target).kind == "permission_denied"


@pytest.mark.req("SEC-1")
def test_an_allowed_private_host_allows_that_port_only(servers: Servers) -> None:
    allowed = frozenset({f"127.0.0.1:{servers.port + 1}"})
    assert refusal(servers.target("/mcp", allow_private=allowed)).kind == "permission_denied"


def call(servers: Servers, way: str, bounds: Bounds = PATIENT) -> ToolError:
    target = servers.hostile(way)
    sha256 = sha_of(discover(target, bounds=PATIENT), "good")
    with pytest.raises(ToolError) as caught:
        call_tool(target, "good", {}, definition_sha256=sha256, bounds=bounds)
    return caught.value


@pytest.mark.parametrize(
    ("way", "kind"),
    [
        ("vanishes", "outcome_unknown"),
        ("infinite", "invalid_output"),
        ("wordy", "limit_exceeded"),
        ("confused", "invalid_output"),
    ],
)
def test_a_hostile_answer_to_a_call(servers: Servers, way: str, kind: str) -> None:
    assert call(servers, way).kind == kind


def test_a_call_that_stalls_times_out(servers: Servers) -> None:
    assert call(servers, "stalls", SHORT).kind == "timeout"


def test_a_stalled_call_is_cancelled_at_once(servers: Servers) -> None:
    target = servers.hostile("stalls")
    sha256 = sha_of(discover(target, bounds=PATIENT), "good")
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    with pytest.raises(ToolError) as caught:
        call_tool(
            target, "good", {}, definition_sha256=sha256,
            bounds=Bounds(seconds=3600), cancelled=stop.is_set,
        )  # fmt: skip
    assert caught.value.kind == "cancelled"


def test_abandoned_sessions_end_in_the_background(servers: Servers) -> None:
    refusal(servers.hostile("mute"), Bounds(seconds=0.2))
    until = time.monotonic() + 60
    while loop._open and time.monotonic() < until:
        time.sleep(0.05)
    assert not loop._open


def test_a_forked_worker_makes_a_loop_of_its_own(servers: Servers) -> None:
    """Celery forks after the parent may have used the loop already."""
    discover(servers.target("/mcp"), bounds=PATIENT)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            found = discover(servers.target("/mcp"), bounds=PATIENT)
            code = 0 if len(found.definitions) == 7 else 2
        finally:
            os._exit(code)
    until, status = time.monotonic() + 120, None
    while status is None and time.monotonic() < until:
        ended, code = os.waitpid(child, os.WNOHANG)
        status = os.waitstatus_to_exitcode(code) if ended else time.sleep(0.05)
    if status is None:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert status == 0
