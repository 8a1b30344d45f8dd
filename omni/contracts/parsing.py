"""Reading JSON text strictly: what two readers could understand differently is refused."""

from __future__ import annotations

import json
from typing import Any

from omni.contracts.bounds import MAX_BYTES, MAX_DEPTH, Unfit, check_bounds, invalid
from omni.contracts.errors import InvalidInput


def parse(raw: bytes | str, *, max_depth: int = MAX_DEPTH, max_bytes: int = MAX_BYTES) -> Any:
    """The value of a JSON text within bounds; duplicate names, NaN and Infinity are refused."""
    if len(raw) > max_bytes:
        raise Unfit(f"it is larger than {max_bytes:,} bytes.", rule="max_bytes").as_error()
    value = _load(raw, max_depth)
    check_bounds(value, max_depth=max_depth, max_bytes=max_bytes)
    return value


def _load(raw: bytes | str, max_depth: int) -> Any:
    try:
        text = raw.decode() if isinstance(raw, bytes) else raw
        return _decoder.decode(text)
    except RecursionError:
        reason = f"it is nested deeper than {max_depth} levels."
        raise invalid([("", "max_depth", reason)]) from None
    except Unfit as unfit:
        raise unfit.as_error() from None
    except UnicodeDecodeError:
        raise _syntax("it is not UTF-8.") from None
    except json.JSONDecodeError as error:
        raise _syntax(f"{error.msg}, line {error.lineno} column {error.colno}.") from None
    except ValueError:
        # Python refuses to read whole numbers of thousands of digits.
        raise invalid([("", "number", "a whole number has too many digits.")]) from None


def _syntax(reason: str) -> InvalidInput:
    return invalid([("", "syntax", reason)])


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Unfit(f"the name {json.dumps(twice[:100])} appears twice.", rule="duplicate")
    return members


def _float(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise Unfit("a number is too large for a double.", rule="number")
    return value


def _constant(text: str) -> Any:
    raise Unfit(f"{text} is not a JSON number.", rule="number")


_decoder = json.JSONDecoder(
    object_pairs_hook=_members, parse_float=_float, parse_constant=_constant
)
