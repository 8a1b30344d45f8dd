"""A well-behaved server made with the official SDK, over streamable HTTP and SSE."""

from __future__ import annotations

import asyncio
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Image
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import BaseModel
from starlette.routing import BaseRoute

server = MCPServer("friendly", version="1.2.3", instructions="For tests.")
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c63"
    "60f8cf50030003830180fb5c94a20000000049454e44ae426082"
)


class Sum(BaseModel):
    total: int


@server.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
def add(left: int, right: int) -> Sum:
    """Add two numbers."""
    return Sum(total=left + right)


@server.tool(structured_output=False)
def shout(text: str) -> str:
    """Say it louder."""
    return text.upper()


@server.tool(structured_output=False)
def picture() -> Image:
    """Draw one pixel."""
    return Image(data=PIXEL, format="png")


@server.tool(structured_output=False)
def fail(secret: str = "") -> str:
    """Fail, and say why."""
    raise ToolError(f"no luck with {secret}")


@server.tool(annotations=ToolAnnotations(destructive_hint=True))
async def slow(seconds: float) -> str:
    """Take a while."""
    await asyncio.sleep(seconds)
    return "done"


@server.resource("note://today")
def note() -> str:
    """What is on for today."""
    return "Nothing."


@server.prompt()
def greet(name: str) -> str:
    """Greet somebody."""
    return f"Say hello to {name}."


def routes() -> tuple[list[BaseRoute], Any]:
    """Both transports, and the lifespan that the first one needs."""
    http = server.streamable_http_app()
    return [*http.routes, *server.sse_app().routes], http.router.lifespan_context
