"""Runs a program in a terminal of a chosen width, types into it, and hands back what it showed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from dataclasses import dataclass

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass
class Shown:
    code: int
    raw: str

    @property
    def text(self) -> str:
        """Without colours, and each line as it was left."""
        lines = _ESCAPES.sub("", self.raw).replace("\r\n", "\n").split("\n")
        return "\n".join(line.rpartition("\r")[2].rstrip() for line in lines)


def run_in_terminal(
    command: list[str], env: dict[str, str], *, columns: int, typed: str = "", seconds: float = 180
) -> Shown:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    child = subprocess.Popen(
        command,
        env={"TERM": "xterm-256color"} | env,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(theirs)
    shown, until, pending = b"", time.monotonic() + seconds, typed
    while select.select([ours], [], [], max(0, until - time.monotonic()))[0]:
        try:
            piece = os.read(ours, 4096)
        except OSError:
            break
        if not piece:
            break
        shown += piece
        if pending and shown.rstrip().endswith((b":", b"]")):
            # A person needs a moment; a key at the very instant of the prompt can get lost.
            time.sleep(0.3)
            os.write(ours, pending.encode())
            pending = ""
    with contextlib.suppress(OSError):
        os.close(ours)
    try:
        code = child.wait(timeout=60)
    except subprocess.TimeoutExpired:
        child.kill()
        raise AssertionError(f"{command} still runs; it showed {shown!r}") from None
    return Shown(code, shown.decode(errors="replace"))
