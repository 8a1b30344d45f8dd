"""Semantic versions: their order, and the ranges that rules and agents write."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

# Numbers sort before words, and a release after all of its pre-releases.
Part = tuple[int, int, str]
Key = tuple[int, int, int, tuple[Part, ...]]

_VERSION = re.compile(
    r"(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})"
    r"(?:-([0-9A-Za-z.-]{1,64}))?(?:\+[0-9A-Za-z.-]{1,64})?",
    re.ASCII,
)
_PARTIAL = re.compile(r"(0|[1-9]\d{0,8})(?:\.(0|[1-9]\d{0,8}))?", re.ASCII)
_WORD = re.compile(r"(\^|~|>=|<=|>|<|=)?(.+)")
_RELEASE: tuple[Part, ...] = ((2, 0, ""),)
_BEFORE_ALL: tuple[Part, ...] = ()


def key(version: str) -> Key:
    """Sorts versions as semver.org says; raises ValueError for what is none."""
    found = _VERSION.fullmatch(version)
    if found is None:
        raise ValueError(f"“{version[:64]}” is not a semantic version.")
    major, minor, patch, before = found.groups()
    parts = tuple(_part(each) for each in before.split(".")) if before else _RELEASE
    return int(major), int(minor), int(patch), parts


def satisfies(version: str, wanted: str) -> bool:
    """Whether a version lies in a range; raises ValueError when one of them means nothing."""
    at = key(version)
    return all(holds(at) for holds in _bounds(wanted))


def is_range(text: str) -> bool:
    """Whether a text means a range at all."""
    try:
        _bounds(text)
    except ValueError:
        return False
    return True


def newest(versions: Iterable[str], wanted: str = "*") -> str | None:
    """The highest version in the range; a release is preferred to any pre-release."""
    found = [each for each in versions if satisfies(each, wanted)]
    released = [each for each in found if key(each)[3] == _RELEASE]
    return max(released or found, key=key, default=None)


def _part(text: str) -> Part:
    return (0, int(text), "") if text.isdigit() else (1, 0, text)


@lru_cache(maxsize=4096)
def _bounds(wanted: str) -> tuple[Callable[[Key], bool], ...]:
    """`*`, `1.2.3`, `1.2`, `^1.2`, `~1.2.3` or up to four comparisons, all of which hold."""
    if wanted == "*":
        return ()
    return tuple(bound for word in wanted.split(" ") for bound in _word(word))


def _word(word: str) -> tuple[Callable[[Key], bool], ...]:
    found = _WORD.fullmatch(word)
    if found is None:
        raise ValueError(f"“{word[:64]}” is not a range of versions.")
    operator, text = found.groups()
    low, named = _low(text)
    if operator == "^":
        return _between(low, _caret(low, named))
    if operator == "~":
        return _between(low, _tilde(low, named))
    if operator in (None, "=") and named < 3:
        return _between(low, _tilde(low, named))
    return (_compare(operator or "=", low),)


def _low(text: str) -> tuple[Key, int]:
    """The lowest version that a full or partial one stands for, and how many numbers it has."""
    partial = _PARTIAL.fullmatch(text)
    if partial is None:
        return key(text), 3
    major, minor = partial.groups()
    return (int(major), int(minor or 0), 0, _RELEASE), 1 if minor is None else 2


def _caret(low: Key, named: int) -> Key:
    """Up to the next version that may break: the leftmost number that is not zero."""
    major, minor, patch, _ = low
    if major or named == 1:
        return major + 1, 0, 0, _BEFORE_ALL
    if minor or named == 2:
        return 0, minor + 1, 0, _BEFORE_ALL
    return 0, 0, patch + 1, _BEFORE_ALL


def _tilde(low: Key, named: int) -> Key:
    major, minor, _, _ = low
    return (major + 1, 0, 0, _BEFORE_ALL) if named == 1 else (major, minor + 1, 0, _BEFORE_ALL)


def _between(low: Key, high: Key) -> tuple[Callable[[Key], bool], ...]:
    return (lambda at: at >= low), (lambda at: at < high)


def _compare(operator: str, bound: Key) -> Callable[[Key], bool]:
    compared: dict[str, Callable[[Key], bool]] = {
        ">=": lambda at: at >= bound,
        "<=": lambda at: at <= bound,
        ">": lambda at: at > bound,
        "<": lambda at: at < bound,
        "=": lambda at: at == bound,
    }
    return compared[operator]
