"""What the two embedded servers have in common: a folder, a port, an owner, one program."""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path

from omni.services import ports, private, wording
from omni.services.launch import NAMES
from omni.services.program import MARK, Confinement, Program

START_SECONDS = 60.0


class EmbeddedServer(ABC):
    """Prepare, run `program()`, then `settle()` once it answers."""

    name: str
    title: str

    def __init__(self, home: Path, *, confinement: Confinement, durable: bool = True) -> None:
        self.home = home
        # Without links, so that every folder on the way can be judged.
        self.folder = home.resolve() / self.name
        self.confinement = confinement
        self.durable = durable
        self.port = 0

    @property
    def log(self) -> Path:
        return self.home / "logs" / f"{self.name}.log"

    def prepare(self) -> None:
        """Make the folder ready for a start; safe to repeat, also after a crash."""
        private.make_folder(self.home)
        private.make_folder(self.folder)
        if self.confinement.is_other_user:
            # To be passed through, never listed; the folder above is closed to everybody else.
            self.folder.chmod(0o711)
        if self.confinement.way == "view":
            self._name_the_user(self.confinement.uid)
        if self.confinement.way == "user":
            self.home.chmod(0o711)
        private.make_folder(self.home / "run")
        self.port = ports.remembered(self.home / "run" / "ports.json", self.name)

    @abstractmethod
    def program(self) -> Program: ...

    @abstractmethod
    def answers(self) -> bool:
        """Whether the server accepts our password now."""

    @abstractmethod
    def url(self) -> str: ...

    @abstractmethod
    def last_words(self, log: str) -> str:
        """The line of its log that explains best why it did not start."""

    def settle(self) -> None:
        """What must be true inside the server before anybody uses it."""
        return

    def wait(
        self, *, alive: Callable[[], bool], idle: Callable[[float], None] = time.sleep
    ) -> None:
        """Until it answers; a server that exits meanwhile is an error with its own words."""
        until = time.monotonic() + START_SECONDS
        while not self.answers():
            if not alive() or time.monotonic() > until:
                raise wording.server_failed(self.title, self.log, self.last_words(self._log_text()))
            idle(0.03)

    def own(self, path: Path) -> None:
        """Give it to whom the server runs as; an earlier start may have been another user's."""
        if os.geteuid() != 0:
            return
        owner = self.confinement.uid
        with private.said_plainly(path):
            if path.lstat().st_uid == owner:
                return
            for each in (*path.rglob("*"), path):
                os.chown(each, owner, owner, follow_symlinks=False)

    def _name_the_user(self, uid: int) -> None:
        names = self.folder / NAMES
        private.write(names, f"omni:x:{uid}:{uid}::/:/bin/false\n")
        names.chmod(0o644)

    def environment(self) -> dict[str, str]:
        return {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC", MARK: str(self.home)}

    def _log_text(self) -> str:
        try:
            return self.log.read_text(errors="replace")[-20_000:]
        except OSError:
            return ""
