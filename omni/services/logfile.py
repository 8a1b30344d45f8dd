"""Log files of the supervised processes: appended line by line, turned over by size."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

KEPT = 5
LARGEST = 5 * 2**20


class LogFile:
    """`web.log` is the newest, then `web.log.1` and so on; readable by this user only."""

    def __init__(self, path: Path, *, largest: int = LARGEST, kept: int = KEPT) -> None:
        self.path = path
        self.largest = largest
        self.kept = kept
        self.handle = self._open()
        self._size = os.fstat(self.handle).st_size

    def write(self, line: bytes) -> None:
        """A full disk loses lines, never the process that writes them."""
        try:
            if self._size + len(line) > self.largest:
                self._turn_over()
            self._size += os.write(self.handle, line)
        except OSError:
            return

    def close(self) -> None:
        os.close(self.handle)

    def _open(self) -> int:
        return os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def _turn_over(self) -> None:
        for number in range(self.kept - 1, 0, -1):
            older = self._numbered(number)
            if older.exists():
                older.replace(self._numbered(number + 1))
        self.path.replace(self._numbered(1))
        os.close(self.handle)
        self.handle = self._open()
        self._size = 0

    def _numbered(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")


def tail(path: Path, count: int) -> list[str]:
    """The last lines, without reading a large file whole."""
    try:
        with path.open("rb") as file:
            return _last_lines(file, count) if count else []
    except OSError:
        return []


def _last_lines(file: BinaryIO, count: int) -> list[str]:
    """Read backwards in ever larger pieces until there are enough whole lines."""
    end = file.seek(0, os.SEEK_END)
    reach = 400 * max(count, 25)
    while True:
        start = file.seek(max(0, end - reach))
        lines = file.read(end - start).splitlines()
        # The first one may have been cut, unless it is the file's first as well.
        whole = lines if start == 0 else lines[1:]
        if start == 0 or len(whole) >= count:
            return [line.decode(errors="replace") for line in whole[-count:]]
        reach *= 4
