"""Conditions on arguments: a closed set of operators, no evaluation of code, always an answer.

An answer is true, false, or None where it cannot be told: a pattern that is none, a number compared
with a text. `match` reads None against whoever wants more, so that nobody gains by confusion.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from jsonschema_rs import Draft202012Validator, RegexOptions

from apps.tools.policy.names import host_matches
from omni.contracts.canonical import canonical
from omni.contracts.errors import InvalidInput
from omni.contracts.types.shapes import Predicate

Answer = bool | None
MAX_TEXT = 100_000
# The validator's own engine: it knows no backreferences and needs time linear in the text.
_LINEAR = RegexOptions(size_limit=1_000_000, dfa_size_limit=10_000_000)
_HOST = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*", re.ASCII)
_MISSING = object()


def holds(predicate: Predicate, arguments: Mapping[str, Any]) -> Answer:
    """Whether a condition holds; None when that cannot be told."""
    found = value_at(arguments, predicate["pointer"])
    operator = predicate["operator"]
    if operator == "exists":
        return found is not _MISSING
    if operator == "missing":
        return found is _MISSING
    if found is _MISSING:
        # Nobody knows which default the tool would take instead.
        return None if operator == "not_equals" else False
    if "value" not in predicate:
        return None
    return _OPERATORS[operator](found, predicate["value"])


def value_at(document: Any, pointer: str) -> Any:
    """The value that a JSON Pointer names (RFC 6901), or a mark that there is none."""
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(document, Mapping) and name in document:
            document = document[name]
        elif isinstance(document, list | tuple) and _is_index(name, len(document)):
            document = document[int(name)]
        else:
            return _MISSING
    return document


def is_pattern(text: str) -> bool:
    """Whether the linear-time engine understands it."""
    return _pattern(text) is not None


def host_of(text: str) -> str | None:
    """The host of an address or a bare host name; None for what two readers could read apart."""
    if len(text) > 2000 or not text.isascii() or re.search(r"[\s\\\x00-\x1f\x7f]", text):
        return None
    try:
        host = urlsplit(text if "://" in text else f"//{text}").hostname or ""
    except ValueError:
        return None
    host = host.removesuffix(".")
    return host if _HOST.fullmatch(host) else None


def _is_index(name: str, length: int) -> bool:
    # int() would refuse thousands of digits.
    if len(name) > 9 or not (name.isascii() and name.isdigit()):
        return False
    return name == str(int(name)) and int(name) < length


def _equals(found: Any, wanted: Any) -> Answer:
    """By their canonical spelling: 1 is 1.0, and true is no 1."""
    try:
        return canonical(found) == canonical(wanted)
    except InvalidInput:
        return None


def _not_equals(found: Any, wanted: Any) -> Answer:
    answer = _equals(found, wanted)
    return None if answer is None else not answer


def _one_of(found: Any, wanted: Any) -> Answer:
    return _any(found, wanted, _equals) if isinstance(wanted, list) else None


def _any(found: Any, wanted: list[Any], test: Callable[[Any, Any], Answer]) -> Answer:
    answers = [test(found, each) for each in wanted]
    return True if True in answers else None if None in answers else False


def _prefix(found: Any, wanted: Any) -> Answer:
    return found.startswith(wanted) if _texts(found, wanted) else None


def _suffix(found: Any, wanted: Any) -> Answer:
    return found.endswith(wanted) if _texts(found, wanted) else None


def _contains(found: Any, wanted: Any) -> Answer:
    if isinstance(found, list):
        return _any(wanted, found, _equals)
    return wanted in found if _texts(found, wanted) else None


def _matches(found: Any, wanted: Any) -> Answer:
    if not _texts(found, wanted) or len(found) > MAX_TEXT:
        return None
    pattern = _pattern(wanted)
    return None if pattern is None else pattern.is_valid(found)


@lru_cache(maxsize=2048)
def _pattern(text: str) -> Draft202012Validator | None:
    try:
        return Draft202012Validator({"pattern": text}, pattern_options=_LINEAR)
    except ValueError:
        return None


def _under_path(found: Any, wanted: Any) -> Answer:
    if isinstance(wanted, list):
        return _any(found, wanted, _under_path)
    if not _texts(found, wanted):
        return None
    path, root = _path(found), _path(wanted)
    if path is None or root is None or path.startswith("/") != root.startswith("/"):
        return None
    if root == ".":
        return True
    return path == root or path.startswith(root.rstrip("/") + "/")


@lru_cache(maxsize=4096)
def _path(text: str) -> str | None:
    """The path without detours; None where it leads out of its root or reads two ways."""
    if not text or "\\" in text or re.search(r"[\x00-\x1f\x7f]", text):
        return None
    path = posixpath.normpath(text)
    path = "/" + path.lstrip("/") if path.startswith("/") else path
    return None if path == ".." or path.startswith("../") else path


def _host_in(found: Any, wanted: Any) -> Answer:
    patterns = [wanted] if isinstance(wanted, str) else wanted
    if not isinstance(found, str) or not isinstance(patterns, list):
        return None
    host = host_of(found)
    if host is None or not all(isinstance(each, str) for each in patterns):
        return None
    return any(host_matches(host, each) for each in patterns)


def _less_than(found: Any, wanted: Any) -> Answer:
    return found < wanted if _numbers(found, wanted) else None


def _greater_than(found: Any, wanted: Any) -> Answer:
    return found > wanted if _numbers(found, wanted) else None


def _texts(*values: Any) -> bool:
    return all(isinstance(value, str) for value in values)


def _numbers(*values: Any) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


_OPERATORS: dict[str, Callable[[Any, Any], Answer]] = {
    "equals": _equals,
    "not_equals": _not_equals,
    "one_of": _one_of,
    "prefix": _prefix,
    "suffix": _suffix,
    "contains": _contains,
    "matches": _matches,
    "under_path": _under_path,
    "host_in": _host_in,
    "less_than": _less_than,
    "greater_than": _greater_than,
}
