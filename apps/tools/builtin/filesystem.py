"""Files of the run's workspace: read, listed, written and put back."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from apps.tools.executors.base import Call, FileChange, Outcome, ToolError
from omni.sandbox.workspace import Workspace

MAX_READ = 1 << 20
MAX_WRITE = 1 << 20
MOST_ENTRIES = 1000


def read_file(call: Call) -> Outcome:
    data = Workspace(call.workspace).read(call.arguments["path"], max_bytes=MAX_READ)
    output: dict[str, Any] = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    try:
        text = data.decode()
        if "\x00" in text:
            raise ValueError
        output |= {"encoding": "utf-8", "text": text}
    except ValueError:
        output |= {"encoding": "base64", "text": base64.b64encode(data).decode()}
    return Outcome(output)


def list_files(call: Call) -> Outcome:
    depth = int(call.arguments.get("depth", 1))
    found = Workspace(call.workspace).entries(
        call.arguments.get("path", ""), depth=depth, most=MOST_ENTRIES
    )
    entries = [{"path": each.path, "kind": each.kind, "size": each.size} for each in found]
    return Outcome({"entries": entries})


def write_file(call: Call) -> Outcome:
    """Replaces a file, or adds to it; a wrong `expect` means that somebody else was faster."""
    path, files = call.arguments["path"], Workspace(call.workspace)
    before = files.find(path, max_bytes=MAX_WRITE)
    _check_expected(call, path, before)
    given = call.arguments["text"].encode()
    after = (before or b"") + given if call.arguments.get("append") else given
    if len(after) > MAX_WRITE:
        raise ToolError("limit_exceeded", f"A file has at most {MAX_WRITE} bytes.")
    if not call.dry_run:
        files.write(path, after)
    output = {
        "path": path,
        "size": len(after),
        "sha256": _hash(after),
        "created": before is None,
        "changed": before != after,
    }
    changes = (FileChange.of(path, before, after),) if before != after else ()
    return Outcome(output, changes=changes)


def restore_file(call: Call) -> Outcome:
    """Puts a file back as an artifact has it, if nothing else has changed it meanwhile."""
    path, files = call.arguments["path"], Workspace(call.workspace)
    before = files.find(path, max_bytes=MAX_WRITE)
    _check_expected(call, path, before)
    wanted = call.arguments["content"]
    after = call.run.get_artifact(wanted, max_bytes=MAX_WRITE) if wanted else None
    if not call.dry_run and before != after:
        if after is None:
            files.remove(path)
        else:
            files.write(path, after)
    changes = (FileChange.of(path, before, after),) if before != after else ()
    return Outcome({"path": path, "changed": before != after}, changes=changes)


def read_artifact(call: Call) -> Outcome:
    offset, length = int(call.arguments.get("offset", 0)), int(call.arguments.get("length", 65536))
    data = call.run.get_artifact(call.arguments["sha256"], max_bytes=32 << 20)
    piece = data[offset : offset + length]
    try:
        text = piece.decode()
        if "\x00" in text:
            raise ValueError
        shown = {"encoding": "utf-8", "text": text}
    except ValueError:
        shown = {"encoding": "base64", "text": base64.b64encode(piece).decode()}
    return Outcome({"size": len(data), "offset": offset, **shown})


def _check_expected(call: Call, path: str, before: bytes | None) -> None:
    if "expect" not in call.arguments:
        return
    expected = call.arguments["expect"]
    found = _hash(before) if before is not None else None
    if expected != found:
        raise ToolError(
            "tool_failed",
            f"“{path}” is not as expected: somebody else has changed it.",
            remedy="Read it again, then decide.",
            data={"expected": expected, "found": found},
        )


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
