"""Names as rules write them: tools and agents with `*`, hosts, scopes."""

from __future__ import annotations


def name_matches(name: str, pattern: str) -> bool:
    """Whether a name fits a pattern in which `*` stands for any characters; in linear time."""
    if pattern == "*" or name == pattern:
        return True
    head, *rest = pattern.split("*")
    if not rest:
        return False
    tail = rest.pop()
    if len(name) < len(head) + len(tail) or not name.startswith(head) or not name.endswith(tail):
        return False
    at, end = len(head), len(name) - len(tail)
    for piece in rest:
        found = name.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def host_matches(host: str, pattern: str) -> bool:
    """`example.org` is itself alone, `*.example.org` is whatever lies below it."""
    if pattern.startswith("*."):
        return host.endswith(pattern[1:]) and len(host) > len(pattern) - 1
    return host == pattern


def scope_covers(wide: str, narrow: str) -> bool:
    """Whether a scope includes another: `filesystem` has `filesystem.write`, and `network.egress`
    has `network.egress:example.org`."""
    wide_name, _, wide_part = wide.partition(":")
    narrow_name, _, narrow_part = narrow.partition(":")
    if not wide_part:
        return narrow_name == wide_name or narrow_name.startswith(wide_name + ".")
    return narrow_name == wide_name and bool(narrow_part) and name_matches(narrow_part, wide_part)


def scopes_meet(one: str, other: str) -> bool:
    """Whether two scopes may have anything in common; of two patterns nobody can be sure."""
    if scope_covers(one, other) or scope_covers(other, one):
        return True
    same = one.partition(":")[0] == other.partition(":")[0]
    return same and "*" in one and "*" in other
