"""A real installation, started by `omni up`, and `omni` itself as a subprocess."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from omni.services.program import Program, start, stop
from tests.cli.terminal import run_in_terminal

ROOT = Path(__file__).resolve().parents[2]
OMNI = (sys.executable, "-m", "omni")
START_SECONDS = 300

PEOPLE = """
import json
from apps.registry.models import Scope, User
from apps.registry.services.people import create_user
from apps.registry.services.tokens import create_token
tokens = {}
for name, scopes in (("ada", set(Scope)), ("eve", set(Scope)), ("reader", {Scope.READ})):
    person = create_user(actor=None, email=f"{name}@example.org", name=name.title())
    tokens[name] = create_token(user=person, name="tests", scopes=scopes)[1]
print(json.dumps(tokens))
"""


class Cli:
    """Runs `omni` with an environment of its own."""

    def __init__(self, env: dict[str, str]) -> None:
        self.env = env

    def __call__(
        self, *args: str, code: int = 0, input: str = "", **env: str
    ) -> subprocess.CompletedProcess[str]:
        result = subprocess.run(
            [*OMNI, *args],
            env=self.env | env,
            cwd=ROOT,
            input=input,
            capture_output=True,
            text=True,
            timeout=180,
        )
        assert result.returncode == code, f"omni {args}: {result.returncode}\n{result}"
        assert "Traceback" not in result.stderr
        return result

    def json(self, *args: str, **options: Any) -> Any:
        return json.loads(self(*args, "--json", **options).stdout)

    def problem(self, *args: str, code: int, **options: Any) -> Any:
        result = self(*args, "--json", code=code, **options)
        assert result.stdout == ""
        return json.loads(result.stderr)

    def terminal(self, *args: str, columns: int = 80, typed: str = "", **env: str) -> Any:
        return run_in_terminal([*OMNI, *args], self.env | env, columns=columns, typed=typed)

    def but(self, **env: str) -> Cli:
        return Cli(self.env | env)


@pytest.fixture
def user_home(tmp_path: Path) -> Path:
    home = tmp_path / "user"
    home.mkdir()
    return home


@pytest.fixture
def alone(user_home: Path) -> Cli:
    """`omni` of somebody with no server, no login and nothing running."""
    return Cli(
        {
            "PATH": os.environ["PATH"],
            "HOME": str(user_home),
            "OMNI_HOME": str(user_home / "omni"),
            "OMNI_PORT": str(_free_port()),
            "TZ": "UTC",
        }
    )


class Installation:
    def __init__(self, home: Path) -> None:
        self.home = home
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(home / "user"),
            "OMNI_HOME": str(home / "omni"),
            "OMNI_PORT": str(self.port),
            "OMNI_RATE_USER": "100000/min",
            "OMNI_RATE_ANON": "100000/min",
            "OMNI_WORKER_CONCURRENCY": "1",
            "TZ": "UTC",
        }
        self.tokens: dict[str, str] = {}
        self.output = ""


@pytest.fixture(scope="session")
def installation() -> Iterator[Installation]:
    """Made by `omni up`; dies with the tests, however they end."""
    found = Installation(Path(tempfile.mkdtemp(prefix="omni-cli-")))
    (found.home / "user").mkdir()
    log = found.home / "up.log"
    program = Program(name="omni", argv=(*OMNI, "up"), cwd=ROOT, env=found.env, stop_seconds=60)
    with log.open("wb") as stream:
        child = start(program, stdout=stream.fileno())
    try:
        until = time.monotonic() + START_SECONDS
        while "Omni is ready" not in log.read_text():
            assert child.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.2)
        found.output = log.read_text()
        made = subprocess.run(
            [*OMNI, "manage", "shell", "--no-imports", "-c", PEOPLE],
            env=found.env | {"OMNI_LOG_LEVEL": "ERROR"},
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=180,
        )
        assert made.returncode == 0, made.stderr
        found.tokens = json.loads(made.stdout.splitlines()[-1])
        yield found
    finally:
        stop(program, child)
        shutil.rmtree(found.home, ignore_errors=True)


@pytest.fixture
def omni(installation: Installation) -> Cli:
    """The administrator, on the machine of the installation, with no further settings."""
    return Cli(installation.env)


@pytest.fixture
def ada(installation: Installation, alone: Cli) -> Cli:
    """Somebody elsewhere who has a token with every scope."""
    return alone.but(OMNI_URL=installation.url, OMNI_TOKEN=installation.tokens["ada"])


@pytest.fixture
def eve(installation: Installation, alone: Cli) -> Cli:
    """A stranger to all of Ada's projects."""
    return alone.but(OMNI_URL=installation.url, OMNI_TOKEN=installation.tokens["eve"])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
