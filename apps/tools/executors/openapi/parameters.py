"""Values of parameters as they stand in a path, a query, a header or a cookie.

The forms are those of RFC 6570, which OpenAPI's styles refer to.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from apps.tools.executors.openapi.media import kind_of
from apps.tools.executors.openapi.operations import Parameter

Pairs = list[tuple[str, str]]
# Reserved characters that cannot end a value or start another one.
RESERVED = "/:?@!$'()*,;"
_SEPARATORS = {"form": ",", "spaceDelimited": "%20", "pipeDelimited": "%7C"}


def text_of(value: Any) -> str:
    """One value without any escaping; what has parts of its own is written as JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return json_text(value)


def json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def escaped(value: Any, safe: str = "") -> str:
    return quote(text_of(value), safe=safe, errors="replace")


def in_path(parameter: Parameter, value: Any) -> str:
    """What replaces `{name}` in the path."""
    name = quote(parameter.name, safe="")
    value = _as_content(parameter, value)
    if parameter.style == "simple":
        return ",".join(_expanded(value, parameter.explode))
    if parameter.style == "label":
        parts = _expanded(value, parameter.explode)
        return "." + ("." if parameter.explode else ",").join(parts)
    if isinstance(value, dict) and parameter.explode:
        return "".join(f";{part}" for part in _expanded(value, True))
    if isinstance(value, list) and parameter.explode:
        return "".join(f";{name}={part}" for part in _expanded(value, True))
    joined = ",".join(_expanded(value, False))
    return f";{name}={joined}" if joined else f";{name}"


def in_query(parameter: Parameter, value: Any) -> Pairs:
    """Names and values, escaped, of one parameter; what is empty is left out."""
    safe = RESERVED if parameter.allow_reserved else ""
    name = quote(parameter.name, safe="")
    value = _as_content(parameter, value)
    if parameter.style == "deepObject" and isinstance(value, dict):
        return list(_deep(name, value, safe))
    if isinstance(value, dict | list) and not value:
        return []
    if isinstance(value, dict) and parameter.explode:
        return [(quote(key, safe=""), escaped(each, safe)) for key, each in value.items()]
    if isinstance(value, list) and parameter.explode:
        return [(name, escaped(each, safe)) for each in value]
    separator = _SEPARATORS.get(parameter.style, ",")
    return [(name, separator.join(_expanded(value, False, safe)))]


def in_header(parameter: Parameter, value: Any) -> str:
    """Headers carry text as it is; the client refuses what could start another line."""
    value = _as_content(parameter, value)
    if isinstance(value, list):
        return ",".join(text_of(each) for each in value)
    if isinstance(value, dict):
        between = "=" if parameter.explode else ","
        return ",".join(f"{key}{between}{text_of(each)}" for key, each in value.items())
    return text_of(value)


def in_cookie(parameter: Parameter, value: Any) -> Pairs:
    """Names and values of one parameter, each a cookie."""
    value = _as_content(parameter, value)
    if isinstance(value, dict) and parameter.explode:
        return [(quote(key, safe=""), escaped(each)) for key, each in value.items()]
    if isinstance(value, list) and parameter.explode:
        return [(parameter.name, escaped(each)) for each in value]
    return [(parameter.name, ",".join(_expanded(value, False)))]


def _as_content(parameter: Parameter, value: Any) -> Any:
    """A parameter with a media type is one text, whatever its parts."""
    if not parameter.media_type:
        return value
    return json_text(value) if kind_of(parameter.media_type) == "json" else text_of(value)


def _expanded(value: Any, explode: bool, safe: str = "") -> list[str]:
    if isinstance(value, list):
        return [escaped(each, safe) for each in value]
    if isinstance(value, dict):
        pairs = [(quote(key, safe=""), escaped(each, safe)) for key, each in value.items()]
        if explode:
            return [f"{key}={each}" for key, each in pairs]
        return [part for pair in pairs for part in pair]
    return [escaped(value, safe)]


def _deep(name: str, value: Any, safe: str) -> Iterable[tuple[str, str]]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _deep(f"{name}%5B{quote(key, safe='')}%5D", each, safe)
    elif isinstance(value, list):
        for each in value:
            yield from _deep(name, each, safe)
    else:
        yield name, escaped(value, safe)
