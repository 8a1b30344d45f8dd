"""The contracts there are: finds the schema files, by version and name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from omni.contracts.errors import InvalidInput, NotFound

ROOT = Path(__file__).resolve().parent
SUFFIX = ".schema.json"
SYSTEM_EVENT = "system_event"
# Shapes that others refer to, and answers of the API: not documents that are stored.
SUPPORTING = frozenset({"shapes", "problem"})


@cache
def versions() -> tuple[int, ...]:
    """Versions that have a folder, oldest first."""
    return tuple(sorted(int(path.name[1:]) for path in ROOT.glob("v[0-9]*") if path.is_dir()))


@cache
def names_in(version: int) -> tuple[str, ...]:
    """Every schema of a version; a version holds only what it changes."""
    folder = ROOT / f"v{version}"
    found = (path.relative_to(folder).as_posix() for path in folder.rglob(f"*{SUFFIX}"))
    return tuple(sorted(each.removesuffix(SUFFIX) for each in found))


@cache
def names() -> tuple[str, ...]:
    """Every schema there is: `tool-manifest`, `payloads/tool_call` …"""
    return tuple(sorted({name for version in versions() for name in names_in(version)}))


@cache
def latest(name: str) -> int:
    """The version that new documents follow."""
    found = [version for version in versions() if name in names_in(version)]
    if not found:
        raise NotFound(f"There is no schema “{name[:100]}”.")
    return found[-1]


@cache
def raw(name: str, version: int) -> bytes:
    """The schema file as it is."""
    # Only listed names are opened, so no name can lead out of the folder.
    if name not in names_in(version):
        raise NotFound(f"There is no schema “{name[:100]}” in version {version}.")
    return (ROOT / f"v{version}" / f"{name}{SUFFIX}").read_bytes()


def schema(name: str, version: int | None = None) -> dict[str, Any]:
    """A fresh copy of the schema, of its latest version unless another is asked for."""
    loaded: dict[str, Any] = json.loads(raw(name, version or latest(name)))
    return loaded


def uri(name: str, version: int | None = None) -> str:
    return f"urn:omni:v{version or latest(name)}:{name}"


def from_uri(target: str) -> tuple[str, int]:
    """Name and version of `urn:omni:v<version>:<name>`, with or without a fragment."""
    _, _, version, name = target.partition("#")[0].split(":")
    return name, int(version[1:])


@cache
def event_kinds() -> tuple[str, ...]:
    return tuple(schema("run-event")["$defs"]["kind"]["enum"])


@cache
def system_event_names() -> tuple[str, ...]:
    return tuple(schema("run-event")["$defs"]["system_event_name"]["enum"])


@cache
def payload_schema(kind: str, name: str | None = None) -> str:
    """Which schema the payload of an event follows; unknown kinds and names are refused."""
    if kind not in event_kinds():
        raise InvalidInput.field("kind", f"There is no event kind “{kind[:64]}”.")
    if kind != SYSTEM_EVENT:
        if name is not None:
            raise InvalidInput.field("name", f"Only system events have a name, not {kind}.")
        return f"payloads/{kind}"
    if name not in system_event_names():
        raise InvalidInput.field("name", f"There is no system event “{str(name)[:64]}”.")
    return f"payloads/system/{name}"


def bundle(name: str, version: int | None = None) -> dict[str, Any]:
    """The schema with every schema it refers to inside, for readers that have only this one."""
    document = schema(name, version)
    found: dict[str, dict[str, Any]] = {}
    waiting = [document]
    while waiting:
        for target in sorted(references(waiting.pop())):
            base = target.partition("#")[0]
            if base and base != document["$id"] and base not in found:
                found[base] = schema(*from_uri(base))
                waiting.append(found[base])
    if found:
        document["$defs"] = {**document.get("$defs", {}), **dict(sorted(found.items()))}
    return document


def references(node: Any) -> Iterator[str]:
    """Every `$ref` in a schema."""
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for key, value in node.items():
            if key not in ("examples", "const", "enum", "default"):
                yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)
