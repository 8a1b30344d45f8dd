"""A real web process on the test database, and a plain reader of event streams."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import psutil
from django.conf import settings
from django.db import connection

from omni.services import ports

ROOT = Path(__file__).resolve().parents[2]
# How long a test waits before it fails; nothing here is about speed.
PATIENCE_SECONDS = 120
LIMIT = 200


class Web:
    """`omni.asgi` as an installation runs it, with short heartbeats."""

    def __init__(self, home: Path, **environ: str) -> None:
        self.log = home / "web.log"
        self.port = ports.remembered(home / "ports.json", "web")
        self.url = f"http://127.0.0.1:{self.port}"
        self._environ = {
            **os.environ,
            "OMNI_HOME": str(home),
            "OMNI_DATABASE_URL": _test_database(),
            "OMNI_PORT": str(self.port),
            "OMNI_PROCESS": "web",
            "OMNI_DJANGO_SECRET": settings.SECRET_KEY,
            "OMNI_LOG_FORMAT": "json",
            "OMNI_STREAM_HEARTBEAT_SECONDS": "1",
            "OMNI_STREAMS_PER_USER": str(LIMIT),
            "OMNI_CORS_ORIGINS": "https://friend.example.org",
            "DJANGO_SETTINGS_MODULE": "tests.settings",
            **environ,
        }
        (home / "static").mkdir(exist_ok=True)

    def start(self) -> Web:
        command = [sys.executable, "-m", "uvicorn", "omni.asgi:application", "--lifespan", "off"]
        command += ["--port", str(self.port), "--timeout-graceful-shutdown", "30"]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=self._environ, stdout=log, stderr=log
            )
        until = time.monotonic() + PATIENCE_SECONDS
        while not self._answers():
            assert self.process.poll() is None and time.monotonic() < until, self.log.read_text()
            time.sleep(0.05)
        return self

    def stop(self) -> None:
        """Ask it to end; one that waits for its open streams complains, see below."""
        self.process.terminate()
        self.process.wait(timeout=PATIENCE_SECONDS)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=PATIENCE_SECONDS)

    @property
    def threads(self) -> int:
        return int(psutil.Process(self.process.pid).num_threads())

    @property
    def complaints(self) -> list[str]:
        """What went wrong inside, in its own words."""
        marks = ("Traceback", '"level": "error"', "never retrieved", "never awaited")
        marks += ("graceful shutdown exceeded",)
        return [line for line in self.log.read_text().splitlines() if any(m in line for m in marks)]

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/healthz", timeout=30).status_code == 200
        except httpx.TransportError:
            return False


def _test_database() -> str:
    """pytest-django's database as a URL."""
    about = connection.settings_dict
    who = f"{quote(about['USER'])}:{quote(about['PASSWORD'])}"
    return f"postgresql://{who}@{about['HOST']}:{about['PORT']}/{quote(about['NAME'])}"


@dataclass(frozen=True)
class Message:
    """One message of a stream; a heartbeat is one with a comment alone."""

    id: str = ""
    event: str = ""
    data: str = ""
    comment: str = ""


class Stream:
    """An open event stream."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._messages = self._parse()

    def __iter__(self) -> Iterator[Message]:
        return self._messages

    def events(self) -> Iterator[Message]:
        """Without heartbeats."""
        return (message for message in self._messages if not message.comment)

    def take(self, count: int) -> list[Message]:
        found = self.events()
        return [next(found) for _ in range(count)]

    def _parse(self) -> Iterator[Message]:
        fields: dict[str, str] = {}
        for line in self._lines():
            if not line:
                if fields.keys() - {"retry"}:
                    yield Message(**{k: v for k, v in fields.items() if k != "retry"})
                fields = {}
                continue
            name, _, value = line.partition(": ")
            fields[name or "comment"] = value

    def _lines(self) -> Iterator[str]:
        """Lines end at a line feed; httpx would end them at U+2028 too, which texts may have."""
        rest, until = b"", time.monotonic() + PATIENCE_SECONDS
        for piece in self.response.iter_raw():
            # Heartbeats keep a silent stream open for ever, and a test must be able to fail.
            assert time.monotonic() < until, "what was expected did not come"
            *lines, rest = (rest + piece).split(b"\n")
            yield from (line.decode() for line in lines)


class Reader:
    """Somebody with a credential."""

    def __init__(self, url: str, **headers: str) -> None:
        self.url, self.headers = url, headers

    def get(self, path: str, **headers: str) -> httpx.Response:
        return httpx.get(self.url + path, headers={**self.headers, **headers}, timeout=60)

    @contextmanager
    def open(self, path: str, **headers: str) -> Iterator[Stream]:
        timeout = httpx.Timeout(60)
        with httpx.stream(
            "GET", self.url + path, headers={**self.headers, **headers}, timeout=timeout
        ) as response:
            if response.status_code != 200:
                response.read()
            assert response.status_code == 200, response.text
            yield Stream(response)


def session_cookie(user: Any) -> str:
    """A signed-in browser's cookie header."""
    from django.test import Client

    client = Client()
    client.force_login(user, "django.contrib.auth.backends.ModelBackend")
    name = settings.SESSION_COOKIE_NAME
    return f"{name}={client.cookies[name].value}"
