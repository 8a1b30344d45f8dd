"""Our side of the warm process that forks cells: start it, ask it, replace it when it ended."""

from __future__ import annotations

import atexit
import json
import os
import socket
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress

from omni.sandbox import cgroup, interpreter
from omni.sandbox.shapes import Job, Refused

START_SECONDS = 60
END_SECONDS = 10
ANSWER = 65536


class Zygote:
    """One launcher with its namespaces. Threads may share it; a forked process must not."""

    def __init__(
        self,
        without: frozenset[str] = frozenset(),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """`without` leaves out layers, to show that each is needed; only tests pass it."""
        self._asking = threading.Lock()
        self._cells: socket.socket | None = None
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603  (our own module)
                interpreter.boot("omni.sandbox.cell.launcher", theirs.fileno()),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env=dict(environment or {}),
                cwd="/",
                start_new_session=True,
            )
        try:
            self.landlock = self._prepare(without)
        except BaseException:
            self.close()
            raise

    def _prepare(self, without: frozenset[str]) -> int:
        plan = {
            "uid": interpreter.unprivileged_uid(),
            "interpreters": interpreter.folders(),
            "without": sorted(without),
            "owner": os.getpid(),
            "groups": cgroup.parents(),
        }
        self._control.settimeout(START_SECONDS)
        try:
            self._control.send(json.dumps(plan).encode())
            answer, fds, _, _ = socket.recv_fds(self._control, ANSWER, 1, socket.MSG_CMSG_CLOEXEC)
            said = json.loads(answer or b"{}")
        except (OSError, ValueError) as error:
            raise Refused(f"the launcher did not answer: {error}") from None
        if "landlock" not in said:
            raise Refused(str(said.get("refused") or "the launcher ended"))
        self._cells = socket.socket(fileno=fds[0])
        return int(said["landlock"])

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        return self._process.pid

    def open(self, job: Job) -> socket.socket:
        """A new cell for this job; it greets on the socket. OSError when the launcher is gone."""
        ours, theirs = socket.socketpair()
        request = {
            "disk_bytes": job.limits.disk_bytes,
            "inodes": job.limits.inodes,
            "egress": bool(job.egress),
            "workspace": str(job.workspace.resolve()) if job.workspace else "",
            "writable": job.writable,
        }
        # Only the launcher sees the machine's folders; everything else goes to the cells directly.
        door = self._control if job.workspace or self._cells is None else self._cells
        try:
            with theirs, self._asking:
                socket.send_fds(door, [json.dumps(request).encode()], [theirs.fileno()])
        except BaseException:
            ours.close()
            raise
        return ours

    def close(self) -> None:
        """The launcher ends when its socket does, and all its cells with it."""
        self._close_doors()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        cgroup.sweep_unused()

    def forget(self) -> None:
        """In a forked process: it is our parent's; an open copy would keep it alive."""
        self._close_doors()
        self._process.returncode = 0

    def _close_doors(self) -> None:
        self._control.close()
        if self._cells is not None:
            self._cells.close()


class Shared:
    """The one zygote of this process, made when it is first needed and again after its end."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._zygote: Zygote | None = None
        os.register_at_fork(after_in_child=self._after_fork)
        atexit.register(self.close)

    def open(self, job: Job) -> socket.socket:
        try:
            return self.current().open(job)
        except OSError:
            # It ended between the question and the answer; a second end is no accident.
            try:
                return self.current().open(job)
            except OSError as error:
                raise Refused(f"the launcher ended: {error}") from None

    def current(self) -> Zygote:
        with self._lock:
            if self._zygote is None or not self._zygote.alive:
                if self._zygote is not None:
                    self._zygote.close()
                    self._zygote = None
                self._zygote = Zygote()
            return self._zygote

    def close(self) -> None:
        with self._lock:
            if self._zygote is not None:
                self._zygote.close()
                self._zygote = None

    def _after_fork(self) -> None:
        self._lock = threading.Lock()
        if self._zygote is not None:
            with suppress(OSError):
                self._zygote.forget()
            self._zygote = None


SHARED = Shared()
