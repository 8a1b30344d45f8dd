"""Files that only this user may read, written so that a crash leaves the old or the new one."""

from __future__ import annotations

import errno
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from omni.services import wording

UNWRITABLE = frozenset(
    {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.ENOENT}
    | {errno.ENAMETOOLONG, errno.ELOOP}
)


@contextmanager
def said_plainly(folder: Path) -> Iterator[None]:
    """Turn what the operating system says about a folder into our sentences."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise wording.disk_full(folder) from error
        if error.errno in UNWRITABLE:
            raise wording.home_unwritable(folder) from error
        raise


def make_folder(path: Path) -> Path:
    with said_plainly(path):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
            raise wording.home_unwritable(path)
    return path


def write(path: Path, text: str) -> None:
    """Replace a file at once, mode 0600."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    with said_plainly(path.parent):
        try:
            handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(path)
        except OSError:
            fresh.unlink(missing_ok=True)
            raise


def write_json(path: Path, value: Any) -> None:
    write(path, json.dumps(value, indent=2) + "\n")


def read_json(path: Path) -> dict[str, Any]:
    """The object in a file; a missing or damaged file counts as empty."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def password(path: Path) -> str:
    """The password kept in a file, made on first use."""
    try:
        kept = path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        kept = ""
    except OSError as error:
        raise wording.home_unwritable(path.parent) from error
    if not kept:
        kept = secrets.token_urlsafe(32)
        write(path, kept + "\n")
    return kept
