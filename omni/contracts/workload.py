"""How much work a schema can cause: a small one can ask for an endless lot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from omni.contracts.bounds import pointer
from omni.contracts.errors import InvalidInput

Node = dict[str, Any]
Place = tuple[str | int, ...]

MAX_WORK = 20_000
MAX_CHAIN = 300
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
DEFINITIONS = ("$defs", "definitions")
MAPS = (*DEFINITIONS, "properties", "patternProperties", "dependentSchemas", "dependencies")
CHOICES = ("anyOf", "oneOf", "allOf")
# Values of these are data, not schemas.
DATA = ("const", "enum", "default", "examples", "example")
TYPES = frozenset({"string", "number", "integer", "boolean", "null", "array", "object"})


class Workload:
    """Refuses a schema whose references lead out of it or whose choices multiply."""

    def __init__(self, root: Node) -> None:
        self._root = root
        self._work: dict[int, int] = {}
        self._open: set[int] = set()

    def check(self) -> None:
        for place, node in _everything(self._root, ()):
            _check_references(node, place)
        for place, node in _everything(self._root, ()):
            self._check_recursion(node, place)
        if self._work_of(self._root) > MAX_WORK:
            raise _refused("Its choices and references multiply into too much work.", ())

    def _check_recursion(self, node: Node, place: Place) -> None:
        """Two branches that both lead back here double the work with every level of a value."""
        for keyword in CHOICES:
            branches = node.get(keyword)
            if not isinstance(branches, list):
                continue
            back = [each for each in branches if isinstance(each, dict)]
            back = [each for each in back if self._reaches(each, node)]
            if any(
                self._types(one) & self._types(other)
                for index, one in enumerate(back)
                for other in back[index + 1 :]
            ):
                raise _refused(
                    "Several branches lead back to themselves.",
                    (*place, keyword),
                    remedy="Give the branches different types.",
                )

    def _work_of(self, node: Node) -> int:
        key = id(node)
        if key in self._open:
            return 0
        if key not in self._work:
            if len(self._open) >= MAX_CHAIN:
                raise _refused("Its references form too long a chain.", ())
            self._open.add(key)
            # The cap keeps the numbers of a hostile schema small.
            self._work[key] = min(1 + self._work_inside(node), MAX_WORK + 1)
            self._open.discard(key)
        return self._work[key]

    def _work_inside(self, node: Node) -> int:
        """Properties look at different values, so only the costliest counts; others add up."""
        members = node.get("properties")
        apart = list(members.values()) if isinstance(members, dict) else []
        separate = {id(each) for each in apart}
        together = (each for each in self._applied(node) if id(each) not in separate)
        costliest = max(
            (self._work_of(each) for each in apart if isinstance(each, dict)), default=0
        )
        return costliest + sum(self._work_of(each) for each in together)

    def _reaches(self, start: Node, goal: Node) -> bool:
        seen: set[int] = set()
        waiting = [start]
        while waiting:
            node = waiting.pop()
            if node is goal:
                return True
            if id(node) not in seen:
                seen.add(id(node))
                waiting.extend(self._applied(node))
        return False

    def _applied(self, node: Node) -> Iterator[Node]:
        """The schemas that are used when this one is; definitions only through a reference."""
        for place, each in _inside(node):
            if place[0] not in DEFINITIONS:
                yield each
        for keyword in REFERENCES:
            if isinstance(node.get(keyword), str):
                target = self._find(node[keyword])
                if target is not None:
                    yield target

    def _find(self, reference: str) -> Node | None:
        found: Any = self._root
        for escaped in reference.split("/")[1:]:
            step = unquote(escaped).replace("~1", "/").replace("~0", "~")
            if isinstance(found, list) and step.isdecimal() and int(step) < len(found):
                found = found[int(step)]
            elif isinstance(found, dict) and step in found:
                found = found[step]
            else:
                return None
        return found if isinstance(found, dict) else None

    def _types(self, node: Node) -> frozenset[str]:
        kinds = node.get("type")
        if isinstance(kinds, str):
            return frozenset({kinds})
        if isinstance(kinds, list):
            return frozenset(str(kind) for kind in kinds)
        return TYPES


def _check_references(node: Node, place: Place) -> None:
    for keyword in REFERENCES:
        target = node.get(keyword)
        if isinstance(target, str) and target != "#" and not target.startswith("#/"):
            raise _refused(
                "It refers to another document or an anchor.",
                (*place, keyword),
                remedy="Copy what it needs into its own $defs and refer to `#/$defs/…`.",
            )
    # A second identity would change what the references below it mean.
    if place and "$id" in node:
        raise _refused("Only the whole schema may have an $id.", (*place, "$id"))


def _refused(reason: str, place: Place, *, remedy: str = "") -> InvalidInput:
    where = pointer(place)
    at = f" at {where}" if where else ""
    return InvalidInput(
        f"The schema cannot be used{at}. {reason}",
        remedy=remedy,
        data={"pointer": where, "rule": str(place[-1]) if place else "work"},
    )


def _everything(node: Node, place: Place) -> Iterator[tuple[Place, Node]]:
    yield place, node
    for inner, each in _inside(node):
        yield from _everything(each, (*place, *inner))


def _inside(node: Node) -> Iterator[tuple[Place, Node]]:
    """The schemas that stand directly in this one."""
    for key, value in node.items():
        if isinstance(value, dict) and key in MAPS:
            for name, each in value.items():
                if isinstance(each, dict):
                    yield (key, name), each
        elif isinstance(value, dict) and key not in DATA:
            yield (key,), value
        elif isinstance(value, list) and key not in DATA:
            for index, each in enumerate(value):
                if isinstance(each, dict):
                    yield (key, index), each
