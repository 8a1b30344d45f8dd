"""The home folder of an installation: made, checked, locked against a second copy, emptied."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from omni.services import private, wording
from omni.services.program import MARK
from omni.services.state import read_state

# Everything that Omni puts into its home; `reset` deletes these and nothing else.
FOLDERS = ("postgres", "redis", "run", "logs", "static", "keys")
LABEL = "omni-home.txt"
LABEL_TEXT = "Data, keys and logs of one Omni installation. `make reset` deletes them.\n"
ENOUGH_MB = 200


def open_home(home: Path, lock: Lock) -> None:
    """Make the folder on first use and lock it; refuse one that holds somebody else's files."""
    with private.said_plainly(home):
        entries = {path.name for path in home.iterdir()} if home.is_dir() else set()
    if LABEL not in entries and entries - set(FOLDERS):
        raise wording.home_foreign(home)
    lock.take()
    private.make_folder(home / "logs")
    require_space(home)
    if LABEL not in entries:
        private.write(home / LABEL, LABEL_TEXT)


def require_space(home: Path) -> None:
    free = shutil.disk_usage(home).free // 2**20
    if free < ENOUGH_MB:
        raise wording.disk_nearly_full(home, free)


class Lock:
    """Held by the supervisor for its whole life; the kernel drops it with the process."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._handle: int | None = None

    def take(self) -> None:
        # `status` holds it for an instant while it looks, hence the second and third try.
        for pause in (0.1, 0.3, 0.0):
            for folder in (self.home, self.home / "run"):
                private.make_folder(folder)
            if self._try(fcntl.LOCK_EX):
                return
            time.sleep(pause)
        state = read_state(self.home)
        raise wording.already_running(state.pid, state.url)

    def release(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def is_held(self) -> bool:
        """Whether some supervisor owns this home now."""
        if not (self.home / "run").is_dir():
            return False
        taken = self._try(fcntl.LOCK_SH)
        self.release()
        return not taken

    def _try(self, kind: int) -> bool:
        path = self.home / "run" / "supervisor.lock"
        with private.said_plainly(self.home):
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
            # A reset may have deleted the file between the two; then the lock is worth nothing.
            is_ours = path.exists() and os.path.samestat(os.fstat(handle), path.stat())
        except BlockingIOError:
            is_ours = False
        if is_ours:
            self._handle = handle
        else:
            os.close(handle)
        return is_ours


@contextmanager
def owned(home: Path) -> Iterator[None]:
    """Nobody starts here meanwhile, however long a person thinks about the answer to a question."""
    lock = Lock(home)
    try:
        lock.take()
    except wording.AlreadyRunning as error:
        raise wording.reset_while_running(error.data["pid"]) from None
    try:
        yield
    finally:
        lock.release()


def end_leftovers(home: Path, *, patience: float = 5.0) -> list[int]:
    """End what a killed supervisor of this home left; every process we start carries the mark."""
    found = _marked(home)
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in _marked(home):
            _signal(pid, number)
        until = time.monotonic() + patience
        while _marked(home) and time.monotonic() < until:
            time.sleep(0.05)
    return found


def _marked(home: Path) -> list[int]:
    wanted = os.fsencode(f"{MARK}={home}")
    return [
        int(path.name)
        for path in Path("/proc").glob("[0-9]*")
        if int(path.name) != os.getpid() and wanted in _environment(path)
    ]


def _environment(process: Path) -> list[bytes]:
    try:
        return (process / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def empty(home: Path, *, keep: frozenset[str] = frozenset()) -> list[str]:
    """Delete what Omni made there, and the folder itself when nothing else is left."""
    gone = [name for name in FOLDERS if name not in keep and (home / name).is_dir()]
    with private.said_plainly(home):
        # The lock is in `run`: until all else is gone, nobody may start.
        for name in sorted(gone, key="run".__eq__):
            if name == "run":
                (home / LABEL).unlink(missing_ok=True)
            shutil.rmtree(home / name)
        with suppress(OSError):
            home.rmdir()
    return gone
