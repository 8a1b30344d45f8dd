"""JSON as the platform accepts it: one object, unambiguous, and storable in PostgreSQL."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from omni import config
from omni.contracts.errors import ErrorCategory, OmniError

MAX_DEPTH = 64
# PostgreSQL stores no NUL, and UTF-8 no half of a surrogate pair.
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


class StrictJSONParser(BaseParser):
    """Refuses what two readers could understand differently."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        value = load(_read(stream))
        if not isinstance(value, dict):
            raise ParseError('Send a JSON object, such as {"name": "Apollo"}.')
        return value


def load(raw: bytes) -> Any:
    """The value of a JSON text, or ParseError with a sentence that says what is wrong."""
    try:
        value = json.loads(
            raw.decode("utf-8"),
            object_pairs_hook=_object,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
    except UnicodeDecodeError:
        raise ParseError("The body is not valid UTF-8.") from None
    except RecursionError:
        raise _too_deep() from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise ParseError(f"The body is not valid JSON: {error.msg} at {where}.") from None
    except ValueError:
        raise ParseError("The body holds a number with too many digits.") from None
    _check(value)
    return value


def _read(stream: IO[Any]) -> bytes:
    limit = config.current().max_request_bytes
    raw: bytes = stream.read(limit + 1)
    if len(raw) > limit:
        raise OmniError(
            f"The request is larger than {limit} bytes.", category=ErrorCategory.TOO_LARGE
        )
    return raw


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ParseError(f"The key {json.dumps(_twice(pairs)[:80])} is given twice.")
    return found


def _twice(pairs: list[tuple[str, Any]]) -> str:
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            break
        seen.add(name)
    return name


def _no_constant(name: str) -> None:
    raise ParseError(f"{name} is not JSON; use null.")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ParseError(f"The number {text[:40]} is too large.")
    return number


def _check(value: Any) -> None:
    """Depth and text, without recursion: hostile bodies decide how deep this goes."""
    level = [value]
    for left in range(MAX_DEPTH, -1, -1):
        for each in level:
            if isinstance(each, str) and _UNSTORABLE.search(each):
                raise ParseError("Texts cannot hold NUL characters or halves of surrogate pairs.")
            if not left and isinstance(each, dict | list):
                raise _too_deep()
        level = [child for each in level for child in _children(each)]


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    return value if isinstance(value, list) else []


def _too_deep() -> ParseError:
    return ParseError(f"The body is nested deeper than {MAX_DEPTH} levels.")
