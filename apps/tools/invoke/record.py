"""What a call made and changed, as artifacts of its run: files, old and new contents, diffs."""

from __future__ import annotations

import difflib
from typing import Any

from apps.tools.executors.base import FileChange, ProducedFile
from omni.contracts.ports import RunContext

MAX_DIFF = 256 * 1024


def store_files(files: tuple[ProducedFile, ...], run: RunContext) -> tuple[dict[str, Any], ...]:
    return tuple(_stored(each.data, each.media_type, each.name, run) for each in files)


def changes_of(
    changes: tuple[FileChange, ...], call_id: str, run: RunContext
) -> tuple[dict[str, Any], ...]:
    """Payloads of `workspace_changed`: enough to show each change and to undo it."""
    return tuple(_change(each, call_id, run) for each in changes)


def _change(change: FileChange, call_id: str, run: RunContext) -> dict[str, Any]:
    made: dict[str, Any] = {"call_id": call_id, "path": change.path, "change": _kind(change)}
    made["before"] = _kept(change.before, change.path, run)
    made["after"] = _kept(change.after, change.path, run)
    diff = diff_of(change)
    if diff:
        made["diff"] = _stored(diff.encode(), "text/x-diff", f"{_last(change.path)}.diff", run)
    return made


def diff_of(change: FileChange) -> str:
    """A unified diff; empty for what is no text or too much of it."""
    try:
        before = (change.before or b"").decode().splitlines(keepends=True)
        after = (change.after or b"").decode().splitlines(keepends=True)
    except UnicodeDecodeError:
        return ""
    old = f"a/{change.path}" if change.before is not None else "/dev/null"
    new = f"b/{change.path}" if change.after is not None else "/dev/null"
    text = "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in difflib.unified_diff(before, after, old, new)
    )
    return text if len(text) <= MAX_DIFF else ""


def _kind(change: FileChange) -> str:
    if change.before is None:
        return "created"
    return "deleted" if change.after is None else "modified"


def _kept(data: bytes | None, path: str, run: RunContext) -> str | None:
    if data is None:
        return None
    return run.put_artifact(data, media_type="application/octet-stream", name=_last(path))


def _stored(data: bytes, media_type: str, name: str, run: RunContext) -> dict[str, Any]:
    sha256 = run.put_artifact(data, media_type=media_type, name=_last(name))
    return {"sha256": sha256, "size": len(data), "media_type": media_type, "name": _last(name)}


def _last(path: str) -> str:
    return path.rpartition("/")[2][-200:] or "file"
