"""Tools and policies through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.tools.manifests import manifest
from tests.tools.policies import policy, rule


@pytest.mark.req("CLI-1", "TOOL-3")
def test_the_life_of_a_tool(ada: Cli, tmp_path: Path) -> None:
    ada("projects", "create", "Tooling", "--slug", "tooling")
    for version in ("1.0.0", "1.1.0"):
        file = tmp_path / f"{version}.json"
        file.write_text(json.dumps(manifest(version=version)))
        made = ada.json("tools", "register", str(file), "--project", "tooling")
        assert ada.json("tools", "validate", str(file))["sha256"] == made["sha256"]
    (tmp_path / "bad.json").write_text(json.dumps(manifest(version="new")))
    wrong = ada.problem("tools", "validate", str(tmp_path / "bad.json"), code=8)
    assert "/version" in wrong["errors"]
    ada("tools", "validate", str(tmp_path / "missing.json"), code=8)
    assert "text.count" in ada("tools", "list", "tooling", "--available").stdout

    ada("tools", "install", "tooling", "text.count", "--version", "1.0.0")
    ada("tools", "install", "tooling", "text.count")
    assert ada.json("tools", "pin", "tooling", "text.count", "1.1.0")["pinned"] is True
    shown = ada.json("tools", "show", "tooling", "text.count")
    assert (shown["version"], len(shown["installed"])) == ("1.1.0", 2)
    assert "1.1.0 (pinned)" in ada("tools", "show", "tooling", "text.count").stdout
    ada("tools", "uninstall", "tooling", "text.count", code=2)
    ada("tools", "uninstall", "tooling", "text.count", "--version", "1.0.0", "--yes")
    assert ada.json("tools", "uninstall", "tooling", "text.count", "-y")["uninstalled"] is True
    names = [row["name"] for row in ada.json("tools", "list", "tooling")]
    assert "text.count" not in names


@pytest.mark.req("CLI-1", "POL-1")
def test_a_policy_decides_and_explains(ada: Cli, omni: Cli, tmp_path: Path) -> None:
    ada("projects", "create", "Ruled", "--slug", "ruled")
    file = tmp_path / "tool.json"
    file.write_text(json.dumps(manifest()))
    ada("tools", "register", str(file), "--project", "ruled")
    ada("tools", "install", "ruled", "text.count")
    before = ada.json("policy", "explain", "ruled", "text.count")
    assert (before["effect"], before["policy"]) == ("ask", "default"), "the platform's own policy"
    document = json.dumps(policy(rule("deny", "never", tools=["text.*"]), name="strict"))
    ada("policy", "publish", "-", "--project", "ruled", "--use", input=document)
    told = ada(
        "policy", "explain", "ruled", "text.count", "--arguments", "-", input='{"text": "a"}'
    ).stdout
    assert "rule never of strict 1.0.0" in told
    ada("policy", "explain", "ruled", "text.count", "--arguments", "{}", code=2)
    states = {row["name"]: row["in_force"] for row in ada.json("policy", "list", "-p", "ruled")}
    assert states == {"default": True, "strict": True}
    assert "never" in ada("policy", "show", "strict", "--project", "ruled").stdout
    assert ada.json("policy", "withdraw", "strict", "-p", "ruled", "-y")["withdrawn"] is True
    assert ada.json("policy", "use", "strict", "--project", "ruled")["in_force"] is True
    ada("policy", "list", code=5)
    assert "default" in omni("policy", "list").stdout
