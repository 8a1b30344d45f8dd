"""Refuses what is malformed or too large before it is stored: Django keeps a whole body first."""

from __future__ import annotations

import re

import structlog

from omni.contracts.errors import ErrorCategory, InvalidInput, OmniError
from omni.edge.wire import App, Message, Receive, Scope, Send, header, is_malformed, send_problem

log = structlog.get_logger("omni.edge")
_UPLOAD = re.compile(r"(?:/api)?/runs/[0-9a-f-]{36}/artifacts")
# What a form adds around the file it carries.
_WRAPPING = 64 * 1024


class BodyLimit:
    """ASGI middleware; other protocols than HTTP and the response pass untouched."""

    def __init__(self, app: App, *, limit: int, uploads: int = 0) -> None:
        self.app = app
        self.limit = limit
        # Files of runs are larger than other bodies; Django keeps them on the disk as they come.
        self.uploads = max(limit, uploads + _WRAPPING if uploads else 0)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit = self.uploads if _is_upload(scope) else self.limit
        refusal = self._refusal(scope, limit)
        if refusal is not None:
            # The unread rest of the body would be taken for the next request.
            await _refuse(scope, send, refusal)
            return
        meter = _Meter(receive, send, limit)
        await self.app(scope, meter.receive, meter.send)
        if meter.is_over and not meter.has_answered:
            await _refuse(scope, send, too_large(limit))

    def _refusal(self, scope: Scope, limit: int) -> OmniError | None:
        # Django answers an undecodable query with an empty page and a traceback.
        if is_malformed(scope.get("query_string", b"")) or is_malformed(_raw_path(scope)):
            return InvalidInput("The address of the request is not valid UTF-8 text.")
        length = header(scope, b"content-length")
        if not length:
            return None
        if not length.isdigit():
            return InvalidInput("The Content-Length header is not a number.")
        # Python refuses to read absurdly long numbers; they are too large in any case.
        is_over = len(length) > 18 or int(length) > limit
        return too_large(limit) if is_over else None


def _is_upload(scope: Scope) -> bool:
    """A file for a run, from somebody who at least brings a credential."""
    named = header(scope, b"authorization") or header(scope, b"cookie")
    return bool(
        scope["method"] == "POST" and named and _UPLOAD.fullmatch(str(scope.get("path", "")))
    )


class _Meter:
    """Counts what arrives, whatever Content-Length promised or chunked encoding left open."""

    def __init__(self, receive: Receive, send: Send, limit: int) -> None:
        self._receive, self._send = receive, send
        self._left = limit
        self.has_answered = False

    @property
    def is_over(self) -> bool:
        return self._left < 0

    async def receive(self) -> Message:
        # To the application the caller hangs up: it frees what it had stored and answers nothing.
        if self.is_over:
            return {"type": "http.disconnect"}
        message = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
        return {"type": "http.disconnect"} if self.is_over else message

    async def send(self, message: Message) -> None:
        self.has_answered = True
        await self._send(message)


def too_large(limit: int) -> OmniError:
    return OmniError(
        f"The request is larger than {limit} bytes.",
        category=ErrorCategory.TOO_LARGE,
        remedy="Send less at once; the operator sets the limit with OMNI_MAX_REQUEST_BYTES.",
    )


async def _refuse(scope: Scope, send: Send, error: OmniError) -> None:
    log.warning("request_refused", status=error.status, method=scope["method"], reason=str(error))
    await send_problem(scope, send, error, close=True)


def _raw_path(scope: Scope) -> bytes:
    raw = scope.get("raw_path")
    return raw if isinstance(raw, bytes) else str(scope["path"]).encode()
