"""A throw-away installation that tests start, hurt and stop from outside, like a person would."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import psycopg

from omni.services.program import MARK

ROOT = Path(__file__).resolve().parents[2]


class Installation:
    def __init__(
        self, home: Path, *, python: str = sys.executable, user: int | None = None
    ) -> None:
        self.home = home
        self.port = free_port()
        self.python = python
        self.user = user
        self.env = {key: value for key, value in os.environ.items() if not key.startswith("OMNI_")}
        self.env |= {"OMNI_HOME": str(home), "OMNI_PORT": str(self.port), "PYTHONUTF8": "1"}

    def command(self, *words: str) -> list[str]:
        return [self.python, "-B", "-m", "tests.services.standin", *words]

    def run(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*words),
            cwd=ROOT,
            env={**self.env, **env},
            user=self.user,
            group=self.user,
            extra_groups=None if self.user is None else [],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=240,
        )

    def up(self, **env: str) -> str:
        done = self.run("up", "--detach", **env)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def status(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self.run("status", "--json").stdout)
        return answer

    def process(self, name: str) -> dict[str, Any]:
        return next(each for each in self.state()["processes"] if each["name"] == name)

    def state(self) -> dict[str, Any]:
        """What the supervisor wrote, without the cost of a command."""
        state: dict[str, Any] = json.loads((self.home / "run" / "state.json").read_text())
        return state

    def database(self) -> psycopg.Connection:
        urls = json.loads((self.home / "run" / "endpoints.json").read_text())
        return psycopg.connect(urls["database_url"], autocommit=True)

    def log(self, name: str) -> str:
        return (self.home / "logs" / f"{name}.log").read_text()

    def processes(self) -> list[int]:
        """All that lives for this home; PostgreSQL overwrites its own environment."""
        mark, data = os.fsencode(f"{MARK}={self.home}"), os.fsencode(self.home / "postgres/data")
        return [
            int(path.name)
            for path in Path("/proc").glob("[0-9]*")
            if mark in words(path / "environ") or data in words(path / "cmdline")
        ]

    def family(self) -> list[psutil.Process]:
        """All descendants of the supervisor, however deep."""
        return psutil.Process(self.state()["pid"]).children(recursive=True)

    def destroy(self) -> None:
        if (self.home / "run" / "state.json").exists():
            self.run("down")
        for pid in self.processes():
            os.kill(pid, signal.SIGKILL)


def words(file: Path) -> list[bytes]:
    """Empty also for a zombie."""
    try:
        return file.read_bytes().split(b"\0")
    except OSError:
        return []


def is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def eventually(question: Callable[[], Any], *, seconds: float = 90.0) -> Any:
    """The first true answer; one that never comes fails the test."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if answer := question():
                return answer
        except (OSError, ValueError, KeyError, psycopg.OperationalError):
            pass
        time.sleep(0.05)
    raise AssertionError("it never came true")
