"""Starting code in the sandbox, against a bare subprocess and bare bubblewrap, turn by turn."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import time
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from omni.sandbox import interpreter
from omni.sandbox.conversation import converse
from omni.sandbox.job import Job, run_in
from omni.sandbox.zygote import Zygote

ROUNDS = 40
WORDS = ("-I", "-S", "-c", "print(42)")
BARE = "bare python -I -S"


def bare() -> None:
    _run([interpreter.executable(), *WORDS])


def bare_bubblewrap() -> None:
    """What one would type: the whole machine read-only, nothing limited, nothing exported."""
    words = ["--unshare-all", "--cap-drop", "ALL", "--ro-bind", "/", "/", "--proc", "/proc"]
    words += ["--dev", "/dev", "--tmpfs", "/tmp", "--", interpreter.executable(), *WORDS]
    _run([shutil.which("bwrap") or "bwrap", *words])


def _run(command: list[str]) -> None:
    done = subprocess.run(command, env={}, capture_output=True, check=True)
    assert done.stdout == b"42\n"


def measure() -> dict[str, dict[str, float]]:
    """Seconds of each; every round does all of them once, so that a busy machine is fair."""
    zygote = Zygote()
    job = Job(("python3", *WORDS))

    def warm_start() -> Callable[[], None]:
        return converse(zygote.open, job).close

    def warm() -> None:
        assert run_in(zygote.open, job).stdout == b"42\n"

    def cold() -> None:
        fresh = Zygote()
        try:
            assert run_in(fresh.open, job).stdout == b"42\n"
        finally:
            fresh.close()

    rows: dict[str, Callable[[], Callable[[], None] | None]] = {
        BARE: bare,
        "sandbox, start of a warm cell": warm_start,
        "sandbox, full job, warm": warm,
        "sandbox, full job, cold": cold,
    }
    if shutil.which("bwrap"):
        rows["bare bubblewrap"] = bare_bubblewrap
    found: dict[str, list[float]] = {name: [] for name in rows}
    try:
        for round_ in range(ROUNDS + 2):
            for name, work in rows.items():
                began = time.perf_counter()
                tidy = work()
                if round_ >= 2:
                    found[name].append(time.perf_counter() - began)
                if tidy:
                    tidy()
    finally:
        zygote.close()
    return {name: _figures(seconds) for name, seconds in found.items()}


def _figures(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    return {
        "p50": statistics.median(ordered),
        "p90": ordered[int(len(ordered) * 0.9)],
        "best": ordered[0],
    }


def show(found: dict[str, dict[str, float]]) -> None:
    table = Table("what", "p50 ms", "p90 ms", "best ms", "÷ bare", title="Sandbox")
    floor = found[BARE]["p50"]
    for name, one in found.items():
        figures = [f"{one[key] * 1000:.1f}" for key in ("p50", "p90", "best")]
        table.add_row(name, *figures, f"{one['p50'] / floor:.2f}")
    console = Console()
    console.print(table)
    console.print(
        "A full job is start, run, capture, export and tear down with every limit. Starting the "
        "interpreter is the larger part of it; the rest is two changes of process each way, about "
        "2 ms of Python in the supervisor, and the end of the namespaces."
    )
    if "bare bubblewrap" not in found:
        console.print("bubblewrap is not installed, so its row is missing.")


if __name__ == "__main__":
    show(measure())
