"""A program in the sandbox that one talks to over its pipes, such as a tool server."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import IO

from omni.sandbox.conversation import converse
from omni.sandbox.job import check
from omni.sandbox.shapes import Job, Limits, Refused, Result
from omni.sandbox.tier import CHOICE

# One that is asked rarely waits most of the time.
WALL_SECONDS = 3600.0
WHOLE = {field.name for field in fields(Limits) if field.type == "int"}


class Process:
    """Lives until it ends by itself, hits a limit, or is closed."""

    def __init__(self, job: Job) -> None:
        chosen = CHOICE.get()
        if chosen.open is None:
            raise Refused(*chosen.reasons)
        self._closing = threading.Lock()
        self._closed = threading.Event()
        self.result: Result | None = None
        """How it ended; its errors are in `stderr`."""
        self._conversation = converse(chosen.open, job)
        theirs_in, ours_in = os.pipe()
        ours_out, theirs_out = os.pipe()
        self.stdin: IO[bytes] = os.fdopen(ours_in, "wb", buffering=0)
        self.stdout: IO[bytes] = os.fdopen(ours_out, "rb", buffering=0)
        self._conversation.send((theirs_in, theirs_out))
        os.close(theirs_in)
        os.close(theirs_out)
        self._waiter = threading.Thread(target=self._wait, name="sandbox-session", daemon=True)
        self._waiter.start()

    def _wait(self) -> None:
        try:
            self.result = self._conversation.result(self._closed.is_set)
        except Refused as error:
            self.result = Result("refused", -1, stderr=str(error).encode())
        finally:
            self._conversation.close()

    def wait(self, seconds: float | None = None) -> Result | None:
        """Its result, or None while it still runs."""
        self._waiter.join(seconds)
        return self.result

    def close(self) -> None:
        """End it with everything it started; safe to repeat, and from any thread."""
        with self._closing:
            self._closed.set()
            self._waiter.join()
            for end in (self.stdin, self.stdout):
                with suppress(OSError):
                    end.close()


def open_session(
    command: tuple[str, ...],
    env: Mapping[str, str],
    egress: tuple[str, ...] = (),
    limits: Mapping[str, float] | None = None,
    *,
    allow_private: frozenset[str] = frozenset(),
    workspace: Path | None = None,
    writable: bool = False,
) -> Process:
    """Start a program; `limits` are those of a job by name. Refused when this machine cannot."""
    wanted = {
        name: int(value) if name in WHOLE else value for name, value in (limits or {}).items()
    }
    bounds = Limits(**{"wall_seconds": WALL_SECONDS, "cpu_seconds": WALL_SECONDS, **wanted})  # type: ignore[arg-type]
    job = Job(
        command,
        env=env,
        egress=egress,
        limits=bounds,
        allow_private=allow_private,
        workspace=workspace,
        writable=writable,
    )
    check(job)
    return Process(job)
