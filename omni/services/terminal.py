"""What a person sees while Omni starts, runs and stops: timed phases and prefixed log lines."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

COLOURS = {"postgres": 34, "redis": 31, "web": 32, "worker": 35, "beat": 33, "supervisor": 36}
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class Terminal:
    """Writes straight to a file descriptor; a reader that went away is no error."""

    def __init__(self, handle: int = 1, *, colour: bool | None = None) -> None:
        self.handle = handle
        wanted = os.isatty(handle) and os.environ.get("TERM", "dumb") != "dumb"
        self.colour = wanted if colour is None else colour
        self.plain = not self.colour or "NO_COLOR" in os.environ
        self.fancy = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
        self._label = ""
        self._began = 0.0
        self._ticked = 0.0

    def write(self, text: str) -> None:
        encoding = "utf-8" if self.fancy else "ascii"
        try:
            os.write(self.handle, text.encode(encoding, "replace"))
        except OSError:
            return

    def line(self, text: str = "") -> None:
        self.write(text + "\n")

    def paint(self, text: str, code: int) -> str:
        return text if self.plain else f"\033[{code}m{text}\033[0m"

    @contextmanager
    def phase(self, label: str) -> Iterator[None]:
        """One line per phase with its time; what goes wrong ends it with a cross."""
        self._label, self._began = label, time.monotonic()
        self.tick()
        try:
            yield
        except BaseException:
            self._finish("✗" if self.fancy else "x", 31)
            raise
        self._finish("✓" if self.fancy else "ok", 32)

    def tick(self) -> None:
        """Keep the current phase moving; called from every waiting loop."""
        now = time.monotonic()
        if not self.colour or not self._label or now - self._ticked < 0.08:
            return
        self._ticked = now
        spent = now - self._began
        sign = SPINNER[int(spent * 10) % len(SPINNER)] if self.fancy else "-"
        self.write(f"\r\033[K  {self.paint(sign, 36)} {self._label}  {spent:.1f} s")

    def echo(self, name: str, line: bytes) -> None:
        """A log line of a child, behind its name."""
        prefix = self.paint(f"{name:<10}|", COLOURS.get(name, 37))
        try:
            os.write(self.handle, f"{prefix} ".encode() + line)
        except OSError:
            return

    def _finish(self, sign: str, code: int) -> None:
        spent = time.monotonic() - self._began
        start = "\r\033[K" if self.colour else ""
        self.line(f"{start}  {self.paint(sign, code)} {self._label:<24}{spent:6.1f} s")
        self._label = ""
