"""What a change would look like, for the person who is asked about it."""

from __future__ import annotations

import dataclasses

from apps.tools.executors.base import Call
from apps.tools.executors.inproc_safe import InprocSafe
from apps.tools.invoke.record import diff_of
from omni.contracts.errors import OmniError

MAX_PREVIEW = 8000


def preview_of(call: Call) -> str:
    """The diff that a built-in would make; nothing is changed, and other tools are not run."""
    manifest = call.manifest
    if manifest["executor"]["kind"] != InprocSafe.kind or not manifest.get("simulates", False):
        return ""
    try:
        outcome = InprocSafe().execute(dataclasses.replace(call, dry_run=True))
    except OmniError:
        return ""
    text = "\n".join(filter(None, (diff_of(each) for each in outcome.changes)))
    return text if len(text) <= MAX_PREVIEW else f"{text[:MAX_PREVIEW]}\n…"
