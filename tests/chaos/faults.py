"""Where a worker is made to die or freeze: at an append, in a call, in the middle of an answer."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from apps.runs import eventlog
from apps.runs.drive.ports import Ports, ScriptedModel
from tests.permitted import Permitted

SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP}


class Fault:
    """`append:3:after:kill`: which kind of point, which one, on which side of it, what happens."""

    def __init__(self, text: str, effects: str) -> None:
        place, number, self.side, what = (text or "none:0:after:kill").split(":")
        self.place, self.number, self.signal = place, int(number), SIGNALS[what]
        self.effects = effects
        self.counts: dict[str, int] = {}

    def passes(self, place: str, side: str) -> None:
        """Called at every point; strikes at one of them."""
        if side == "before":
            self.counts[place] = self.counts.get(place, 0) + 1
        if (place, self.counts[place], side) == (self.place, self.number, self.side):
            os.kill(os.getpid(), self.signal)

    def ports(self) -> Ports:
        return Ports(model=_Model(self), tools=_Tools(self))

    def guard_appends(self, *, fenced: bool = True) -> None:
        """Wrap the log of this process; without the fence only for the negative control."""
        original = eventlog.append

        def append(*arguments: Any, **options: Any) -> Any:
            if not fenced:
                options["lease"] = None
            self.passes("append", "before")
            done = original(*arguments, **options)
            self.passes("append", "after")
            return done

        eventlog.append = append  # type: ignore[assignment]


class _Tools(Permitted):
    """Each call that really takes place leaves one line in a file, in one write."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault

    def call(self, tool: str, arguments: dict[str, Any], call_id: str, context: Any) -> Any:
        self.fault.passes("call", "before")
        time.sleep(float(arguments.get("seconds", 0)))
        if "until" in arguments:
            self._await(Path(self.fault.effects).with_name(arguments["until"]), context)
        record(self.fault.effects, f"{tool} {call_id} {context.run_id}")
        self.fault.passes("call", "after")
        return {"done": tool}

    def _await(self, file: Path, context: Any) -> None:
        """Holds the run in the middle of a call until the test makes a file of this name."""
        while not file.exists() and not context.cancelled():
            time.sleep(0.02)


class _Model(ScriptedModel):
    def __init__(self, fault: Fault) -> None:
        self.fault = fault

    def stream(self, model: str, messages: list[dict[str, str]], context: Any) -> Iterator[str]:
        for piece in super().stream(model, messages, context):
            self.fault.passes("piece", "before")
            yield piece
            time.sleep(0.06)
            self.fault.passes("piece", "after")


def record(file: str, line: str) -> None:
    handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, f"{line}\n".encode())
    finally:
        os.close(handle)
