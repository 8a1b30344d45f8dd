"""Files below one folder, and nothing else: no link is followed, no path leads out.

Every step is opened relative to the folder before it, so a link that appears between a check and
its use leads nowhere.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from omni.contracts.errors import ErrorCategory, NotFound, OmniError, PermissionDenied

MAX_DEPTH = 32
MAX_NAME_BYTES = 255
MAX_PATH = 500
_HIDDEN = re.compile(r"[\x00-\x1f\x7f]")
MAX_ENTRIES = 20_000
CHUNK = 1 << 20
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class TooMuch(OmniError):
    """More bytes or files than the caller allows."""

    category = ErrorCategory.TOO_LARGE


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or folder, by its path from the root."""

    path: str
    kind: str
    size: int


def parts_of(path: str) -> tuple[str, ...]:
    """The steps of a relative path; refuses everything that could mean another place."""
    if "\x00" in path:
        raise _refused("A path has no zero bytes.")
    if path.startswith(("/", "~")) or "\\" in path:
        raise _refused(f"“{path[:200]}” is not a path below the workspace.")
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if ".." in parts:
        raise _refused(f"“{path[:200]}” leads out of the workspace.")
    if any(part.startswith("..") or _HIDDEN.search(part) for part in parts):
        raise _refused("A name does not begin with two dots and has no control characters.")
    if len("/".join(parts)) > MAX_PATH:
        raise _refused(f"A path has at most {MAX_PATH} characters.")
    if len(parts) > MAX_DEPTH:
        raise _refused(f"A path has at most {MAX_DEPTH} steps.")
    try:
        if any(len(part.encode()) > MAX_NAME_BYTES for part in parts):
            raise _refused(f"A name has at most {MAX_NAME_BYTES} bytes.")
    except UnicodeEncodeError:
        raise _refused("A path is Unicode text.") from None
    return parts


def shown_path(path: str) -> str:
    """Any name that a program may choose, as text that an event can hold."""
    steps = []
    for part in path.split("/"):
        told = _HIDDEN.sub(lambda found: f"%{ord(found[0]):02X}", part).replace("\\", "%5C")
        told = told.encode("utf-8", "backslashreplace").decode().replace("\\", "%")
        steps.append(f"%2E{told[1:]}" if told.startswith("..") else told)
    whole = "/".join(steps)
    if len(whole) <= MAX_PATH:
        return whole
    return f"{whole[: MAX_PATH - 20]}…{hashlib.sha256(whole.encode()).hexdigest()[:16]}"


class Workspace:
    """A folder that a run reads and changes."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def read(self, path: str, *, max_bytes: int) -> bytes:
        with self._parent(path) as (folder, name), _opened(folder, name, path) as handle:
            return _contents(handle, path, max_bytes)

    def find(self, path: str, *, max_bytes: int) -> bytes | None:
        """Like `read`, and None when there is no such file."""
        try:
            return self.read(path, max_bytes=max_bytes)
        except NotFound:
            return None

    def write(self, path: str, data: bytes) -> None:
        """The whole file or nothing: written beside its place, then renamed over it."""
        with self._parent(path, create=True) as (folder, name):
            _refuse_other_than_file(folder, name, path)
            part = f".{uuid.uuid4().hex}.part"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            try:
                with os.fdopen(os.open(part, flags, 0o664, dir_fd=folder), "wb") as stream:
                    stream.write(data)
                os.rename(part, name, src_dir_fd=folder, dst_dir_fd=folder)
            except OSError as error:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(part, dir_fd=folder)
                raise _explained(error, path) from None

    def remove(self, path: str) -> None:
        with self._parent(path) as (folder, name):
            _refuse_other_than_file(folder, name, path)
            try:
                os.unlink(name, dir_fd=folder)
            except OSError as error:
                raise _explained(error, path) from None

    def entries(self, path: str = "", *, depth: int = 1, most: int = MAX_ENTRIES) -> list[Entry]:
        """What is below a folder, by name; links and special files are named, never followed."""
        found: list[Entry] = []
        with self._folder(parts_of(path), path) as folder:
            _list(folder, "/".join(parts_of(path)), depth, most, found)
        return found

    @contextmanager
    def _parent(self, path: str, *, create: bool = False) -> Iterator[tuple[int, str]]:
        parts = parts_of(path)
        if not parts:
            raise _refused("Name a file, not the workspace itself.")
        with self._folder(parts[:-1], path, create=create) as folder:
            yield folder, parts[-1]

    @contextmanager
    def _folder(self, parts: tuple[str, ...], path: str, *, create: bool = False) -> Iterator[int]:
        handle = os.open(self.root, _FOLDER)
        try:
            for part in parts:
                handle = _step(handle, part, path, create=create)
            yield handle
        finally:
            os.close(handle)


def _step(folder: int, part: str, path: str, *, create: bool) -> int:
    try:
        if create:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, 0o775, dir_fd=folder)
        inner = os.open(part, _FOLDER, dir_fd=folder)
    except OSError as error:
        raise _explained(error, path) from None
    os.close(folder)
    return inner


@contextmanager
def _opened(folder: int, name: str, path: str) -> Iterator[int]:
    try:
        handle = os.open(name, _FILE, dir_fd=folder)
    except OSError as error:
        raise _explained(error, path) from None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise _refused(f"“{path}” is not a plain file.")
        yield handle
    finally:
        os.close(handle)


def _contents(handle: int, path: str, max_bytes: int) -> bytes:
    data = bytearray()
    while chunk := os.read(handle, min(CHUNK, max_bytes + 1 - len(data))):
        data += chunk
        if len(data) > max_bytes:
            raise TooMuch(f"“{path}” has more than {max_bytes} bytes.")
    return bytes(data)


def _refuse_other_than_file(folder: int, name: str, path: str) -> None:
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise _refused(f"“{path}” is not a plain file.")


def _list(folder: int, prefix: str, depth: int, most: int, found: list[Entry]) -> None:
    with os.scandir(folder) as listing:
        names = sorted(each.name for each in listing)
    for name in names:
        try:
            about = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            continue
        path = f"{prefix}/{name}" if prefix else name
        if len(found) >= most:
            raise TooMuch(f"There are more than {most} entries.", remedy="List a smaller folder.")
        kind = _kind(about.st_mode)
        found.append(Entry(path, kind, about.st_size if kind == "file" else 0))
        if kind == "folder" and depth > 1:
            with contextlib.suppress(OSError):
                _descend(folder, name, path, depth, most, found)


def _descend(folder: int, name: str, path: str, depth: int, most: int, found: list[Entry]) -> None:
    inner = os.open(name, _FOLDER, dir_fd=folder)
    try:
        _list(inner, path, depth - 1, most, found)
    finally:
        os.close(inner)


def _kind(mode: int) -> str:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "other"


def _refused(message: str) -> PermissionDenied:
    return PermissionDenied(message, remedy="Use a path below the workspace, such as notes/a.txt.")


def _explained(error: OSError, path: str) -> OmniError:
    shown = f"“{path[:200]}”"
    if error.errno == errno.ENOENT:
        return NotFound(f"There is no file {shown}.")
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return _refused(f"{shown} goes through a link or through something that is no folder.")
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return TooMuch(f"{shown} does not fit: {os.strerror(error.errno)}.")
    reason = os.strerror(error.errno or 0)
    return OmniError(f"{shown} cannot be used: {reason}.", category=ErrorCategory.INVALID)
