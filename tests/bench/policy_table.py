"""Policy decisions per second with 1,000 rules, by how many of them speak of the tool."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

from rich.console import Console
from rich.table import Table

from apps.tools.policy import CallRequest, Rulebook

RULES = 1000
NOW = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)


def measure(seconds: float = 1.0) -> dict[str, float]:
    """Decisions per second; each case has the same 1,000 rules but for their tools."""
    cases = {
        "each rule names one of 500 tools": [f"family{n % 25}.tool{n % 500}" for n in range(RULES)],
        "each rule names one of 25 families": [f"family{n % 25}.*" for n in range(RULES)],
        "every rule speaks of every tool": ["*"] * RULES,
    }
    found = {}
    start = time.perf_counter()
    books = {name: Rulebook(_policies(tools)) for name, tools in cases.items()}
    found["making a rulebook, ms"] = (time.perf_counter() - start) / len(books) * 1000
    for name, book in books.items():
        found[name] = _rate(book, seconds)
    return found


def show(found: dict[str, float]) -> None:
    table = Table("rules", "decisions/s", title=f"Policy, {RULES:,} rules, one core")
    for name, value in found.items():
        table.add_row(name, f"{value:,.0f}")
    Console().print(table)


def _rate(book: Rulebook, seconds: float) -> float:
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        for n in range(20):
            book.decide(_request(n))
        count += 20
    return count / (time.perf_counter() - start)


def _policies(tools: list[str]) -> list[Any]:
    """Two policies, each as large as the contract lets one be."""
    rules = [_rule(n, tool) for n, tool in enumerate(tools)]
    half = RULES // 2
    return [
        {"name": name, "version": "1.0.0", "default": "deny", "rules": part}
        for name, part in (("one", rules[:half]), ("two", rules[half:]))
    ]


def _rule(n: int, tool: str) -> dict[str, Any]:
    match: dict[str, Any] = {"tools": [tool]}
    if n % 2:
        match["arguments"] = [{"pointer": "/path", "operator": "under_path", "value": f"dir{n}"}]
    if n % 3 == 0:
        match["risks"] = ["high", "critical"]
    effect = ("allow", "ask", "deny")[n % 3]
    return {"id": f"rule-{n}", "effect": effect, "match": match, "reason": "Because."}


def _request(n: int) -> CallRequest:
    return CallRequest(
        tool=f"family{n % 25}.tool{n % 500}",
        version="1.0.0",
        at=NOW,
        capabilities=("read",),
        risk="low",
        arguments={"path": f"dir{n}/notes.md"},
    )
