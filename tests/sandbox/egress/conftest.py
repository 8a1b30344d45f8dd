"""Servers that say exactly the bytes a test wants, also what no honest server would say."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator

import pytest

Answer = Callable[[socket.socket, bytes], None]


class Server:
    """Accepts connections on a free port of 127.0.0.1 and hands each request to `answer`."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.requests: list[bytes] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.place = f"127.0.0.1:{self.port}"
        self.url = f"http://{self.place}/"
        self.stopping = threading.Event()
        self._open: list[socket.socket] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while not self.stopping.is_set():
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self._open.append(connection)
            threading.Thread(target=self._handle, args=(connection,), daemon=True).start()

    def _handle(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            request = _read_request(connection)
            self.requests.append(request)
            self.answer(connection, request)

    def stop(self) -> None:
        self.stopping.set()
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for connection in self._open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._thread.join(10)


def _read_request(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return data
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


@pytest.fixture
def serve() -> Iterator[Callable[[Answer | bytes], Server]]:
    """Start a server that answers with these bytes, or with what this function sends."""
    running: list[Server] = []

    def start(answer: Answer | bytes) -> Server:
        if isinstance(answer, bytes):
            data = answer
            server = Server(lambda connection, request: connection.sendall(data))
        else:
            server = Server(answer)
        running.append(server)
        return server

    yield start
    for server in running:
        server.stop()
