"""Tells what a program changed in a workspace: a look before, a look after."""

from __future__ import annotations

import hashlib
from pathlib import Path

from apps.tools.executors.base import FileChange
from omni.contracts.errors import OmniError
from omni.sandbox.workspace import MAX_DEPTH, Workspace

MAX_FILE = 1 << 20
MAX_KEPT = 64 << 20


class Tracked:
    """Keeps the bytes of small files, so that a change can be shown and rolled back."""

    def __init__(self, root: Path) -> None:
        self._files = Workspace(root)
        self._before = self._look()

    def changes(self) -> tuple[FileChange, ...]:
        after = self._look()
        return tuple(
            FileChange(path, self._before.get(path), after.get(path))
            for path in sorted(self._before.keys() | after.keys())
            if self._before.get(path) != after.get(path)
        )

    def _look(self) -> dict[str, bytes]:
        """A file too large to keep is known by its hash: its change shows, its content does not."""
        found: dict[str, bytes] = {}
        left = MAX_KEPT
        for entry in self._files.entries(depth=MAX_DEPTH):
            if entry.kind != "file":
                continue
            if entry.size <= MAX_FILE and entry.size <= left:
                data = self._files.find(entry.path, max_bytes=MAX_FILE)
                if data is not None:
                    left -= len(data)
                    found[entry.path] = data
            else:
                found[entry.path] = _stamp(self._files, entry.path, entry.size)
        return found


def _stamp(files: Workspace, path: str, size: int) -> bytes:
    try:
        data = files.read(path, max_bytes=max(size, 1))
    except OmniError:
        return f"a large file of {size} bytes\n".encode()
    return f"a large file of {size} bytes, sha256 {hashlib.sha256(data).hexdigest()}\n".encode()
