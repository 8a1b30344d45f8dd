"""What a call made and changed, as artifacts of its run: files, old and new contents, diffs."""

from __future__ import annotations

import difflib
import re
from typing import Any

from apps.tools.executors.base import FileChange, ProducedFile
from omni.contracts.canonical import canonical
from omni.contracts.ports import RunContext
from omni.telemetry.redaction import known

MAX_DIFF = 256 * 1024
MOST_DETAILED = 500
BYTES = "application/octet-stream"
_ODD = re.compile(r"[\x00-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069/\\\\]")


def store_files(files: tuple[ProducedFile, ...], run: RunContext) -> tuple[dict[str, Any], ...]:
    return tuple(_stored(masked(each.data), each.media_type, each.name, run) for each in files)


def changes_of(
    changes: tuple[FileChange, ...], call_id: str, run: RunContext
) -> tuple[dict[str, Any], ...]:
    """Payloads of `workspace_changed`: enough to show each change and to undo it.

    Past so many files the rest is listed in one artifact, by hash alone.
    """
    if len(changes) > MOST_DETAILED:
        rest = [
            {"path": each.path, "before": each.before_sha256, "after": each.after_sha256}
            for each in changes[MOST_DETAILED:]
        ]
        _stored(canonical(rest), "application/json", "workspace-changes.json", run)
    return tuple(_change(each, call_id, run) for each in changes[:MOST_DETAILED])


def masked(data: bytes) -> bytes:
    """Without the secrets that this process knows: what a tool was given must not come back."""
    text = data.decode("utf-8", "surrogateescape")
    clean = known.mask(text)
    return data if clean == text else clean.encode("utf-8", "surrogateescape")


def _change(change: FileChange, call_id: str, run: RunContext) -> dict[str, Any]:
    made: dict[str, Any] = {
        "call_id": call_id,
        "path": change.path,
        "change": _kind(change),
        "before": change.before_sha256,
        "after": change.after_sha256,
    }
    kept = (change.before, change.after)
    if any(each is not None and masked(each) != each for each in kept):
        # It could be put back only with the secret in it, which no artifact may hold.
        return made
    for data in kept:
        if data is not None:
            run.put_artifact(data, media_type=BYTES, name=_last(change.path))
    diff = diff_of(change)
    if diff:
        made["diff"] = _stored(diff.encode(), "text/x-diff", f"{_last(change.path)}.diff", run)
    return made


def diff_of(change: FileChange) -> str:
    """A unified diff; empty for what is no text or too much of it."""
    if (change.before is None) != (change.before_sha256 is None):
        return ""
    if (change.after is None) != (change.after_sha256 is None):
        return ""
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
    if change.before_sha256 is None:
        return "created"
    return "deleted" if change.after_sha256 is None else "modified"


def _stored(data: bytes, media_type: str, name: str, run: RunContext) -> dict[str, Any]:
    sha256 = run.put_artifact(data, media_type=media_type, name=_last(name))
    return {"sha256": sha256, "size": len(data), "media_type": media_type, "name": _last(name)}


def _last(path: str) -> str:
    """A name that artifacts accept."""
    name = _ODD.sub("_", path.rpartition("/")[2])[-200:].strip(". ")
    return name or "file"
