"""The only way out of a cell: a proxy on our side that connects to approved hosts and no other.

It listens on a socket that was made inside the cell's network, so nobody else can reach it.
"""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Any

from omni.sandbox.egress.addresses import resolve
from omni.sandbox.egress.approved import Approved
from omni.sandbox.egress.errors import EgressError, Forbidden
from omni.sandbox.egress.heads import BadHead, Head, read_head
from omni.sandbox.egress.relay import copy_body, relay

CONNECT_SECONDS = 15
HEAD_SECONDS = 30
MAX_CONNECTIONS = 32
MAX_LOG = 200
ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"


class Proxy:
    """Serves one job until it is closed; `log` tells what was reached and what was refused."""

    def __init__(
        self, door: socket.socket, hosts: tuple[str, ...], allow_private: frozenset[str]
    ) -> None:
        self.log: list[dict[str, Any]] = []
        self._approved = Approved(hosts)
        self._private = allow_private
        self._door = door
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._room = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self._closed = False
        threading.Thread(target=self._accept, name="sandbox-proxy", daemon=True).start()

    def close(self) -> None:
        """End every connection; safe to repeat."""
        with self._lock:
            self._closed = True
            for each in (self._door, *self._open):
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
            self._door.close()

    def _accept(self) -> None:
        while not self._closed:
            try:
                caller, _ = self._door.accept()
            except OSError:
                return
            if not self._room.acquire(timeout=HEAD_SECONDS):
                caller.close()
                continue
            if not self._keep(caller):
                return
            threading.Thread(target=self._serve, args=(caller,), daemon=True).start()

    def _keep(self, each: socket.socket) -> bool:
        with self._lock:
            if self._closed:
                each.close()
                return False
            self._open.add(each)
            return True

    def _drop(self, each: socket.socket) -> None:
        with self._lock:
            self._open.discard(each)
        each.close()

    def _serve(self, caller: socket.socket) -> None:
        try:
            caller.settimeout(HEAD_SECONDS)
            self._answer(caller)
        except OSError:
            return
        finally:
            self._drop(caller)
            self._room.release()

    def _answer(self, caller: socket.socket) -> None:
        entry: dict[str, Any] = {"allowed": False, "sent": 0, "received": 0}
        try:
            head, rest = read_head(caller)
        except BadHead as error:
            self._refuse(caller, entry, error.code, str(error))
            return
        entry |= {"method": head.method, "place": head.place[:300]}
        try:
            host, port = self._approved.check(head.place, None if head.tunnel else 80)
            entry |= {"host": host, "port": port}
            server = self._connect(host, port, entry)
        except Forbidden as error:
            self._refuse(caller, entry, 403, error.message)
        except EgressError as error:
            self._refuse(caller, entry, 502, error.message)
        else:
            entry["allowed"] = True
            self._note(entry)
            self._talk(caller, server, head, rest, entry)

    def _connect(self, host: str, port: int, entry: dict[str, Any]) -> socket.socket:
        """To an address that was checked; the name is not looked up a second time."""
        problem: OSError | None = None
        for address in resolve(host, port, allow_private=self._private):
            entry["address"] = address.ip
            server = socket.socket(address.family, socket.SOCK_STREAM)
            server.settimeout(CONNECT_SECONDS)
            try:
                server.connect((address.ip, address.port))
                return server
            except OSError as error:
                server.close()
                problem = error
        raise EgressError(f"The host {host} does not answer: {problem}")

    def _talk(
        self,
        caller: socket.socket,
        server: socket.socket,
        head: Head,
        rest: bytes,
        entry: dict[str, Any],
    ) -> None:
        if not self._keep(server):
            return
        try:
            if head.tunnel:
                caller.sendall(ESTABLISHED)
                if rest:
                    server.sendall(rest)
                relay(caller, server, entry)
            else:
                server.sendall(head.for_server(entry["host"], entry["port"]))
                copy_body(caller, server, rest, head.length, entry)
                relay(caller, server, entry, upwards=False)
        finally:
            self._drop(server)

    def _refuse(self, caller: socket.socket, entry: dict[str, Any], code: int, reason: str) -> None:
        self._note({**entry, "reason": reason})
        body = f"{reason}\n".encode()
        head = f"HTTP/1.1 {code} Refused\r\nContent-Type: text/plain; charset=utf-8\r\n"
        head += f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        caller.sendall(head.encode() + body)

    def _note(self, entry: dict[str, Any]) -> None:
        with self._lock:
            if len(self.log) < MAX_LOG:
                self.log.append(entry)
