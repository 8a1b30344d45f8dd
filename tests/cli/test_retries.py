"""A lost connection costs nothing: what is safe is repeated, and nothing happens twice."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.cli.conftest import Cli, Installation


class Breaker:
    """Hands requests on to the real server, but loses the first answers on their way back."""

    def __init__(self, url: str, *, losses: int) -> None:
        parts = urlsplit(url)
        self._there = (parts.hostname or "", parts.port or 0)
        self.losses = losses
        self.requests: list[bytes] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                threading.Thread(target=self._hand_on, args=(connection,), daemon=True).start()

    def _hand_on(self, here: socket.socket) -> None:
        with here, socket.create_connection(self._there) as there, contextlib.suppress(OSError):
            while request := _message(here):
                self.requests.append(request)
                there.sendall(request)
                answer = _message(there)
                if self.losses > 0:
                    self.losses -= 1
                    return
                here.sendall(answer)

    def close(self) -> None:
        self._socket.close()


def _message(side: socket.socket) -> bytes:
    """One whole request or answer: its head, and as much body as the head announces."""
    side.settimeout(120)
    data = b""
    while b"\r\n\r\n" not in data:
        piece = side.recv(65536)
        if not piece:
            return b""
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: *(\d+)", head)
    while len(body) < (int(length[1]) if length else 0):
        body += side.recv(65536)
    return head + b"\r\n\r\n" + body


@pytest.fixture
def breaker(installation: Installation) -> Iterator[Breaker]:
    found = Breaker(installation.url, losses=1)
    yield found
    found.close()


def keys(breaker: Breaker) -> list[bytes]:
    return [
        line.split(b": ")[1]
        for request in breaker.requests
        for line in request.split(b"\r\n")
        if line.lower().startswith(b"idempotency-key")
    ]


@pytest.mark.req("API-1")
def test_a_lost_answer_to_a_creation_is_asked_for_again(ada: Cli, breaker: Breaker) -> None:
    """Without the key the repeat would be a conflict (the short name is taken)."""
    made = ada.json("projects", "create", "Once", "--slug", "once", OMNI_URL=breaker.url)
    assert made["slug"] == "once"
    assert breaker.losses == 0
    assert len(keys(breaker)) == 2
    assert len(set(keys(breaker))) == 1
    created = ada.json("audit", "list", "--project", "once", "--action", "project_created")
    assert len(created) == 1


@pytest.mark.req("CLI-1")
def test_a_lost_answer_to_a_deletion_is_a_deletion(ada: Cli, breaker: Breaker) -> None:
    ada("projects", "create", "Gone", "--slug", "gone")
    ada("secrets", "set", "KEY", "--project", "gone", input="value of it")
    ada("secrets", "delete", "KEY", "--project", "gone", "--yes", OMNI_URL=breaker.url)
    assert ada.json("secrets", "list", "--project", "gone") == []


@pytest.mark.req("CLI-1")
def test_a_raw_post_is_not_repeated(ada: Cli, breaker: Breaker) -> None:
    """Whether that address honours the key is not known here."""
    arguments = ("api", "POST", "/api/projects", "--data", "-")
    ada(*arguments, input='{"name": "Raw once"}', code=3, OMNI_URL=breaker.url)
    assert len(breaker.requests) == 1


@pytest.mark.req("CLI-1")
def test_it_gives_up_in_the_end(ada: Cli, breaker: Breaker) -> None:
    breaker.losses = 100
    assert "does not answer" in ada("whoami", code=3, OMNI_URL=breaker.url).stderr
    assert len(breaker.requests) == 3
