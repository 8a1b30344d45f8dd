"""One supervised process: started, read, reaped, restarted with growing pauses."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable

from omni.services.logfile import LogFile
from omni.services.program import Program, signal_group, start
from omni.services.state import ProcessState, ProcessStatus

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
# A process that ran this long is healthy again: its next pause is the first one.
STEADY_SECONDS = 60.0
LONGEST_LINE = 64 * 1024


class Child:
    def __init__(
        self,
        program: Program,
        log: LogFile,
        *,
        echo: Callable[[bytes], None],
        prepare: Callable[[], None] | None = None,
        confidential: list[bytes] | None = None,
    ) -> None:
        self.program = program
        self.state: ProcessState = "stopped"
        self.restarts = 0
        self.last_exit = ""
        self.exit_code: int | None = None
        self.closed = False
        self.next_start: float | None = None
        self._prepare = prepare
        self._confidential = confidential
        self._log = log
        self._echo = echo
        self._process: subprocess.Popen[bytes] | None = None
        self._started_at: float | None = None
        self._began = 0.0
        self._pause = FIRST_PAUSE
        self._rest = b""

    @property
    def name(self) -> str:
        return self.program.name

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def output(self) -> int | None:
        stream = self._process.stdout if self._process else None
        return stream.fileno() if stream else None

    def start(self) -> None:
        self.state, self.next_start, self.closed = "running", None, False
        self._began, self._started_at = time.monotonic(), time.time()
        stderr = subprocess.STDOUT if self._confidential is None else self._log.handle
        self._process = start(self.program, stdout=subprocess.PIPE, stderr=stderr)
        assert self._process.stdout is not None  # noqa: S101  (asked for in the line above)
        os.set_blocking(self._process.stdout.fileno(), False)

    def restart(self) -> None:
        self.restarts += 1
        if self._prepare:
            self._prepare()
        self.start()

    def read(self) -> bool:
        """Pass on what it wrote; False when there is nothing now."""
        if (handle := self.output) is None:
            return False
        try:
            piece = os.read(handle, 65536)
        except BlockingIOError:
            return False
        self.closed = not piece
        *lines, self._rest = (self._rest + piece).split(b"\n")
        if self.closed or len(self._rest) > LONGEST_LINE:
            lines, self._rest = [*lines, self._rest], b""
        for line in filter(None, lines):
            self._pass_on(line + b"\n")
        return bool(piece)

    def reap(self) -> bool:
        """After it ended: end what it forked, take the last words, remember how it went."""
        if self._process is None or self._process.poll() is None:
            return False
        signal_group(self._process.pid, signal.SIGKILL)
        for _ in range(1000):
            if not self.read():
                break
        if self._process.stdout:
            self._process.stdout.close()
        self.exit_code = self._process.returncode
        self.last_exit = describe_exit(self.exit_code)
        self._process, self._started_at, self.state = None, None, "stopped"
        return True

    def plan_restart(self) -> float:
        if time.monotonic() - self._began > STEADY_SECONDS:
            self._pause = FIRST_PAUSE
        pause, self._pause = self._pause, min(self._pause * 2, LONGEST_PAUSE)
        self.state, self.next_start = "restarting", time.time() + pause
        return pause

    def signal(self, number: signal.Signals, *, group: bool = False) -> None:
        if self._process is None or self._process.poll() is not None:
            return
        if group:
            signal_group(self._process.pid, number)
        else:
            self._process.send_signal(number)

    def status(self) -> ProcessStatus:
        return ProcessStatus(
            name=self.name,
            state=self.state,
            pid=self._process.pid if self._process else None,
            started_at=self._started_at,
            restarts=self.restarts,
            last_exit=self.last_exit,
            next_start=self.next_start,
        )

    def close(self) -> None:
        self._log.close()

    def _pass_on(self, line: bytes) -> None:
        if self._confidential is not None:
            self._confidential.append(line)
            return
        self._log.write(line)
        self._echo(line)


def describe_exit(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"
