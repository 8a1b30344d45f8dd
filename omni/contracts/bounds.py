"""What counts as a JSON value here: plain types, of bounded depth and size, that a store keeps."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from omni.contracts.errors import ErrorCategory, InvalidInput

MAX_DEPTH = 64
MAX_BYTES = 1024 * 1024
SAFE_INTEGER = 2**53


class Unfit(Exception):
    """A value that is no acceptable JSON; gathers its place while it travels up."""

    def __init__(self, reason: str, *, rule: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.rule = rule
        self.path: list[str | int] = []

    def as_error(self) -> InvalidInput:
        where = pointer(reversed(self.path))
        error = invalid([(where, self.rule, self.reason)])
        if self.rule == "max_bytes":
            error.category = ErrorCategory.TOO_LARGE
        return error


def check_bounds(value: Any, *, max_depth: int = MAX_DEPTH, max_bytes: int = MAX_BYTES) -> None:
    """Refuse what is not JSON, too deep or too large, before anything recursive touches it."""
    try:
        _Meter(max_depth, max_bytes).walk(value, 0)
    except Unfit as unfit:
        raise unfit.as_error() from None


def exact_integer(value: int) -> bool:
    """Whether every reader gets this very number back, also one that knows only doubles.

    Larger integers pass when the shortest text of their double is the same decimal number, as
    with 10^300: PostgreSQL writes the float 1e300 that way.
    """
    if -SAFE_INTEGER <= value <= SAFE_INTEGER:
        return True
    try:
        return Decimal(repr(float(value))) == value
    except OverflowError:
        return False


def pointer(path: Any) -> str:
    """JSON Pointer (RFC 6901) from the steps of a path."""
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in path)
    return "".join(f"/{step}" for step in steps)


def invalid(violations: list[tuple[str, str, str]], *, what: str = "The document") -> InvalidInput:
    """One error from (pointer, rule, message) rows; the first one is the sentence for people."""
    where, rule, message = violations[0]
    errors: dict[str, list[str]] = {}
    for place, _, text in violations:
        errors.setdefault(place or "/", []).append(text)
    rows = [{"pointer": place, "rule": kind, "message": text} for place, kind, text in violations]
    place = f"at {where}" if where else "as a whole"
    return InvalidInput(
        f"{what} is not valid {place} ({rule}): {message}",
        data={"errors": errors, "pointer": where, "rule": rule, "violations": rows},
    )


class _Meter:
    """Counts the bytes that compact JSON would need, at the least."""

    def __init__(self, max_depth: int, max_bytes: int) -> None:
        self.max_depth = max_depth
        self.max_bytes = max_bytes
        self.size = 0

    def walk(self, value: Any, depth: int) -> None:
        if isinstance(value, str):
            self._text(value)
        elif value is None or isinstance(value, bool):
            self._count(4)
        elif isinstance(value, int):
            self._integer(value)
        elif isinstance(value, float):
            self._float(value)
        elif isinstance(value, dict):
            self._object(value, depth + 1)
        elif isinstance(value, list):
            self._array(value, depth + 1)
        else:
            raise Unfit(f"a {type(value).__name__} is not a JSON value.", rule="json")

    def _object(self, value: dict[Any, Any], depth: int) -> None:
        self._enter(depth)
        for key, item in value.items():
            if not isinstance(key, str):
                raise Unfit("the name of a member must be text.", rule="json")
            self._text(key)
            try:
                self.walk(item, depth)
            except Unfit as unfit:
                unfit.path.append(key)
                raise

    def _array(self, value: list[Any], depth: int) -> None:
        self._enter(depth)
        for index, item in enumerate(value):
            try:
                self.walk(item, depth)
            except Unfit as unfit:
                unfit.path.append(index)
                raise

    def _enter(self, depth: int) -> None:
        if depth > self.max_depth:
            raise Unfit(f"it is nested deeper than {self.max_depth} levels.", rule="max_depth")
        self._count(2)

    def _text(self, value: str) -> None:
        if value.isascii():
            self._count(len(value) + 3)
        else:
            try:
                self._count(len(value.encode()) + 3)
            except UnicodeEncodeError:
                raise Unfit("text contains half of a surrogate pair.", rule="json") from None
        if "\x00" in value:
            raise Unfit("text contains the character NUL, which cannot be stored.", rule="json")

    def _integer(self, value: int) -> None:
        if not exact_integer(value):
            raise Unfit(
                "a whole number beyond 2^53 loses digits in other readers; send it as text.",
                rule="number",
            )
        self._count(2)

    def _float(self, value: float) -> None:
        if value != value or value in (float("inf"), float("-inf")):
            raise Unfit("NaN and Infinity are not JSON numbers.", rule="number")
        self._count(2)

    def _count(self, size: int) -> None:
        self.size += size
        if self.size > self.max_bytes:
            raise Unfit(f"it is larger than {self.max_bytes:,} bytes.", rule="max_bytes")
