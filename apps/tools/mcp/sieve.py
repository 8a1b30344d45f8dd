"""Looks at every message of a server before the SDK does: one bad entry must not hide the rest."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from mcp.shared.message import SessionMessage
from mcp_types import methods
from mcp_types.jsonrpc import (
    INTERNAL_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCRequest,
    JSONRPCResponse,
)
from pydantic import ValidationError

from apps.tools.mcp.failures import Broken, TooMuch, Witness
from apps.tools.mcp.target import Bounds
from apps.tools.mcp.text import plain
from omni.contracts.bounds import check_bounds
from omni.contracts.errors import ErrorCategory, OmniError

LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
# For messages from before both sides have agreed on a version.
BASE_VERSION = "2025-11-25"


@dataclass(slots=True)
class Sieve:
    """Holds back what is malformed, and keeps the listed entries as the server wrote them."""

    bounds: Bounds
    witness: Witness
    version: str = BASE_VERSION
    listed: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    _asked: dict[Any, str] = field(default_factory=dict)

    @asynccontextmanager
    async def around(
        self, transport: AbstractAsyncContextManager[tuple[Any, Any]]
    ) -> AsyncIterator[tuple[Any, Any]]:
        async with transport as (incoming, outgoing):
            yield _Incoming(incoming, self), _Outgoing(outgoing, self)

    def sent(self, message: Any) -> None:
        if isinstance(message, JSONRPCRequest):
            self._asked[message.id] = message.method
            self.witness.sent = message.method == "tools/call"

    def received(self, message: Any) -> Any:
        """The message, or in its place an error that ends the request it answers."""
        if not isinstance(message, JSONRPCResponse):
            return message
        method = self._asked.pop(message.id, "")
        self.witness.sent = False
        if method in LISTS:
            self._sift(method, message.result)
        try:
            check_bounds(message.result, max_bytes=self.bounds.message_bytes)
        except OmniError as error:
            return self._refused(message, error)
        return message

    def _refused(self, message: JSONRPCResponse, error: OmniError) -> JSONRPCError:
        too_large = error.category == ErrorCategory.TOO_LARGE
        self.witness.error = (TooMuch if too_large else Broken)(error.message)
        data = ErrorData(code=INTERNAL_ERROR, message="The answer was refused.")
        return JSONRPCError(jsonrpc="2.0", id=message.id, error=data)

    def _sift(self, method: str, result: dict[str, Any]) -> None:
        key = LISTS[method]
        entries = result.get(key)
        if not isinstance(entries, list):
            return
        kept = self.listed.setdefault(method, [])
        good = [each for each in entries if self._is_sound(method, key, result, each)]
        kept += good
        result[key] = good

    def _is_sound(self, method: str, key: str, result: dict[str, Any], entry: Any) -> bool:
        name = entry.get("name") if isinstance(entry, dict) else None
        what = plain(name, 100) if isinstance(name, str) else "an entry without a name"
        try:
            check_bounds(entry, max_bytes=self.bounds.message_bytes)
            methods.validate_server_result(method, self.version, {**result, key: [entry]})
        except KeyError:
            return True
        except OmniError as error:
            self.faults.append(f"{key}: {what} is malformed: {plain(error.message, 200)}")
            return False
        except ValidationError as error:
            if self._empty_is_bad(method, key, result):
                return True  # not this entry but the page is wrong; the SDK says so
            said = plain(error.errors(include_url=False, include_input=False)[0]["msg"], 200)
            self.faults.append(f"{key}: {what} is malformed: {said}")
            return False
        return True

    def _empty_is_bad(self, method: str, key: str, result: dict[str, Any]) -> bool:
        try:
            methods.validate_server_result(method, self.version, {**result, key: []})
        except ValidationError:
            return True
        return False


class _Stream:
    """Passes everything on to the stream it stands for."""

    def __init__(self, inner: Any, sieve: Sieve) -> None:
        self._inner = inner
        self._sieve = sieve

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Any:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._inner.__aexit__(*error)

    @property
    def last_context(self) -> Any:
        return getattr(self._inner, "last_context", None)


class _Incoming(_Stream):
    async def receive(self) -> Any:
        return self._looked_at(await self._inner.receive())

    def __aiter__(self) -> Any:
        return self

    async def __anext__(self) -> Any:
        return self._looked_at(await self._inner.__anext__())

    def _looked_at(self, item: Any) -> Any:
        if isinstance(item, Exception):
            self._sieve.witness.noise = True
            return item
        return SessionMessage(self._sieve.received(item.message), metadata=item.metadata)


class _Outgoing(_Stream):
    async def send(self, item: Any) -> None:
        self._sieve.sent(item.message)
        await self._inner.send(item)
