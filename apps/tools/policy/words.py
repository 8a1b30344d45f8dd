"""Rules as sentences, for people who decide whether they are right."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from omni.contracts.types.policy import PolicyBudget, PolicyMatch, PolicyRule
from omni.contracts.types.shapes import Predicate

EFFECTS = {"deny": "Deny", "ask": "Ask about", "allow": "Allow"}
_OPERATORS = {
    "equals": "is {}",
    "not_equals": "is not {}",
    "one_of": "is one of {}",
    "prefix": "begins with {}",
    "suffix": "ends with {}",
    "contains": "contains {}",
    "matches": "matches {}",
    "under_path": "is below {}",
    "host_in": "leads to {}",
    "less_than": "is less than {}",
    "greater_than": "is greater than {}",
    "exists": "is given",
    "missing": "is not given",
}
_MODES = {"normal": "normal", "analysis_only": "analysis only", "dry_run": "dry run"}


def rule_in_words(rule: PolicyRule) -> str:
    """Such as “Ask about tools that write, when /path is below “etc”.”"""
    match = rule["match"]
    what = _tools(match)
    about = [_ABOUT[name](match) for name in _ABOUT if name in match]
    when = [predicate_in_words(each) for each in match.get("arguments", [])]
    sentence = " ".join([EFFECTS[rule["effect"]], what, *about])
    if when:
        sentence += f", when {' and '.join(when)}"
    if rule["effect"] == "ask" and "origin" in rule and rule["origin"]["kind"] == "default":
        sentence += ", unless a rule allows it explicitly"
    return f"{sentence}."


def predicate_in_words(predicate: Predicate) -> str:
    value = predicate.get("value")
    words = _OPERATORS[predicate["operator"]].format(_value(value))
    return f"{predicate['pointer'] or 'the whole input'} {words}"


def budget_in_words(budget: PolicyBudget) -> str:
    """Such as “5 USD per day, then a person is asked.”"""
    bounds = []
    if "money" in budget:
        bounds.append(f"{budget['money']['amount']} {budget['money']['currency']}")
    if "tokens" in budget:
        bounds.append(f"{budget['tokens']:,} tokens")
    if "steps" in budget:
        bounds.append(f"{budget['steps']:,} steps")
    if "seconds" in budget:
        bounds.append(f"{budget['seconds']:,} seconds")
    then = "a person is asked" if budget["on_reached"] == "ask" else "the run fails"
    return f"{_list(bounds) or 'Nothing'} per {budget['per']}, then {then}."


def _tools(match: PolicyMatch) -> str:
    names = match.get("tools")
    if names is None or names == ["*"]:
        return "every tool"
    return _list(names, "or")


def _value(value: Any) -> str:
    if isinstance(value, list):
        return _list([_value(each) for each in value], "or")
    return f"“{value}”" if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _list(words: Iterable[str], joint: str = "and") -> str:
    found = list(words)
    if len(found) < 2:
        return "".join(found)
    return f"{', '.join(found[:-1])} {joint} {found[-1]}"


def _plain(words: Iterable[str]) -> str:
    return _list((each.replace("_", " ") for each in words), "or")


_ABOUT: dict[str, Callable[[PolicyMatch], str]] = {
    "versions": lambda match: f"in versions {match['versions']}",
    "capabilities": lambda match: f"with the effect {_plain(match['capabilities'])}",
    "scopes": lambda match: f"with the scope {_list(match['scopes'], 'or')}",
    "risks": lambda match: f"of {_plain(match['risks'])} risk",
    "hosts": lambda match: f"that reaches {_list(match['hosts'], 'or')}",
    "agents": lambda match: f"for the agent {_list(match['agents'], 'or')}",
    "projects": lambda match: f"in {_list(match['projects'], 'or')}",
    "users": lambda match: f"for {len(match['users'])} named people",
    "roles": lambda match: f"for people who are {_plain(match['roles'])}",
    "modes": lambda match: f"in the mode {_list((_MODES[m] for m in match['modes']), 'or')}",
    "run_ids": lambda match: f"in {len(match['run_ids'])} named runs",
    "spent_share": lambda match: f"once {match['spent_share']:.0%} of a budget is spent",
}
