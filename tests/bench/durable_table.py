"""Prints what `tests.bench.durable` measured, each figure beside its floor, and what limits it."""

from __future__ import annotations

import json
import subprocess
import sys

from rich.console import Console
from rich.table import Table

from tests.bench.durable import LONG, ROOT


def measure() -> dict[str, dict[str, float]]:
    """In a process of its own, which forks before it opens a connection."""
    command = [sys.executable, "-m", "tests.bench.durable"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, dict[str, float]] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def show(found: dict[str, dict[str, float]]) -> None:
    console = Console()
    steps = found["steps"]
    title = "Durable steps per second (floor: one bare psycopg commit of one row per step)"
    table = Table("what", "1 run", "8 runs", "floor ÷ it, 1", "floor ÷ it, 8", title=title)
    for name in ("floor", "durable", "chain"):
        one, eight = steps[f"{name} 1"], steps[f"{name} 8"]
        ratios = [f"{steps['floor 1'] / one:.2f}", f"{steps['floor 8'] / eight:.2f}"]
        label = {"chain": "Celery chain"}.get(name, name)
        table.add_row(label, f"{one:.0f}", f"{eight:.0f}", *ratios)
    console.print(table)
    console.print(
        "Limits: a step is one commit plus the append function in the server (locks the run, "
        "hashes, three index entries) plus about 0.3 ms of Python; eight runs share two cores. "
        "A chain pays two round trips to the broker, a task start and an ack for each step."
    )
    table = Table("appending", "events/s", "÷ INSERT", title="Events per second")
    for name, rate in found["appends"].items():
        floor = found["appends"].get(name.replace("append", "INSERT", 1))
        ratio = f"{rate / floor:.2f}" if floor and name.startswith("append") else "–"
        table.add_row(name, f"{rate:.0f}", ratio)
    console.print(table)
    console.print(
        "Limits: on one run writers queue for its row, since numbers have no gap; in large "
        "batches checking, redacting and hashing in Python come first."
    )
    table = Table("a run of events", "seconds", "events/s", title=f"{LONG:,} events")
    for name, seconds in found["long run"].items():
        table.add_row(name, f"{seconds:.2f}", f"{LONG / seconds:.0f}")
    console.print(table)
    console.print("Limits: reading rows and their JSON; folding itself is the smaller part.")


if __name__ == "__main__":
    show(measure())
