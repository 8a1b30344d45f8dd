"""The children of a supervisor and the single loop that reads, reaps and restarts them.

One thread does all of it: a child's death signal is tied to the thread that started it.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from omni.services.child import Child
from omni.services.logfile import LogFile
from omni.services.program import Program
from omni.services.terminal import Terminal
from omni.services.wording import ServiceError

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequested(Exception):
    """Somebody pressed Ctrl-C or sent a signal while we were waiting for something."""


class Crew:
    def __init__(self, log_dir: Path, terminal: Terminal, changed: Callable[[], None]) -> None:
        self.children: list[Child] = []
        self.steps: list[Child] = []
        self.stop_requests = 0
        self.echoing = False
        self._log_dir = log_dir
        self._terminal = terminal
        self._changed = changed
        self._journal = LogFile(log_dir / "supervisor.log")
        self._wake, self._poke = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def listen(self) -> None:
        """Take the signals; only the main thread may."""
        for number in STOP_SIGNALS:
            signal.signal(number, self._request_stop)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._poke, warn_on_full_buffer=False)

    def note(self, text: str) -> None:
        """Into the supervisor's own log, and the terminal once children may speak there."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self._journal.write(f"{stamp} {text}\n".encode())
        if self.echoing:
            self._terminal.echo("supervisor", f"{text}\n".encode())

    def launch(self, program: Program, prepare: Callable[[], None] | None = None) -> Child:
        """Start a process that is to stay; from now on it is restarted when it ends."""
        child = self._make(program, prepare)
        self.children.append(child)
        child.start()
        self.note(f"{child.name} started (pid {child.status().pid})")
        self._changed()
        return child

    def begin_confidential(self, program: Program) -> tuple[Child, list[bytes]]:
        """Start a step: a process that is expected to end; `finish` waits for it.

        Its output is for us alone; only what it says on stderr is logged.
        """
        heard: list[bytes] = []
        step = self._make(program, None, confidential=heard)
        self.steps.append(step)
        step.start()
        return step, heard

    def finish(self, step: Child) -> int:
        while not step.reap():
            self.turn()
        self.steps.remove(step)
        step.close()
        return step.exit_code or 0

    def turn(self, timeout: float = 0.1) -> None:
        """One round of the loop; raises StopRequested in the middle of a start."""
        self.attend(timeout)
        if self.stop_requests:
            raise StopRequested

    def attend(self, timeout: float, *, restart: bool = True) -> None:
        self._terminal.tick()
        self._wait_and_read([*self.children, *self.steps], timeout)
        for child in self.children:
            if child.reap():
                self._ended(child, restart=restart)
            elif restart and child.next_start and time.time() >= child.next_start:
                self._restart(child)

    def close(self) -> None:
        signal.set_wakeup_fd(-1)
        for child in [*self.children, *self.steps]:
            child.signal(signal.SIGKILL, group=True)
            child.close()
        self._journal.close()
        os.close(self._wake)
        os.close(self._poke)

    def _make(
        self,
        program: Program,
        prepare: Callable[[], None] | None,
        confidential: list[bytes] | None = None,
    ) -> Child:
        def echo(line: bytes) -> None:
            if self.echoing:
                self._terminal.echo(program.name, line)

        log = LogFile(self._log_dir / f"{program.name}.log")
        return Child(program, log, echo=echo, prepare=prepare, confidential=confidential)

    def _wait_and_read(self, watched: list[Child], timeout: float) -> None:
        outputs = {c.output: c for c in watched if c.output is not None and not c.closed}
        handles = [handle for handle in outputs if handle is not None]
        ready, _, _ = select.select([*handles, self._wake], [], [], timeout)
        for handle in ready:
            if handle == self._wake:
                os.read(self._wake, 4096)
            else:
                outputs[handle].read()

    def _ended(self, child: Child, *, restart: bool) -> None:
        if restart:
            pause = child.plan_restart()
            self.note(f"{child.name} stopped ({child.last_exit}); starting again in {pause:g} s")
        else:
            self.note(f"{child.name} stopped ({child.last_exit})")
        self._changed()

    def _restart(self, child: Child) -> None:
        try:
            child.restart()
        except (ServiceError, OSError) as error:
            child.plan_restart()
            self.note(f"{child.name} could not be started: {error}")
        else:
            self.note(f"{child.name} started (pid {child.status().pid})")
        self._changed()

    def _request_stop(self, number: int, frame: FrameType | None) -> None:
        self.stop_requests += 1
