"""The test's end of a chaos worker."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

ROOT = Path(__file__).resolve().parents[2]
# How many rounds `make soak` goes; 0 in the short version.
ROUNDS = int(os.environ.get("OMNI_SOAK") or 0)
SOAK = ROUNDS > 0


class Vacuous(AssertionError):
    """The fault did not happen, so the scenario shows nothing."""


def must_have(happened: object, what: str) -> None:
    if not happened:
        raise Vacuous(f"VACUOUS: {what} did not happen")


def test_database_url() -> str:
    """The database of this pytest worker, for other processes."""
    from django.db import connection

    to = connection.settings_dict
    return (
        f"postgresql://{quote(to['USER'])}:{quote(to['PASSWORD'])}@{to['HOST']}:{to['PORT']}"
        f"/{to['NAME']}"
    )


test_database_url.__test__ = False  # type: ignore[attr-defined]


def environment(database_url: str, **more: str) -> dict[str, str]:
    return {
        **os.environ,
        "OMNI_DATABASE_URL": database_url,
        "OMNI_PROCESS": "worker",
        "OMNI_LEASE_SECONDS": "1",
        "OMNI_SWEEP_SECONDS": "1",
        "OMNI_LOG_LEVEL": "ERROR",
        "DJANGO_SETTINGS_MODULE": "omni.settings",
        **more,
    }


class Crew:
    """Gives orders to `python -m tests.chaos.worker` and hears what became of them."""

    def __init__(self, folder: Path, variables: dict[str, str]) -> None:
        self.folder = folder
        self.effects = str(folder / "effects.txt")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.chaos.worker", str(folder)],
            cwd=ROOT,
            env=variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def order(self, do: str, **words: Any) -> dict[str, Any]:
        assert self._process.stdin and self._process.stdout
        print(json.dumps({"do": do, **words}), file=self._process.stdin, flush=True)
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def ask(self, do: str, **words: Any) -> Any:
        """An order that must succeed."""
        answer = self.order(do, **words)
        assert answer["state"] == "done", (do, answer)
        return answer["result"]

    def start(self, runs: list[str], fault: str = "", **words: Any) -> int:
        answer = self.order("start", runs=runs, effects=self.effects, fault=fault, **words)
        return int(answer["pid"])

    def wait(self, pid: int) -> dict[str, Any]:
        return self.order("wait", pid=pid)

    def live(self, runs: list[str], fault: str = "", **words: Any) -> dict[str, Any]:
        """One life of a worker, to its end."""
        return self.wait(self.start(runs, fault, **words))

    def finish(self, runs: list[str]) -> None:
        self.ask("finish", runs=runs, effects=self.effects)

    def judge(self, runs: list[str]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.ask("judge", runs=runs, effects=self.effects)
        return found

    def __enter__(self) -> Crew:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait(20)
        self._process.stdout.close()
