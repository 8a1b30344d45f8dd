"""No way leads to a tool except through the door that decides first."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

from apps.tools.invoke.kinds import KINDS, executor_for
from omni.contracts import catalogue

ROOT = Path(__file__).parents[2]
EXECUTORS = ROOT / "apps" / "tools" / "executors"
# The seam that all sides share holds shapes, and nothing that executes.
SHAPES = "apps.tools.executors.base"


def modules() -> dict[str, ast.Module]:
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): ast.parse(path.read_text())
        for folder in ("apps", "omni")
        for path in (ROOT / folder).rglob("*.py")
    }


def imported(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def executor_classes() -> dict[str, str]:
    """Every class of the executors' room that can execute, by where it is defined."""
    found = {}
    for path in EXECUTORS.rglob("*.py"):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and module != SHAPES:
                methods = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
                if "execute" in methods:
                    found[f"{module}:{node.name}"] = node.name
    return found


@pytest.mark.req("TOOL-4")
def test_every_executor_is_known_to_the_door_and_to_the_contract() -> None:
    definitions = catalogue.schema("tool-manifest")["$defs"]
    branches = definitions["executor"]["oneOf"]
    declared = {branch["$ref"].rpartition("/")[2] for branch in branches}
    assert set(KINDS) == declared
    defined = {place: _class(place) for place in executor_classes()}
    assert {_class(place) for place in KINDS.values()} == set(defined.values())
    for kind, place in KINDS.items():
        assert _class(place).kind == kind


def _class(place: str) -> type:
    module, _, name = place.partition(":")
    found: type = getattr(importlib.import_module(module), name)
    return found


@pytest.mark.req("POL-1", "TOOL-4")
def test_only_the_door_reaches_what_executes() -> None:
    """A module that could execute without deciding would be one that imports an executor."""
    places = {place.partition(":")[0] for place in executor_classes()}
    for module, tree in modules().items():
        inside = module.startswith(("apps.tools.executors", "apps.tools.invoke"))
        reached = {name for name in imported(tree) if name in places}
        assert inside or not reached, f"{module} imports {reached}"


@pytest.mark.req("SBX-2")
def test_only_executors_and_their_sessions_open_sandboxes() -> None:
    doors = {"omni.sandbox.job", "omni.sandbox.session"}
    allowed = ("apps.tools.executors", "apps.tools.mcp", "omni.sandbox")
    for module, tree in modules().items():
        if not module.startswith(allowed):
            assert not imported(tree) & doors, module


def test_an_executor_of_another_age_is_not_used() -> None:
    from apps.tools.executors.base import ToolError

    manifest = {
        "name": "old.tool",
        "executor": {"kind": "inproc_safe", "version": "9.0.0", "config": {}},
    }
    with pytest.raises(ToolError) as caught:
        executor_for(manifest)  # type: ignore[arg-type]
    assert caught.value.kind == "misconfigured"
