"""Health checks as bars: how long each took, and which failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from apps.tools.models import McpCheck

WIDTH, GAP, HEIGHT, LEAST = 8, 3, 48, 6


@dataclass(frozen=True, slots=True)
class Bar:
    """One check, oldest at the left; a failed one is as high as the chart."""

    x: int
    y: int
    height: int
    check: McpCheck


def bars(checks: Sequence[McpCheck]) -> list[Bar]:
    slowest = max((each.latency_ms for each in checks if each.ok), default=1) or 1
    found = []
    for position, check in enumerate(reversed(checks)):
        share = check.latency_ms / slowest if check.ok else 1
        height = max(LEAST, round(HEIGHT * share))
        found.append(Bar(position * (WIDTH + GAP), HEIGHT - height, height, check))
    return found
