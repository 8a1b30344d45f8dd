"""Sessions with a server: its catalog, and one call of one tool. Everything is bounded."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from apps.tools.executors.base import ToolError
from apps.tools.mcp import loop
from apps.tools.mcp.definitions import Definition, definitions_of, unique
from apps.tools.mcp.failures import Broken, TooMuch, Witness, normalised
from apps.tools.mcp.target import Bounds, Target
from apps.tools.mcp.text import plain

if TYPE_CHECKING:
    from apps.tools.mcp.sieve import Sieve

T = TypeVar("T")
DEFAULT = Bounds()
LOGGERS = ("mcp", "client", "httpx2", "httpcore2")


@dataclass(frozen=True, slots=True)
class Found:
    """What a server says of itself, with what was wrong in it."""

    definitions: tuple[Definition, ...]
    faults: tuple[str, ...]
    protocol: str
    server_name: str
    server_version: str
    latency_ms: int


def discover(target: Target, *, bounds: Bounds = DEFAULT) -> Found:
    """Everything that the server offers; raises ToolError when it cannot be had."""
    began = time.monotonic()

    async def do(session: _Session) -> Found:
        capabilities = session.client.server_capabilities
        tools = await session.entries("tools/list", required=capabilities.tools is not None)
        found = definitions_of("tool", tools)
        if capabilities.resources is not None:
            for method in ("resources/list", "resources/templates/list"):
                found += definitions_of("resource", await session.entries(method))
        if capabilities.prompts is not None:
            found += definitions_of("prompt", await session.entries("prompts/list"))
        kept, faults = unique(found)
        about = session.client.server_info
        return Found(
            definitions=kept,
            faults=(*session.sieve.faults, *faults)[:100],
            protocol=session.client.protocol_version,
            server_name=plain(about.name, 100) if about else "",
            server_version=plain(about.version, 50) if about else "",
            latency_ms=int((time.monotonic() - began) * 1000),
        )

    return _in_session(target, bounds, do)


def call_tool(
    target: Target,
    tool: str,
    arguments: dict[str, Any],
    *,
    definition_sha256: str,
    bounds: Bounds = DEFAULT,
    cancelled: Callable[[], bool] = lambda: False,
) -> dict[str, Any]:
    """The raw result of one call, made only if the tool is still the one that was accepted."""

    async def do(session: _Session) -> dict[str, Any]:
        listed = definitions_of("tool", await session.entries("tools/list"))
        live = [each for each in listed if each.name == tool]
        if len(live) != 1 or live[0].sha256 != definition_sha256:
            raise Changed(target.name, tool, gone=not live)
        return await session.call(tool, arguments)

    return _in_session(target, bounds, do, cancelled)


class Changed(ToolError):
    """The server's definition is no longer the accepted one; the tool was not called."""

    def __init__(self, server: str, tool: str, *, gone: bool) -> None:
        said = "is gone" if gone else "is not the one that was accepted"
        super().__init__(
            "quarantined",
            f"The definition of {plain(tool, 100)} on the MCP server {server} {said}.",
            remedy="Look at the change on the server's page and accept it there.",
            data={"server": server, "tool": plain(tool, 128)},
        )
        self.gone = gone


class _Session:
    """An open session; only the loop touches it."""

    def __init__(self, client: Any, sieve: Sieve, bounds: Bounds) -> None:
        self.client = client
        self.sieve = sieve
        self._bounds = bounds

    async def entries(self, method: str, *, required: bool = True) -> list[dict[str, Any]]:
        """All pages of a list, as the server wrote the entries; a bad entry is left out."""
        from mcp import MCPError
        from mcp_types import METHOD_NOT_FOUND

        cursor, seen = None, set[str]()
        for _ in range(self._bounds.pages):
            try:
                names, cursor = await self._page(method, cursor)
            except MCPError as error:
                if error.code == METHOD_NOT_FOUND and not required:
                    return []
                raise
            listed = self.sieve.listed.setdefault(method, [])
            if method == "tools/list":
                # The SDK drops tools that break rules of the newest revision.
                listed[:] = [each for each in listed if each["name"] in names | seen]
                seen |= names
            if len(listed) > self._bounds.entries:
                raise TooMuch(f"more than {self._bounds.entries} entries.")
            if cursor is None:
                return listed
        raise TooMuch(f"more than {self._bounds.pages} pages.")

    async def _page(self, method: str, cursor: str | None) -> tuple[set[str], str | None]:
        from mcp_types import PaginatedRequestParams

        session, params = self.client.session, PaginatedRequestParams(cursor=cursor)
        if method == "tools/list":
            result = await session.list_tools(params=params)
            names = {tool.name for tool in result.tools}
        elif method == "resources/list":
            result, names = await session.list_resources(params=params), set()
        elif method == "resources/templates/list":
            result, names = await session.list_resource_templates(params=params), set()
        else:
            result, names = await session.list_prompts(params=params), set()
        following = result.next_cursor
        if following is not None and following == cursor:
            raise Broken("its pages never end.")
        return names, following or None

    async def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Past the SDK's check of the output, whose patterns can take for ever; ours follows."""
        from mcp_types import (
            CallToolRequest,
            CallToolRequestParams,
            CallToolResult,
            InputRequiredResult,
        )
        from pydantic import TypeAdapter

        adapter: Any = TypeAdapter(CallToolResult | InputRequiredResult)
        params = CallToolRequestParams(name=tool, arguments=arguments)
        result = await self.client.session.send_request(CallToolRequest(params=params), adapter)
        if isinstance(result, InputRequiredResult):
            raise ToolError(
                "tool_failed",
                "The MCP server asks for more input during the call, which a run cannot give.",
            )
        raw: dict[str, Any] = result.model_dump(by_alias=True, mode="json", exclude_none=True)
        return raw


def _in_session(
    target: Target,
    bounds: Bounds,
    do: Callable[[_Session], Awaitable[T]],
    cancelled: Callable[[], bool] = lambda: False,
) -> T:
    for name in LOGGERS:
        # The SDK writes tracebacks for what `failures` explains, with a server's own text in them.
        logging.getLogger(name).setLevel(logging.CRITICAL)
    witness = Witness()

    async def attend(answer: Callable[[T], None]) -> None:
        from mcp import Client
        from mcp_types import Implementation

        from apps.tools.mcp.sieve import Sieve
        from apps.tools.mcp.transports import opened
        from omni import __version__

        sieve = Sieve(bounds, witness)
        async with Client(
            sieve.around(opened(target, bounds, witness)),
            read_timeout_seconds=bounds.seconds,
            client_info=Implementation(name="omni", version=__version__),
            cache=None,
        ) as client:
            sieve.version = client.protocol_version
            answer(await do(_Session(client, sieve, bounds)))

    try:
        return loop.work(attend, seconds=bounds.seconds, cancelled=cancelled)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        raise normalised(error, server=target.name, witness=witness) from None
