"""Ways to a server: HTTP to checked addresses only, processes in the sandbox only."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, cast

import anyio
import anyio.to_thread
import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from apps.tools.mcp.failures import TooMuch, Witness
from apps.tools.mcp.stdio import sandboxed
from apps.tools.mcp.target import Bounds, Target
from omni.sandbox.egress.addresses import check_host, opened_places, resolve
from omni.sandbox.egress.errors import Unreachable

PORTS = {"http": 80, "https": 443}


def opened(
    target: Target, bounds: Bounds, witness: Witness
) -> AbstractAsyncContextManager[tuple[Any, Any]]:
    """The pair of streams to a server, not yet entered."""
    if target.transport == "stdio":
        return sandboxed(target, bounds, witness)
    if target.transport == "sse":
        return _sse(target, bounds, witness)
    return _streamable(target, bounds, witness)


@asynccontextmanager
async def _streamable(
    target: Target, bounds: Bounds, witness: Witness
) -> AsyncIterator[tuple[Any, Any]]:
    async with (
        _http(target, bounds, witness) as http,
        streamable_http_client(
            target.url, http_client=http, max_sse_event_size=bounds.message_bytes
        ) as streams,
    ):
        yield streams


@asynccontextmanager
async def _sse(target: Target, bounds: Bounds, witness: Witness) -> AsyncIterator[tuple[Any, Any]]:
    def make(
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        return _http(target, bounds, witness)

    async with sse_client(target.url, httpx_client_factory=make) as streams:
        yield streams


def _http(target: Target, bounds: Bounds, witness: Witness) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        transport=CheckedTransport(target.allow_private, bounds, witness),
        headers=dict(target.headers),
        timeout=httpx2.Timeout(bounds.seconds),
        trust_env=False,
        follow_redirects=False,
    )


class CheckedTransport(httpx2.AsyncBaseTransport):
    """Resolves once, checks every address and connects to a checked one; also after redirects."""

    def __init__(self, allow_private: frozenset[str], bounds: Bounds, witness: Witness) -> None:
        self._allow_private = allow_private
        self._bounds = bounds
        self._witness = witness
        self._inner = httpx2.AsyncHTTPTransport(trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = await self._sent(request)
        except Exception as error:
            # Streams for messages that nobody asked for may end as they like.
            if request.method == "POST":
                self._witness.error = error
            raise
        if request.method == "POST" or response.status_code == 401:
            self._witness.error = None
            self._witness.status = response.status_code if response.status_code >= 300 else 0
        return self._bounded(response)

    async def _sent(self, request: httpx2.Request) -> httpx2.Response:
        host = check_host(request.url.host)
        port = request.url.port or PORTS[request.url.scheme]
        allowed = self._allow_private | opened_places()
        addresses = await anyio.to_thread.run_sync(
            lambda: resolve(host, port, allow_private=allowed), abandon_on_cancel=True
        )
        failed: Exception = Unreachable(f"{host} has no address.")
        for address in addresses:
            try:
                return await self._inner.handle_async_request(_to(address.ip, host, request))
            except httpx2.ConnectError as error:
                failed = error
        raise failed

    def _bounded(self, response: httpx2.Response) -> httpx2.Response:
        body = cast(httpx2.AsyncByteStream, response.stream)
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=_Bounded(body, self._bounds.message_bytes, self._witness),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Bounded(httpx2.AsyncByteStream):
    """A body that ends in an error instead of filling the memory."""

    def __init__(self, inner: httpx2.AsyncByteStream, limit: int, witness: Witness) -> None:
        self._inner = inner
        self._limit = limit
        self._witness = witness

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > self._limit:
                self._witness.error = TooMuch(f"more than {self._limit:,} bytes in one answer.")
                raise self._witness.error
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


def _to(ip: str, host: str, request: httpx2.Request) -> httpx2.Request:
    """The same request to one address; certificate and Host header stay those of the name."""
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=ip),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": host},
    )
