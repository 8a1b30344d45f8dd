"""Writes the typed twins of the schemas: `python -m omni.contracts.generate`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from omni.contracts import catalogue
from omni.contracts.twins import Declaration, Twins

FOLDER = Path(__file__).resolve().parent / "types"
NOTE = "Generated from the schemas by `python -m omni.contracts.generate`; edit those instead."
EVENTS = ("run-event", "cloud-event", "artifact-ref")


def module_of(name: str) -> str:
    """The module in which the twin of a schema lives."""
    if name.startswith("payloads/system/"):
        return "system_events"
    if name.startswith("payloads/"):
        return "payloads"
    if name in EVENTS:
        return "events"
    return name.replace("-", "_")


def render_all() -> dict[str, str]:
    """File name → text of every generated module."""
    twins = Twins()
    modules: dict[str, list[Declaration]] = {}
    for name in catalogue.names():
        if name != "problem":
            modules.setdefault(module_of(name), []).extend(twins.declarations(name))
    homes = {each.name: module for module, rows in modules.items() for each in rows}
    files = {f"{module}.py": _module(module, rows, homes) for module, rows in modules.items()}
    files["__init__.py"] = _package(homes)
    return files


def main() -> int:
    files = render_all()
    for path in FOLDER.glob("*.py"):
        if path.name not in files:
            path.unlink()
    for file, text in files.items():
        (FOLDER / file).write_text(text)
    print(f"{len(files)} modules written to {FOLDER.name}/.")
    return 0


def _module(module: str, rows: list[Declaration], homes: dict[str, str]) -> str:
    ordered = _in_order(rows)
    body = "\n".join(each.text for each in ordered)
    outside: dict[str, set[str]] = {}
    for each in rows:
        for used in each.uses:
            if homes[used] != module:
                outside.setdefault(homes[used], set()).add(used)
    # Annotations are not postponed: Python would then take every member for a required one.
    lines = [f'"""{NOTE}"""', ""]
    if typing := _typing_imports(body):
        lines += [f"from typing import {typing}", ""]
    for home, imported in sorted(outside.items()):
        lines += _import(f"omni.contracts.types.{home}", imported)
    return "\n".join(lines).rstrip() + "\n\n" + _spaced(ordered)


def _spaced(rows: list[Declaration]) -> str:
    """Two blank lines around classes, one between aliases: as formatters want it."""
    text = ""
    for previous, each in zip([None, *rows], rows, strict=False):
        loose = each.is_class or previous is None or previous.is_class
        if previous is None:
            text += "\n" if each.is_class else ""
        else:
            text += "\n\n" if loose else ""
        text += each.text
    return text


def _typing_imports(body: str) -> str:
    known = ("Any", "Literal", "NotRequired", "TypeAlias", "TypedDict")
    words = set(re.findall(r"\b[A-Z][A-Za-z]+(?=[\[\](),|\s])", body))
    return ", ".join(name for name in known if name in words)


def _import(module: str, used: set[str]) -> list[str]:
    ordered = sorted(used)
    line = f"from {module} import {', '.join(ordered)}"
    if len(line) <= 100:
        return [line]
    return [f"from {module} import (", *(f"    {name}," for name in ordered), ")"]


def _package(homes: dict[str, str]) -> str:
    lines = [f'"""{NOTE}"""', ""]
    modules: dict[str, set[str]] = {}
    for name, module in homes.items():
        modules.setdefault(module, set()).add(name)
    for module, used in sorted(modules.items()):
        lines += _import(f"omni.contracts.types.{module}", used)
    exported = [f'    "{name}",' for name in sorted(homes)]
    return "\n".join([*lines, "", "__all__ = [", *exported, "]", ""])


def _in_order(rows: list[Declaration]) -> list[Declaration]:
    """What an alias needs at import time comes before it."""
    by_name = {each.name: each for each in rows}
    done: dict[str, Declaration] = {}

    def visit(each: Declaration, open_: tuple[str, ...]) -> None:
        if each.name in open_:
            raise ValueError(f"{each.name} contains itself; twins cannot express that.")
        for used in sorted(each.uses):
            if used in by_name and used not in done:
                visit(by_name[used], (*open_, each.name))
        done.setdefault(each.name, each)

    for each in rows:
        visit(each, ())
    return list(done.values())


if __name__ == "__main__":
    sys.exit(main())
