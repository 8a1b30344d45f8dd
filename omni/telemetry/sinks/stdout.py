"""Events as lines of JSON on standard output, for whoever gathers it there."""

from __future__ import annotations

import os

from omni.telemetry.sinks.base import Line
from omni.telemetry.sinks.jsonl import lines_of

STDOUT = 1


class StdoutSink:
    """Past Python's buffers: a reader that stops reading blocks this sink's thread and no more."""

    name = "stdout"

    def __init__(self, handle: int = STDOUT) -> None:
        self._handle = handle

    def write(self, batch: list[Line]) -> None:
        rest = memoryview(lines_of(batch))
        while rest:
            rest = rest[os.write(self._handle, rest) :]

    def close(self) -> None:
        return
