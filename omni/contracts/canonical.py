"""Canonical JSON (RFC 8785): the one spelling of a value, so that its hash means something."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from omni.contracts.bounds import Unfit, exact_integer

# Deeper than any document we accept; it stops a value that contains itself.
MAX_DEPTH = 200
# Escapes exactly what RFC 8785 asks for: quotes, backslashes and control characters.
_quote: Callable[[str], str] = json.encoder.encode_basestring


def canonical(value: Any) -> bytes:
    """The value's only canonical form. Refuses what JSON or a double cannot carry exactly."""
    parts: list[str] = []
    try:
        _write(value, parts.append, 0)
        return "".join(parts).encode()
    except Unfit as unfit:
        raise unfit.as_error() from None
    except UnicodeEncodeError:
        raise Unfit("text contains half of a surrogate pair.", rule="json").as_error() from None


def digest(value: Any) -> str:
    """SHA-256 of the canonical form, in hexadecimal digits."""
    return hashlib.sha256(canonical(value)).hexdigest()


def instant(moment: datetime) -> str:
    """The spelling of a moment that contracts use and hashes rely on."""
    if moment.tzinfo is None:
        raise ValueError("A moment needs a time zone.")
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")


def number(value: float) -> str:
    """A double as ECMAScript writes it: the shortest digits that read back as the same number."""
    if value != value or value in (float("inf"), float("-inf")):
        raise Unfit("NaN and Infinity are not JSON numbers.", rule="number")
    if value == 0:
        return "0"
    text = float.__repr__(value)
    if "e" not in text:
        return text.removesuffix(".0")
    return _from_exponent(text)


def _from_exponent(text: str) -> str:
    """Python switches to exponents at 1e16 and 1e-4, ECMAScript at 1e21 and 1e-6."""
    mantissa, _, power = text.partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    digits = whole + fraction
    point = len(whole) + int(power)
    if 0 < point <= 21:
        return sign + digits.ljust(point, "0")
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{point - 1:+d}"


def _write(value: Any, out: Callable[[str], None], depth: int) -> None:
    if isinstance(value, str):
        out(_quote(value))
    elif value is None:
        out("null")
    elif isinstance(value, bool):
        out("true" if value else "false")
    elif isinstance(value, int):
        out(_integer(value))
    elif isinstance(value, float):
        out(number(value))
    elif depth >= MAX_DEPTH:
        raise Unfit(f"it is nested deeper than {MAX_DEPTH} levels.", rule="max_depth")
    elif isinstance(value, dict):
        _write_object(value, out, depth + 1)
    elif isinstance(value, list):
        _write_array(value, out, depth + 1)
    else:
        raise Unfit(f"a {type(value).__name__} is not a JSON value.", rule="json")


def _write_object(value: dict[Any, Any], out: Callable[[str], None], depth: int) -> None:
    separator = "{"
    for key in _sorted_keys(value):
        out(separator)
        out(_quote(key))
        out(":")
        separator = ","
        try:
            _write(value[key], out, depth)
        except Unfit as unfit:
            unfit.path.append(key)
            raise
    out("}" if value else "{}")


def _write_array(value: list[Any], out: Callable[[str], None], depth: int) -> None:
    separator = "["
    for index, item in enumerate(value):
        out(separator)
        separator = ","
        try:
            _write(item, out, depth)
        except Unfit as unfit:
            unfit.path.append(index)
            raise
    out("]" if value else "[]")


def _sorted_keys(value: dict[Any, Any]) -> list[str]:
    """By UTF-16 code units, which differs from code points beyond the basic plane."""
    if not all(isinstance(key, str) for key in value):
        raise Unfit("the name of a member must be text.", rule="json")
    if all(key.isascii() for key in value):
        return sorted(value)
    return sorted(value, key=lambda key: key.encode("utf-16-be"))


def _integer(value: int) -> str:
    if not exact_integer(value):
        raise Unfit(
            "a whole number beyond 2^53 loses digits in other readers; send it as text.",
            rule="number",
        )
    return int.__repr__(value) if abs(value) < 10**15 else number(float(value))
