"""Prints what `tests.bench.durable` measured, each figure beside its floor, and what limits it."""

from __future__ import annotations

import json
import subprocess
import sys

from rich.console import Console
from rich.table import Table

from tests.bench.durable import LONG, ROOT

Found = dict[str, dict[str, float]]

STEP_ROWS = {
    "floor": "floor: psycopg, one INSERT of one row and its commit per step",
    "durable": "Omni: one event, chained, fenced, lease renewed, one commit per step",
    "chain": "Celery chain: one task per step, default settings, no result store",
}
STEP_LIMITS = (
    "A step does in the server what the floor does (most of which is flushing the commit to the "
    "disk), and beside it updates the run's row, hashes, and fills two indexes and a foreign key; "
    "in Python it decides, validates, searches for secrets and hashes. The whole run counts, from "
    "taking the lease to giving it back. Eight runs share two cores with the server: there "
    "processor time limits, where the floor shares flushes. A chain pays a round trip to the "
    "broker, a task start and an ack for each step, and keeps nothing when a worker dies."
)
APPEND_LIMITS = (
    "On one run writers queue for its row, since numbers have no gap; on 64 runs they do not. In "
    "large batches hashing and inserting event by event in the server and sealing them in Python "
    "come before the commit."
)
STREAM_LIMITS = (
    "The commit, the push through Redis, and one web process that writes to every connection in "
    "turn; the readers of this measurement share the machine's cores."
)


def measure() -> Found:
    """In a process of its own, which forks before it opens a connection."""
    command = [sys.executable, "-m", "tests.bench.durable"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    found: Found = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def show(found: Found) -> None:
    console = Console()
    for table, limits in (
        (_steps(found["steps"], found["step ratios"]), STEP_LIMITS),
        (_appends(found["appends"], found["append ratios"]), APPEND_LIMITS),
        (_stream(found["stream"]), STREAM_LIMITS),
        (_long_run(found["long run"]), "Reading rows and their JSON; folding is the smaller part."),
    ):
        console.print(table)
        console.print(f"Limits: {limits}\n")


def _steps(steps: dict[str, float], ratios: dict[str, float]) -> Table:
    number = f"{ratios['rounds']:.0f}"
    title = f"Durable steps per second; medians of {number} rounds in which all take turns"
    table = Table("what a step is", "1 run", "× floor", "8 runs", "× floor", title=title)
    for name, label in STEP_ROWS.items():
        cells = [
            cell
            for count in (1, 8)
            for cell in (
                f"{steps[f'{name} {count}']:.0f}",
                f"{ratios.get(f'floor to {name} {count}', 1):.2f}",
            )
        ]
        table.add_row(label, *cells)
    one, eight = (f"{ratios[f'durable to chain {count}']:.1f}" for count in (1, 8))
    table.add_row("Omni is so many times as fast as the chain", one, "", eight, "")
    return table


def _appends(rates: dict[str, float], ratios: dict[str, float]) -> Table:
    table = Table("appending", "events/s", "÷ INSERT", title="Events per second")
    for name, rate in rates.items():
        ratio = f"{ratios[name]:.2f}" if name in ratios else "–"
        table.add_row(name, f"{rate:.0f}", ratio)
    return table


def _stream(found: dict[str, float]) -> Table:
    title = f"SSE: from the database to {found['subscribers']:.0f} subscribers of one run"
    table = Table("events/s", "deliveries", "p50 ms", "p99 ms", title=title)
    milliseconds = [f"{found[name] * 1000:.1f}" for name in ("p50", "p99")]
    table.add_row(f"{found['events/s']:.0f}", f"{found['deliveries']:.0f}", *milliseconds)
    return table


def _long_run(found: dict[str, float]) -> Table:
    table = Table("a run of events", "seconds", "events/s", title=f"{LONG:,} events")
    for name, seconds in found.items():
        table.add_row(name, f"{seconds:.2f}", f"{LONG / seconds:.0f}")
    return table


if __name__ == "__main__":
    show(measure())
