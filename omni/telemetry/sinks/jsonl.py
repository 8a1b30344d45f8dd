"""Events as lines of JSON in a file that several processes share and that never grows too large."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

from omni.telemetry.sinks.base import Line

KEPT = 4
LOCK_SECONDS = 10.0
PAUSE_SECONDS = 0.01


def lines_of(batch: list[Line]) -> bytes:
    rows = (json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in batch)
    return "".join(f"{row}\n" for row in rows).encode()


class JsonlSink:
    """Whole lines only: a write that fails halfway is taken back."""

    name = "jsonl"

    def __init__(self, path: Path, *, max_bytes: int) -> None:
        self._path = path
        self._max_bytes = max_bytes

    def write(self, batch: list[Line]) -> None:
        body = lines_of(batch)
        with self._alone():
            self._make_room(len(body))
            # Opened anew each time: another process may have set the file aside.
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            handle = os.open(self._path, flags, 0o600)
            try:
                _write_whole(handle, body)
            finally:
                os.close(handle)

    def close(self) -> None:
        return

    def _make_room(self, wanted: int) -> None:
        try:
            size = self._path.stat().st_size
        except FileNotFoundError:
            return
        if size and size + wanted > self._max_bytes:
            for number in range(KEPT - 1, 0, -1):
                with contextlib.suppress(FileNotFoundError):
                    self._numbered(number).replace(self._numbered(number + 1))
            self._path.replace(self._numbered(1))

    def _numbered(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """One process at a time; one that sleeps with the lock costs the others only their wait."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = self._path.with_name(f"{self._path.name}.lock")
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            until = time.monotonic() + LOCK_SECONDS
            while True:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > until:
                        raise TimeoutError("another process holds the file") from None
                    time.sleep(PAUSE_SECONDS)
            yield
        finally:
            os.close(handle)


def _write_whole(handle: int, body: bytes) -> None:
    before = os.fstat(handle).st_size
    rest = memoryview(body)
    try:
        while rest:
            rest = rest[os.write(handle, rest) :]
    except OSError:
        with contextlib.suppress(OSError):
            os.ftruncate(handle, before)
        raise
