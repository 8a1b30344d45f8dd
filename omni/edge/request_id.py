"""The id that ties a response, its problem document and its log lines together."""

from __future__ import annotations

import re
import uuid

HEADER = "X-Request-ID"
# What callers send ends up in logs and pages, so only plain ids of sensible length are kept.
_SANE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{7,63}")


def choose(incoming: str) -> str:
    """The caller's id if it is a sane one, else a new one."""
    return incoming if _SANE.fullmatch(incoming) else uuid.uuid4().hex
