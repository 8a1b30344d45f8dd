"""What a policy must keep beyond its schema, so that each rule can be decided."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from apps.tools.policy.predicates import is_pattern
from apps.tools.policy.versions import is_range
from omni.contracts.bounds import invalid
from omni.contracts.types.policy import Policy, PolicyRule
from omni.contracts.types.shapes import Predicate
from omni.contracts.validation import validate

Problem = tuple[str, str, str]
_TEXT = ("prefix", "suffix", "matches")
_NUMBER = ("less_than", "greater_than")
_TEXTS = ("under_path", "host_in")


def check_policy(document: Any) -> Policy:
    """The document as a policy; InvalidInput names each place that cannot stand."""
    validate("policy", document)
    policy: Policy = document
    problems = list(_problems(policy))
    if problems:
        raise invalid(problems[:10], what="The policy")
    return policy


def check_rule(rule: Any) -> PolicyRule:
    """One rule, by the same measure."""
    made = {"name": "rule", "version": "1.0.0", "default": "deny", "rules": [rule]}
    return check_policy(made)["rules"][0]


def _problems(policy: Policy) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, rule in enumerate(policy["rules"]):
        at = f"/rules/{index}"
        if rule["id"] in seen:
            yield f"{at}/id", "unique", "another rule has this id already."
        seen.add(rule["id"])
        versions = rule["match"].get("versions")
        if versions is not None and not is_range(versions):
            yield f"{at}/match/versions", "range", "it is not a range of versions."
        for place, each in enumerate(rule["match"].get("arguments", [])):
            if reason := _misuse(each):
                yield f"{at}/match/arguments/{place}/value", "predicate", reason


def _misuse(predicate: Predicate) -> str:
    """Why a condition could never be told; empty when it can."""
    operator = predicate["operator"]
    if operator in ("exists", "missing"):
        return ""
    if "value" not in predicate:
        return f"`{operator}` needs a value to compare with."
    value = predicate["value"]
    if operator == "one_of" and not isinstance(value, list):
        return "`one_of` needs a list."
    if operator in _TEXT and not isinstance(value, str):
        return f"`{operator}` needs a text."
    if operator in _NUMBER and (isinstance(value, bool) or not isinstance(value, int | float)):
        return f"`{operator}` needs a number."
    if operator in _TEXTS and not _is_texts(value):
        return f"`{operator}` needs a text or a list of texts."
    if operator == "matches" and not is_pattern(str(value)):
        return "the pattern is none, or needs what linear time cannot give (look-around, \\1)."
    return ""


def _is_texts(value: Any) -> bool:
    values = value if isinstance(value, list) else [value]
    return bool(values) and all(isinstance(each, str) and each for each in values)
