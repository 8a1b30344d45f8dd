"""What a person looks at unless a rule allows it explicitly: writes, egress and other effects."""

from __future__ import annotations

from apps.tools.policy.names import name_matches, scope_covers
from apps.tools.policy.request import CallRequest
from omni.contracts.types.policy import PolicyRule

WRITE_WORDS = frozenset({"write", "delete", "create", "update", "append", "manage"})
EGRESS_WORDS = frozenset({"egress", "connect"})
WORDS = {
    "write": "writes",
    "external_write": "changes something elsewhere",
    "network_egress": "reaches the network",
    "execute": "runs a program",
    "secrets": "uses secrets",
    "delegate": "hands work on",
}
CALL = "call"


def effects_of(request: CallRequest) -> frozenset[str]:
    """Classes of effect beyond reading, as declared and as its scopes and hosts betray."""
    found: set[str] = {each for each in request.capabilities if each != "read"}
    if _scopes_of(request, WRITE_WORDS) and not found & {"write", "external_write"}:
        found.add("write")
    if request.hosts or _scopes_of(request, EGRESS_WORDS):
        found.add("network_egress")
    return frozenset(found)


def covered(rule: PolicyRule, request: CallRequest, effects: frozenset[str]) -> frozenset[str]:
    """Which of these effects an allowing rule names; one that names the tool means all of it."""
    match = rule["match"]
    if any(each.strip("*") and name_matches(request.tool, each) for each in match.get("tools", [])):
        return effects
    named: set[str] = set(match.get("capabilities", []))
    scopes = match.get("scopes", [])
    if _all_covered(scopes, _scopes_of(request, WRITE_WORDS)):
        named.add("write")
    if match.get("hosts") or _all_covered(scopes, _scopes_of(request, EGRESS_WORDS)):
        named.add("network_egress")
    return effects & named


def in_words(effects: frozenset[str]) -> str:
    """Such as “writes and reaches the network”."""
    words = [WORDS.get(each, each) for each in sorted(effects)]
    return " and ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else "".join(words)


def _scopes_of(request: CallRequest, words: frozenset[str]) -> list[str]:
    return [each for each in request.scopes if each.partition(":")[0].split(".")[-1] in words]


def _all_covered(scopes: list[str], wanted: list[str]) -> bool:
    return bool(wanted) and all(any(scope_covers(s, each) for s in scopes) for each in wanted)
