"""Ends a program that fills the workspace: it lies on the machine's own disk."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

MAX_BYTES = 1 << 30
LOOK_SECONDS = 0.5
BLOCK = 512


class Quota:
    """Asked again and again while a program runs; answers whether it must stop."""

    def __init__(self, root: Path, cancelled: Callable[[], bool]) -> None:
        self._root = root
        self._cancelled = cancelled
        self._looked = time.monotonic()
        self.was_over = False

    def __call__(self) -> bool:
        if self._cancelled():
            return True
        if time.monotonic() - self._looked >= LOOK_SECONDS:
            self.was_over = self.was_over or self.is_over()
            self._looked = time.monotonic()
        return self.was_over

    def is_over(self) -> bool:
        """Counted in blocks, so that sparse files cost what they really take."""
        total = 0
        for folder, _, names in os.walk(self._root):
            for name in names:
                try:
                    total += os.lstat(os.path.join(folder, name)).st_blocks * BLOCK
                except OSError:
                    continue
            if total > MAX_BYTES:
                return True
        return False
