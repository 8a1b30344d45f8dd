"""Frames on the socket between the platform and a cell; both sides speak it."""

from __future__ import annotations

import json
import socket
import struct
from typing import Any

HEAD = struct.Struct("!cI")
HELLO, REFUSED, JOB, DATA, RESULT = b"H", b"X", b"J", b"D", b"R"
LARGEST_HEADER = 1 << 20
MAX_FDS = 4


class Broken(Exception):
    """The other side ended, or said what it should not."""


def send(channel: socket.socket, kind: bytes, payload: bytes, fds: tuple[int, ...] = ()) -> None:
    head = HEAD.pack(kind, len(payload))
    if fds:
        socket.send_fds(channel, [head], list(fds))
        channel.sendall(payload)
    else:
        channel.sendall(head + payload if len(payload) < 65536 else head)
        if len(payload) >= 65536:
            channel.sendall(payload)


def send_json(channel: socket.socket, kind: bytes, value: Any, fds: tuple[int, ...] = ()) -> None:
    send(channel, kind, json.dumps(value).encode(), fds)


def receive(channel: socket.socket, largest: int) -> tuple[bytes, bytes, list[int]]:
    """Kind, payload and descriptors of the next frame; Broken at the end or when it is too long."""
    head, fds, _, _ = socket.recv_fds(channel, HEAD.size, MAX_FDS, socket.MSG_CMSG_CLOEXEC)
    if not head:
        raise Broken("it ended")
    head += _exactly(channel, HEAD.size - len(head))
    kind, length = HEAD.unpack(head)
    if length > largest:
        raise Broken(f"a frame of {length} bytes where {largest} may come")
    return kind, _exactly(channel, length), list(fds)


def receive_json(channel: socket.socket, *kinds: bytes) -> tuple[bytes, Any, list[int]]:
    kind, payload, fds = receive(channel, LARGEST_HEADER)
    if kind not in kinds:
        raise Broken(f"a frame {kind!r} out of turn")
    try:
        return kind, json.loads(payload), fds
    except ValueError as error:
        raise Broken(f"a header that is no JSON: {error}") from None


def receive_data(channel: socket.socket, largest: int) -> bytes:
    kind, payload, _ = receive(channel, largest)
    if kind != DATA:
        raise Broken(f"a frame {kind!r} out of turn")
    return payload


def _exactly(channel: socket.socket, length: int) -> bytes:
    parts = bytearray(length)
    view, at = memoryview(parts), 0
    while at < length:
        count = channel.recv_into(view[at:])
        if not count:
            raise Broken("it ended in the middle of a frame")
        at += count
    return bytes(parts)
