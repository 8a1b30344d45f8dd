"""Takes the files of the output folder: regular, few, small, with plain names, never a link."""

from __future__ import annotations

import os
import stat
from typing import Any, NamedTuple

from omni.sandbox.cell.names import problem
from omni.sandbox.cell.root import OUT, WORK

MAX_DEPTH = 8
MAX_SKIPPED = 50
MAX_ENTRIES = 10_000
OPENING = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class Found(NamedTuple):
    """An open file, so that its name plays no part any more."""

    name: str
    descriptor: int
    size: int

    def read(self) -> bytes:
        """Exactly as many bytes as were counted."""
        data = bytearray()
        while len(data) < self.size and (piece := os.read(self.descriptor, self.size - len(data))):
            data += piece
        os.close(self.descriptor)
        return bytes(data)


class Export(NamedTuple):
    """What is taken, and what is not with the reason."""

    files: list[Found]
    skipped: list[dict[str, str]]

    def skip(self, name: str, reason: str) -> None:
        if len(self.skipped) < MAX_SKIPPED:
            shown = name[:200].encode("utf-8", "backslashreplace").decode()
            self.skipped.append({"name": shown, "reason": reason})


def collect(limits: dict[str, Any]) -> Export:
    """In the order of their names. Nothing of the job runs any more, so nothing changes."""
    export = Export([], [])
    try:
        top = os.open(f"{WORK}/{OUT}", OPENING | os.O_DIRECTORY)
    except OSError:
        export.skip(OUT, "it is not a folder any more")
        return export
    _walk(top, "", 0, export, limits)
    return export


def _walk(place: int, prefix: str, depth: int, export: Export, limits: dict[str, Any]) -> None:
    try:
        for name in sorted(os.listdir(place))[:MAX_ENTRIES]:
            path = f"{prefix}{name}"
            if reason := problem(path):
                export.skip(path, reason)
                continue
            facts = os.lstat(name, dir_fd=place)
            if stat.S_ISDIR(facts.st_mode) and depth < MAX_DEPTH:
                try:
                    below = os.open(name, OPENING | os.O_DIRECTORY, dir_fd=place)
                except OSError:
                    export.skip(path, "it cannot be opened")
                    continue
                _walk(below, f"{path}/", depth + 1, export, limits)
            else:
                _take(place, name, path, facts, export, limits)
    finally:
        os.close(place)


def _take(
    place: int, name: str, path: str, facts: os.stat_result, export: Export, limits: dict[str, Any]
) -> None:
    taken = sum(file.size for file in export.files)
    if not stat.S_ISREG(facts.st_mode):
        export.skip(path, "it is not a regular file")
    elif len(export.files) >= limits["output_files"]:
        export.skip(path, "there are too many files")
    elif taken + facts.st_size > limits["output_files_bytes"]:
        export.skip(path, "the files are too large together")
    else:
        try:
            descriptor = os.open(name, OPENING, dir_fd=place)
        except OSError:
            export.skip(path, "it cannot be opened")
            return
        export.files.append(Found(path, descriptor, os.fstat(descriptor).st_size))
