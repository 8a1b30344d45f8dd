"""Tells what a program changed in a workspace: a look before, a look after. It never fails.

Names are chosen by the program, so nothing here trusts them; folders are walked by handle.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from apps.tools.executors.base import FileChange
from omni.sandbox.workspace import shown_path

MAX_FILE = 1 << 20
MAX_KEPT = 64 << 20
MAX_FILES = 20_000
MAX_DEPTH = 64
CHUNK = 1 << 20
UNREADABLE = "0" * 64
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Seen:
    """A file at one moment: its hash, and its bytes where they are few."""

    sha256: str
    data: bytes | None


class Tracked:
    """Keeps the bytes of small files, so that a change can be shown and rolled back."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._before = _Look(root).seen

    def changes(self) -> tuple[FileChange, ...]:
        after = _Look(self._root).seen
        return tuple(
            _change(path, self._before.get(path), after.get(path))
            for path in sorted(self._before.keys() | after.keys())
            if _hash(self._before.get(path)) != _hash(after.get(path))
        )


class _Look:
    """One walk through everything, bounded in files and in kept bytes."""

    def __init__(self, root: Path) -> None:
        self.seen: dict[str, Seen] = {}
        self._left = MAX_KEPT
        with contextlib.suppress(OSError):
            self._folder(os.open(root, _FOLDER), "", 0)

    def _folder(self, handle: int, prefix: str, depth: int) -> None:
        try:
            with os.scandir(handle) as listing:
                for each in listing:
                    if len(self.seen) >= MAX_FILES:
                        return
                    self._entry(handle, each, f"{prefix}{each.name}", depth)
        finally:
            os.close(handle)

    def _entry(self, folder: int, entry: os.DirEntry[str], path: str, depth: int) -> None:
        try:
            if entry.is_dir(follow_symlinks=False):
                if depth < MAX_DEPTH:
                    inner = os.open(entry.name, _FOLDER, dir_fd=folder)
                    self._folder(inner, f"{path}/", depth + 1)
            elif entry.is_file(follow_symlinks=False):
                self.seen[shown_path(path)] = self._file(folder, entry.name)
        except OSError:
            self.seen[shown_path(path)] = Seen(UNREADABLE, None)

    def _file(self, folder: int, name: str) -> Seen:
        handle = os.open(name, _FILE, dir_fd=folder)
        try:
            size = os.fstat(handle).st_size
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return Seen(UNREADABLE, None)
            kept = bytearray() if size <= min(MAX_FILE, self._left) else None
            summed = hashlib.sha256()
            while chunk := os.read(handle, CHUNK):
                summed.update(chunk)
                if kept is not None:
                    kept += chunk
        finally:
            os.close(handle)
        if kept is None or len(kept) > MAX_FILE:
            return Seen(summed.hexdigest(), None)
        self._left -= len(kept)
        return Seen(summed.hexdigest(), bytes(kept))


def _hash(seen: Seen | None) -> str | None:
    return seen.sha256 if seen else None


def _change(path: str, before: Seen | None, after: Seen | None) -> FileChange:
    return FileChange(
        path,
        before.data if before else None,
        after.data if after else None,
        before_sha256=_hash(before),
        after_sha256=_hash(after),
    )
