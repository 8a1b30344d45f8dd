"""Pages of the web, through the client that reaches only what was approved."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from apps.tools.executors.base import Call, Outcome, ProducedFile, ToolError
from omni.sandbox.egress.addresses import opened_places
from omni.sandbox.egress.client import FetchLimits, Request, fetch
from omni.sandbox.egress.errors import EgressError

# More than this belongs into an artifact, which the answer then names.
MAX_INLINE = 32 * 1024


def get(call: Call) -> Outcome:
    limits = call.manifest["limits"]
    try:
        answer = fetch(
            Request("GET", call.arguments["url"], headers=call.arguments.get("headers", {})),
            hosts=frozenset(call.hosts),
            limits=FetchLimits(
                seconds=limits["wall_seconds"], body_bytes=limits.get("output_bytes", 10 << 20)
            ),
            cancelled=call.run.cancelled,
            allow_private=opened_places(),
        )
    except EgressError as error:
        raise ToolError(error.tool_error, str(error), data=error.data) from None
    output: dict[str, Any] = {
        "status": answer.status,
        "url": answer.url,
        "media_type": answer.media_type or "application/octet-stream",
        "size": len(answer.body),
        "sha256": hashlib.sha256(answer.body).hexdigest(),
    }
    if len(answer.body) > MAX_INLINE:
        file = ProducedFile("page", answer.body, media_type=output["media_type"])
        return Outcome(output, files=(file,))
    return Outcome(output | _text(answer.body))


def _text(body: bytes) -> dict[str, str]:
    try:
        text = body.decode()
        if "\x00" not in text:
            return {"encoding": "utf-8", "text": text}
    except UnicodeDecodeError:
        pass
    return {"encoding": "base64", "text": base64.b64encode(body).decode()}
