"""A server's tools, resources and prompts as we keep them: hashed, checked, with what is wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, Literal

from apps.tools.mcp.schemas import modern
from apps.tools.mcp.text import hidden_in, plain
from omni.contracts.bounds import check_bounds
from omni.contracts.canonical import digest
from omni.contracts.errors import OmniError
from omni.contracts.foreign import ForeignSchema

Kind = Literal["tool", "resource", "prompt"]

MAX_BYTES = 256 * 1024
MAX_NAME = 500
# What neither people nor models are shown, and what servers stamp anew each time.
VOLATILE = frozenset({"_meta", "icons"})


@dataclass(frozen=True, slots=True)
class Definition:
    """One entry of a catalog; `problem` says why nobody may accept it."""

    kind: Kind
    name: str
    body: dict[str, Any]
    sha256: str
    problem: str = ""


def definitions_of(kind: Kind, entries: list[dict[str, Any]]) -> list[Definition]:
    """Each entry for itself; one that cannot even be stored is replaced by an account of it."""
    return [_definition(kind, each) for each in entries]


def unique(found: list[Definition]) -> tuple[tuple[Definition, ...], list[str]]:
    """One entry per name; those that a server shows twice are marked, as nobody knows which."""
    counted = Counter((each.kind, each.name) for each in found)
    kept: dict[tuple[str, str], Definition] = {}
    for each in found:
        key = (each.kind, each.name)
        if counted[key] > 1:
            each = replace(each, problem="The server shows several entries of this name.")
        kept.setdefault(key, each)
    faults = [
        f"{plain(name, 100)} is shown {times} times"
        for (_, name), times in counted.items()
        if times > 1
    ]
    return tuple(kept.values()), faults


def _definition(kind: Kind, entry: dict[str, Any]) -> Definition:
    body = {key: value for key, value in entry.items() if key not in VOLATILE}
    name = str(body.get("uri") or body.get("uriTemplate") or body.get("name", ""))
    try:
        check_bounds(body, max_bytes=MAX_BYTES)
        sha256 = digest(body)
    except OmniError as error:
        account = {"name": plain(name, 100), "unreadable": plain(error.message)}
        problem = f"It cannot be kept: {plain(error.message)}"
        return Definition(kind, plain(name, 100), account, digest(account), problem)
    if len(name) > MAX_NAME or hidden_in(name):
        account = {"name": plain(name, 100), "unreadable": "name"}
        return Definition(kind, plain(name, 100), account, sha256, "Its name cannot be shown.")
    return Definition(kind, name, body, sha256, _problem(kind, body))


def _problem(kind: Kind, body: dict[str, Any]) -> str:
    hidden = hidden_in(body)
    if hidden:
        return f"It holds a character that people cannot see: {hidden.lower()}."
    if kind != "tool":
        return ""
    for key, what in (("inputSchema", "input"), ("outputSchema", "output")):
        schema = body.get(key)
        if schema is None:
            continue
        try:
            ForeignSchema(modern(schema))
        except (OmniError, RecursionError) as error:
            return f"Its {what} schema cannot be used: {plain(str(error))}"
    return ""
