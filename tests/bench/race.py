"""Several processes that start at the same moment, and variants that take turns in rounds."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

# Called in a child: prepares, calls `wait` when it is ready, then does what is measured.
Work = Callable[[int, Callable[[], Any]], None]


def together(count: int, work: Work) -> float:
    """Fork `count` processes, let them go at the same time, answer the seconds until the last."""
    (ready, tell), (gate, opener) = os.pipe(), os.pipe()
    pids = [_child(number, work, tell, gate, opener) for number in range(count)]
    os.close(gate)
    os.close(tell)
    for _ in range(count):
        if not os.read(ready, 1):
            raise SystemExit("A measured process failed before it began.")
    start = time.perf_counter()
    os.close(opener)
    codes = [os.waitpid(pid, 0)[1] for pid in pids]
    seconds = time.perf_counter() - start
    os.close(ready)
    if any(codes):
        raise SystemExit("A measured process failed.")
    return seconds


def _child(number: int, work: Work, tell: int, gate: int, opener: int) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.close(opener)

        def wait() -> None:
            os.write(tell, b".")
            os.close(tell)
            os.read(gate, 1)

        work(number, wait)
        code = 0
    finally:
        os._exit(code)


def turns(most: int, *, least: int, seconds: float) -> Iterator[int]:
    """0, 1, 2 … until there were `most`, or enough while the time is up: a busy machine is slow."""
    until = time.monotonic() + seconds
    for turn in range(most):
        if turn >= least and time.monotonic() > until:
            return
        yield turn


class Rounds:
    """Rates of variants that are measured next to each other, round by round.

    Each round has its own ratios, and the median of those is answered: what else the machine does
    slows neighbours alike.
    """

    def __init__(self) -> None:
        self._rates: dict[str, list[float]] = {}

    def note(self, name: str, amount: float, seconds: float) -> None:
        self._rates.setdefault(name, []).append(amount / seconds)

    @property
    def number(self) -> int:
        return min(map(len, self._rates.values()))

    def medians(self) -> dict[str, float]:
        return {name: statistics.median(rates) for name, rates in self._rates.items()}

    def ratio(self, name: str, other: str) -> float:
        """How many times as fast `name` is as `other`."""
        pairs = zip(self._rates[name], self._rates[other], strict=True)
        return statistics.median(one / two for one, two in pairs)
