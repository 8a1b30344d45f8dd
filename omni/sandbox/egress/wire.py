"""Connections to checked addresses whose every wait ends with the whole request's deadline."""

from __future__ import annotations

import errno
import os
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpcore

from omni.sandbox.egress.addresses import Address
from omni.sandbox.egress.errors import Cancelled, TimedOut, TooLarge, Unreachable

# How soon a cancelled request notices.
SLICE = 0.2
# A server that holds this many addresses open is not tried any further.
MAX_TRIES = 4
READ = 64 * 1024
ENDLESS = 2**63
Answer = TypeVar("Answer")


@dataclass
class Clock:
    """What is left of a request's time, and whether it is still wanted."""

    seconds: float
    cancelled: Callable[[], bool]
    sent: bool = False
    ends: float = field(init=False)

    def __post_init__(self) -> None:
        self.ends = time.monotonic() + self.seconds

    def slice(self) -> float:
        """How long to wait at most before asking again; raises when there is nothing left."""
        if self.cancelled():
            raise Cancelled("The request was cancelled.")
        left = self.ends - time.monotonic()
        if left <= 0:
            raise TimedOut(f"There was no complete answer within {self.seconds:g} seconds.")
        return min(left, SLICE)

    def in_time(self, work: Callable[[], Answer]) -> Answer:
        """The answer of a call that knows no deadline itself, such as a name lookup."""
        done = threading.Event()
        results: list[Answer] = []
        failures: list[Exception] = []

        def carry_out() -> None:
            try:
                results.append(work())
            except Exception as error:  # noqa: BLE001  (raised again in the waiting thread)
                failures.append(error)
            finally:
                done.set()

        threading.Thread(target=carry_out, name="egress-lookup", daemon=True).start()
        while not done.wait(self.slice()):
            pass
        if failures:
            raise failures[0]
        return results[0]


class Wire(httpcore.NetworkStream):
    """One connection; reading and writing stop at the deadline, not at the next byte."""

    def __init__(self, sock: socket.socket, clock: Clock, *, header_bytes: int) -> None:
        self._socket = sock
        self._clock = clock
        self.left = header_bytes + READ
        """How much may still be read before the headers must be complete."""

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self.left <= 0:
            raise TooLarge("The headers of the answer are too large.")
        data = self._patiently(lambda: self._socket.recv(max_bytes))
        self.left -= len(data)
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._clock.sent = True
        rest = memoryview(buffer)
        try:
            while rest:
                rest = rest[self._patiently(lambda: self._socket.send(rest)) :]  # noqa: B023
        except Unreachable as error:
            # The answer may be there already, such as a refusal of the body: httpcore looks.
            raise httpcore.WriteError(error.message) from None

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        try:
            wrapped = ssl_context.wrap_socket(
                self._socket, server_hostname=server_hostname, do_handshake_on_connect=False
            )
        except (OSError, ValueError):
            self.close()
            raise Unreachable("No secure connection could be made.") from None
        self._socket = wrapped
        try:
            self._patiently(wrapped.do_handshake)
        except BaseException:
            self.close()
            raise
        return self

    def close(self) -> None:
        self._socket.close()

    def get_extra_info(self, info: str) -> Any:
        if info == "ssl_object" and isinstance(self._socket, ssl.SSLSocket):
            return self._socket
        return None

    def _patiently(self, step: Callable[[], Answer]) -> Answer:
        while True:
            self._socket.settimeout(self._clock.slice())
            try:
                return step()
            except TimeoutError:
                continue
            except ssl.SSLCertVerificationError as error:
                raise Unreachable(f"The server is not trusted: {error.verify_message}.") from None
            except ssl.SSLEOFError:
                raise Unreachable("The connection was cut.") from None
            except OSError as error:
                why = error.strerror or error.__class__.__name__
                raise Unreachable(f"The connection broke: {why}.") from None


class CheckedBackend(httpcore.NetworkBackend):
    """Connects to the addresses it was given, whatever name it is asked for."""

    def __init__(self, addresses: Iterable[Address], clock: Clock, *, header_bytes: int) -> None:
        self._addresses = list(addresses)
        self._clock = clock
        self._header_bytes = header_bytes
        self._wire: Wire | None = None

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Any = None,
    ) -> httpcore.NetworkStream:
        reason = "it has no address"
        for address in self._addresses[:MAX_TRIES]:
            try:
                sock = _connected(address, self._clock, patience=timeout)
            except OSError as error:
                reason = error.strerror or "it did not answer"
                continue
            self._wire = Wire(sock, self._clock, header_bytes=self._header_bytes)
            return self._wire
        raise Unreachable(f"The host {host} could not be reached: {reason.lower()}.")

    def headers_are_complete(self) -> None:
        """From here on the caller counts the body."""
        if self._wire is not None:
            self._wire.left = ENDLESS


def _connected(address: Address, clock: Clock, *, patience: float | None) -> socket.socket:
    sock = socket.socket(address.family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        code = sock.connect_ex((address.ip, address.port))
        if code == errno.EINPROGRESS:
            _await_connection(sock, clock, ends=time.monotonic() + (patience or clock.seconds))
            code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            raise OSError(code, os.strerror(code))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock
    except BaseException:
        sock.close()
        raise


def _await_connection(sock: socket.socket, clock: Clock, *, ends: float) -> None:
    waiter = select.poll()
    waiter.register(sock, select.POLLOUT)
    while not waiter.poll(clock.slice() * 1000):
        if time.monotonic() > ends:
            raise TimeoutError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))
