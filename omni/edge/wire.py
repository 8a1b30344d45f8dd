"""Answers at the level of ASGI and raw addresses, before Django sees a request."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any
from urllib.parse import unquote_to_bytes

from omni.contracts.errors import OmniError
from omni.contracts.problem import CONTENT_TYPE, problem_from
from omni.edge import request_id

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Any, Any, Any], Awaitable[None]]
Headers = Iterable[tuple[bytes, bytes]]


def header(scope: Scope, name: bytes) -> bytes:
    return next((value for key, value in scope["headers"] if key == name), b"")


def ensure_id(scope: Scope) -> str:
    """The request's id, written back to its headers so that every later layer uses the same."""
    name = request_id.HEADER.lower().encode()
    chosen = request_id.choose(header(scope, name).decode("latin-1"))
    others = [(key, value) for key, value in scope["headers"] if key != name]
    scope["headers"] = [*others, (name, chosen.encode())]
    return chosen


def is_malformed(raw: bytes) -> bool:
    """Whether an address holds a NUL or bytes that are no UTF-8; the database refuses both."""
    try:
        text = unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        return True
    return "\0" in text


async def send_json(send: Send, status: int, body: bytes, headers: Headers = ()) -> None:
    length = str(len(body)).encode()
    start = [(b"content-length", length), (b"cache-control", b"no-store"), *headers]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": body})


async def send_problem(scope: Scope, send: Send, error: OmniError, *, close: bool = False) -> None:
    name = ensure_id(scope)
    body = json.dumps(problem_from(error, request_id=name)).encode()
    headers = [
        (b"content-type", CONTENT_TYPE.encode()),
        (b"x-content-type-options", b"nosniff"),
        (request_id.HEADER.lower().encode(), name.encode()),
    ]
    if close:
        headers.append((b"connection", b"close"))
    await send_json(send, error.status, body, headers)
