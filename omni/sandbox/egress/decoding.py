"""Unpacking compressed answers piece by piece, so that a small one cannot become endless."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Protocol

from omni.sandbox.egress.errors import BadResponse

PIECE = 64 * 1024
MAX_LAYERS = 2


class Layer(Protocol):
    """One way of packing, taken off."""

    def feed(self, data: bytes) -> Iterator[bytes]: ...

    def finish(self) -> None:
        """Refuse an answer that ends in the middle."""
        ...


class Inflate:
    """`gzip` and `deflate`, in pieces of bounded size."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._inflate = zlib.decompressobj(window)
        self._fresh = True

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data:
            piece = self._unpack(data)
            data = self._inflate.unconsumed_tail
            if piece:
                yield piece
            if self._inflate.eof:
                data = self._next_member(self._inflate.unused_data)
            elif not piece and not data:
                return

    def _unpack(self, data: bytes) -> bytes:
        try:
            piece = self._inflate.decompress(data, PIECE)
        except zlib.error:
            if not self._fresh or self._window != zlib.MAX_WBITS:
                raise BadResponse("The answer cannot be unpacked.") from None
            # Some servers say `deflate` and leave out the two bytes in front.
            self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)
            self._window = -zlib.MAX_WBITS
            return self._unpack(data)
        self._fresh = False
        return piece

    def _next_member(self, rest: bytes) -> bytes:
        """A gzip file may be several in a row; anything else behind its end is not part of it."""
        if self._window > zlib.MAX_WBITS and rest.startswith(b"\x1f\x8b"):
            self._inflate = zlib.decompressobj(self._window)
            return rest
        return b""

    def finish(self) -> None:
        if not self._fresh and not self._inflate.eof:
            raise BadResponse("The answer ends in the middle.")


def layers_of(encoding: str) -> list[Layer]:
    """What takes off a Content-Encoding, outermost first."""
    names = [name.strip().lower() for name in encoding.split(",")]
    names = [name for name in names if name and name != "identity"]
    if len(names) > MAX_LAYERS:
        raise BadResponse("The answer is packed too many times.")
    return [_layer(name) for name in reversed(names)]


def unpacked(pieces: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """The pieces of the answer itself."""
    for layer in layers_of(encoding):
        pieces = _through(layer, pieces)
    return pieces


def _through(layer: Layer, pieces: Iterator[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        yield from layer.feed(piece)
    layer.finish()


def _layer(name: str) -> Layer:
    if name in ("gzip", "x-gzip"):
        return Inflate(zlib.MAX_WBITS | 16)
    if name == "deflate":
        return Inflate(zlib.MAX_WBITS)
    raise BadResponse(f"The answer is packed as “{name[:40]}”, which was not asked for.")
