"""Pages of the web, through the client that reaches only what was approved."""

from __future__ import annotations

from apps.tools.executors.base import Call, Outcome

MAX_INLINE = 48 * 1024


def get(call: Call) -> Outcome:
    raise NotImplementedError
