"""What a judge says, one row each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Data that is too large for the repository, where somebody has laid it beside it.
SHARED = ROOT.parent / "shared" / "data"


@dataclass(frozen=True)
class Verdict:
    """`passed` of None means that the judge was not there."""

    judge: str
    passed: bool | None
    detail: str


Judge = Callable[[], Iterator[Verdict]]


def absent(judge: str, why: str) -> Verdict:
    return Verdict(judge, None, why)
