"""The second tier: bubblewrap makes the namespaces, our supervisor does the rest as before."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
from pathlib import Path

from omni.sandbox import interpreter
from omni.sandbox.cell.root import (
    DEVICES,
    FOLDERS,
    LINKED,
    SYMLINKS,
    TEMPORARY,
    USER,
    WORK,
    WORKSPACE,
)
from omni.sandbox.shapes import Job, Refused

SOURCES = "/usr/lib/omni-cell"
PACKAGES = ("omni/__init__.py", "omni/sandbox/__init__.py", "omni/sandbox/cell")


def open_cell(job: Job) -> socket.socket:
    """A new cell for this job; it greets on the socket."""
    program = shutil.which("bwrap")
    if program is None:
        raise Refused("bubblewrap is not installed")
    ours, theirs = socket.socketpair()
    with theirs:
        command = [program, *_arguments(job), "--", *_supervisor(theirs.fileno(), job)]
        uid = interpreter.unprivileged_uid() if os.geteuid() == 0 else None
        try:
            process = subprocess.Popen(  # noqa: S603  (bubblewrap with our own arguments)
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                # Its environment can be read inside, whatever it is told to clear.
                env={},
                cwd="/",
                start_new_session=True,
                user=uid,
                group=uid,
                extra_groups=None if uid is None else [],
            )
        except OSError as error:
            ours.close()
            raise Refused(f"bubblewrap does not start: {error}") from None
    threading.Thread(target=process.wait, name="bubblewrap", daemon=True).start()
    return ours


def _supervisor(number: int, job: Job) -> list[str]:
    words = interpreter.boot("omni.sandbox.cell.alone", number, int(bool(job.egress)))
    return [SOURCES if word == str(interpreter.ROOT) else word for word in words]


def _arguments(job: Job) -> list[str]:
    """`--die-with-parent` is left out: it follows the thread that started us, and threads end."""
    words = ["--unshare-user", "--unshare-all", "--cap-drop", "ALL", "--as-pid-1", "--new-session"]
    words += ["--uid", str(USER), "--gid", str(USER), "--hostname", "sandbox"]
    for path in LINKED:
        if os.path.islink(path):
            words += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            words += ["--ro-bind", path, path]
    for path in (*FOLDERS, *interpreter.folders()):
        if os.path.isdir(path):
            words += ["--ro-bind", path, path]
    for name in ("/etc/ld.so.cache", "/etc/ssl/openssl.cnf"):
        if os.path.isfile(name):
            words += ["--ro-bind", name, name]
    size = ["--size", str(job.limits.disk_bytes), "--tmpfs"]
    words += ["--proc", "/proc", *size, TEMPORARY, *size, WORK]
    for name in DEVICES:
        words += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    for path, target in SYMLINKS.items():
        words += ["--symlink", target, path]
    return [*words, *_ours(), *_workspace(job), "--remount-ro", "/", "--chdir", WORK]


def _ours() -> list[str]:
    """The supervisor's own source, in a place that the sandbox mounts over."""
    words: list[str] = []
    for name in PACKAGES:
        words += ["--ro-bind", str(interpreter.ROOT / name), f"{SOURCES}/{name}"]
    return words


def _workspace(job: Job) -> list[str]:
    if job.workspace is None:
        return []
    how = "--bind" if job.writable else "--ro-bind"
    return [how, str(Path(job.workspace).resolve()), WORKSPACE]
