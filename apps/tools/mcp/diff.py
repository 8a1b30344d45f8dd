"""What changed between two catalogs, and between two definitions, for people to judge."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass, field
from typing import Any

from apps.tools.mcp.text import visible
from omni.contracts.canonical import digest

CONTEXT = 3
MAX_LINES = 2_000


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a comparison; `sign` is `+`, `-`, `@` for a jump, or empty."""

    sign: str
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """One entry that is not what it was."""

    what: str
    kind: str
    name: str
    was: str = ""
    lines: tuple[Line, ...] = field(default=())


def compare(before: Any, after: Any) -> tuple[Line, ...]:
    """Two definitions line by line, in one spelling, so that only real changes show."""
    lines = difflib.unified_diff(pretty(before), pretty(after), lineterm="", n=CONTEXT)
    found: list[Line] = []
    for index, line in enumerate(lines):
        if index < 2:
            continue  # the names of files, of which there are none
        sign = line[0] if line[0] in "+-@" else ""
        if sign == "@" and not found:
            continue
        found.append(Line(sign, "⋯" if sign == "@" else line[1:]))
        if len(found) == MAX_LINES:
            break
    return tuple(found)


def changes(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[Change]:
    """Added, removed, renamed and changed entries between two versions of a catalog."""
    old = {(row["kind"], row["name"]): row for row in before}
    new = {(row["kind"], row["name"]): row for row in after}
    lost = {essence(row["kind"], row["body"]): row for key, row in old.items() if key not in new}
    found: list[Change] = []
    renamed: set[str] = set()
    for (kind, name), row in new.items():
        was = old.get((kind, name))
        if was is None:
            source = lost.get(essence(kind, row["body"]))
            if source is not None and source["name"] not in renamed:
                renamed.add(source["name"])
                found.append(Change("renamed", kind, name, was=source["name"]))
            else:
                found.append(Change("added", kind, name, lines=compare(None, row["body"])))
        elif was["sha256"] != row["sha256"]:
            lines = compare(was["body"], row["body"])
            found.append(Change("changed", kind, name, lines=lines))
    found += [
        Change("removed", kind, name)
        for kind, name in old
        if (kind, name) not in new and name not in renamed
    ]
    return sorted(found, key=lambda each: (each.kind, each.name))


def essence(kind: str, body: dict[str, Any]) -> str:
    """The hash of a definition without its name: equal for one that was only renamed."""
    return digest([kind, {key: value for key, value in body.items() if key != "name"}])


def pretty(value: Any) -> list[str]:
    if value is None:
        return []
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
    return [visible(line) for line in text.split("\n")]
