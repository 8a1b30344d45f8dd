"""Text to plain values: JSON or YAML, of bounded size, depth and repetition, without surprises.

YAML is read event by event: no recursion that a deep document could exhaust, no dates, no `yes`
that becomes true, and aliases count each time they are used.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

import yaml

from omni.contracts.errors import ErrorCategory, InvalidInput

MAX_BYTES = 16 * 2**20
MAX_DEPTH = 100
MAX_NODES = 1_500_000
# The slower reader forgives tabs; it is only asked about documents that it reads soon enough.
MAX_FORGIVEN = 300_000
_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


def read(text: str) -> Any:
    """The value of a JSON or YAML text; InvalidInput says what is wrong with it."""
    if len(text) > MAX_BYTES or len(text.encode("utf-8", "replace")) > MAX_BYTES:
        raise InvalidInput(
            f"The document is larger than {MAX_BYTES:,} bytes.", category=ErrorCategory.TOO_LARGE
        )
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        return _json(text.lstrip("\ufeff"))
    return _yaml(text)


def _json(text: str) -> Any:
    try:
        value = json.loads(text, object_pairs_hook=_members, parse_constant=_refuse_constant)
    except RecursionError:
        raise _invalid(f"it is nested deeper than {MAX_DEPTH} levels") from None
    except json.JSONDecodeError as error:
        raise _invalid(f"{error.msg}, line {error.lineno} column {error.colno}") from None
    except ValueError:
        raise _invalid("a whole number has too many digits") from None
    _check_depth(value)
    return value


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        raise _invalid(f"the name “{next(n for n in names if names.count(n) > 1)[:80]}” is twice")
    return members


def _refuse_constant(text: str) -> Any:
    raise _invalid(f"{text} is not a JSON number")


def _check_depth(value: Any) -> None:
    level, depth, nodes = [value], 0, 0
    while level:
        nodes += len(level)
        depth += 1
        if depth > MAX_DEPTH:
            raise _invalid(f"it is nested deeper than {MAX_DEPTH} levels")
        if nodes > MAX_NODES:
            raise _invalid("it has too many parts")
        level = [each for node in level for each in _inside(node)]


def _inside(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return list(node.values())
    return node if isinstance(node, list) else []


def _yaml(text: str) -> Any:
    fast = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _Builder().build(yaml.parse(text, Loader=fast))
    except (yaml.YAMLError, UnicodeError) as error:
        if fast is yaml.SafeLoader or len(text) > MAX_FORGIVEN:
            raise _syntax(error) from None
    try:
        return _Builder().build(yaml.parse(text, Loader=yaml.SafeLoader))
    except (yaml.YAMLError, UnicodeError, RecursionError) as error:
        raise _syntax(error) from None


def _syntax(error: Exception) -> InvalidInput:
    mark = getattr(error, "problem_mark", None)
    where = f", line {mark.line + 1} column {mark.column + 1}" if mark else ""
    return _invalid(f"{str(getattr(error, 'problem', None) or 'it is not YAML')[:200]}{where}")


def _invalid(why: str) -> InvalidInput:
    return InvalidInput(f"The document cannot be read: {why}.", data={"rule": "syntax"})


class _Open:
    """A list or mapping whose end has not come yet."""

    def __init__(self, value: Any, anchor: str | None) -> None:
        self.value = value
        self.anchor = anchor
        self.key: str | None = None
        self.weight = 1


class _Builder:
    """Values from the events of one YAML document."""

    def __init__(self) -> None:
        self._stack: list[_Open] = []
        self._known: dict[str, tuple[Any, int, int]] = {}
        self._nodes = 0
        self._root: list[Any] = []

    def build(self, events: Iterator[Any]) -> Any:
        for event in events:
            self._take(event)
        if len(self._root) != 1:
            raise _invalid("it is not one document")
        return self._root[0]

    def _take(self, event: Any) -> None:
        if isinstance(event, yaml.ScalarEvent):
            value = self._scalar(event)
            if event.anchor:
                self._known[event.anchor] = (value, 1, 0)
            self._put(value, 1)
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._known:
                raise _invalid(f"the alias “{str(event.anchor)[:80]}” leads nowhere or to itself")
            value, weight, depth = self._known[event.anchor]
            if len(self._stack) + depth > MAX_DEPTH:
                raise _invalid(f"it is nested deeper than {MAX_DEPTH} levels")
            self._put(value, weight)
        elif isinstance(event, yaml.CollectionStartEvent):
            if len(self._stack) >= MAX_DEPTH:
                raise _invalid(f"it is nested deeper than {MAX_DEPTH} levels")
            value = {} if isinstance(event, yaml.MappingStartEvent) else []
            self._stack.append(_Open(value, event.anchor))
        elif isinstance(event, yaml.CollectionEndEvent):
            done = self._stack.pop()
            if done.anchor:
                self._known[done.anchor] = (done.value, done.weight, _height(done.value))
            self._put(done.value, done.weight)

    def _scalar(self, event: Any) -> Any:
        top = self._stack[-1] if self._stack else None
        is_key = top is not None and isinstance(top.value, dict) and top.key is None
        plain = event.implicit[0] and not event.style
        # A name is text, whatever it looks like: `200:` is the name "200".
        return _resolved(event.value) if plain and not is_key else event.value

    def _put(self, value: Any, weight: int) -> None:
        self._nodes += weight
        if self._nodes > MAX_NODES:
            raise _invalid("it has too many parts")
        if not self._stack:
            self._root.append(value)
            return
        top = self._stack[-1]
        top.weight += weight
        if isinstance(top.value, list):
            top.value.append(value)
        elif top.key is None:
            if not isinstance(value, str):
                raise _invalid("a name is not text")
            top.key = value
        else:
            if top.key in top.value:
                raise _invalid(f"the name “{top.key[:80]}” is twice")
            top.value[top.key] = value
            top.key = None


def _height(value: Any) -> int:
    height, level = 0, _inside(value)
    while level and height <= MAX_DEPTH:
        height += 1
        level = list({id(e): e for node in level for e in _inside(node)}.values())
    return height + 1


def _resolved(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if len(text) < 400 and _INTEGER.fullmatch(text):
        return int(text)
    if len(text) < 400 and _FLOAT.fullmatch(text):
        number = float(text)
        return number if math.isfinite(number) else text
    return text
