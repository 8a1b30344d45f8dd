"""Copies bytes between a caller and a server until one of them ends."""

from __future__ import annotations

import select
import socket
from typing import Any

IDLE_SECONDS = 120
PIECE = 65536


def relay(
    caller: socket.socket, server: socket.socket, entry: dict[str, Any], *, upwards: bool = True
) -> None:
    """Both ways, or only down to the caller; counts what passed."""
    ways = {server: (caller, "received")}
    if upwards:
        ways[caller] = (server, "sent")
    while ways:
        ready, _, _ = select.select(list(ways), [], [], IDLE_SECONDS)
        if not ready:
            return
        for source in ready:
            target, counter = ways[source]
            piece = source.recv(PIECE)
            if piece:
                target.sendall(piece)
                entry[counter] += len(piece)
            elif source is server:
                return
            else:
                target.shutdown(socket.SHUT_WR)
                del ways[source]


def copy_body(
    caller: socket.socket, server: socket.socket, rest: bytes, length: int, entry: dict[str, Any]
) -> None:
    """Exactly as many bytes as were announced; a second request behind them is not passed on."""
    piece = rest[:length]
    while True:
        server.sendall(piece)
        entry["sent"] += len(piece)
        length -= len(piece)
        if length <= 0:
            return
        piece = caller.recv(min(PIECE, length))
        if not piece:
            return
