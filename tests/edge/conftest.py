"""A real web server on a free port, for what only shows on the wire."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import uvicorn


@pytest.fixture
def serve() -> Iterator[Callable[[Any], int]]:
    """Start an ASGI application with uvicorn; the answer is its port."""
    running: list[tuple[uvicorn.Server, threading.Thread]] = []

    def start(app: Any) -> int:
        settings = uvicorn.Config(app, port=0, log_config=None, access_log=False, lifespan="off")
        server = uvicorn.Server(settings)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        running.append((server, thread))
        until = time.monotonic() + 60
        while not server.started:
            assert time.monotonic() < until, "the server did not start"
            time.sleep(0.01)
        return int(server.servers[0].sockets[0].getsockname()[1])

    yield start
    for server, thread in running:
        server.should_exit = True
        thread.join(10)


class _Listener(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.heard: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        if isinstance(record.msg, dict):
            self.heard.append(record.msg)


@pytest.fixture
def lines() -> Iterator[list[dict[str, Any]]]:
    """What our own loggers say, before it is rendered; also loggers that were used before."""
    listener, ours = _Listener(), logging.getLogger("omni")
    ours.addHandler(listener)
    yield listener.heard
    ours.removeHandler(listener)
