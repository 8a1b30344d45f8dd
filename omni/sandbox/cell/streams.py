"""The job's input, output and errors: pipes that the supervisor empties, up to a limit."""

from __future__ import annotations

import os
import select
from contextlib import suppress
from typing import Any

PIECE = 65536


class Streams:
    """`said` holds what came out of descriptors 1 and 2; a session brings pipes for 0 and 1."""

    def __init__(self, stdin: bytes, limits: dict[str, Any], given: list[int]) -> None:
        self.said = {1: bytearray(), 2: bytearray()}
        self.full = False
        self._session = bool(given)
        self._left = int(limits["output_bytes"])
        self._waiting = memoryview(stdin)
        self._ends: dict[int, int] = {}
        self._theirs: dict[int, int] = {}
        if given:
            self._theirs[0], self._theirs[1] = given
        else:
            self._theirs[0], self._ends[0] = os.pipe()
            self._ends[1], self._theirs[1] = os.pipe()
        self._ends[2], self._theirs[2] = os.pipe()
        for end in self._ends.values():
            os.set_blocking(end, False)

    def take(self) -> None:
        """In the child: these become 0, 1 and 2."""
        for number, end in [(n, os.dup(end)) for n, end in self._theirs.items()]:
            os.dup2(end, number)

    def close_theirs(self) -> None:
        for end in self._theirs.values():
            os.close(end)
        if not self._session and not self._waiting:
            self._close(0)

    def readers(self) -> list[int]:
        return [end for number, end in self._ends.items() if number]

    def writers(self) -> list[int]:
        return [end for number, end in self._ends.items() if not number]

    def feed(self) -> None:
        """What the input pipe takes now; a job that does not want it closes it."""
        try:
            sent = os.write(self._ends[0], self._waiting[:PIECE])
            self._waiting = self._waiting[sent:]
        except BlockingIOError:
            return
        except OSError:
            self._waiting = self._waiting[:0]
        if not self._waiting:
            self._close(0)

    def drain(self, end: int) -> None:
        """One piece. Beyond the limit the rest is dropped and `full` says so."""
        number = next(number for number, each in self._ends.items() if each == end)
        try:
            piece = os.read(end, PIECE)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        if not piece:
            self._close(number)
            return
        self.said[number] += piece[: self._left]
        if len(piece) > self._left and not self._session:
            self.full = True
        self._left = max(0, self._left - len(piece))

    def drain_rest(self) -> None:
        """After everybody who could write is gone."""
        for end in self.readers():
            while end in self._ends.values() and not self.full and self._readable(end):
                self.drain(end)

    def _readable(self, end: int) -> bool:
        poll = select.poll()
        poll.register(end, select.POLLIN)
        return bool(poll.poll(0))

    def _close(self, number: int) -> None:
        with suppress(KeyError):
            os.close(self._ends.pop(number))
