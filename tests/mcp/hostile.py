"""Servers that lie, stall, flood and change their minds; each way is an address of its own."""

from __future__ import annotations

import asyncio
import copy
import json
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

OBJECT = {"type": "object", "properties": {}}
GOOD = {"name": "good", "description": "Works.", "inputSchema": OBJECT}
DRAFT_07 = {
    "name": "old",
    "description": "An old dialect.",
    "inputSchema": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "definitions": {"point": {"type": "array", "items": [{"type": "number"}]}},
        "properties": {"at": {"$ref": "#/definitions/point", "description": "ignored"}},
        "dependencies": {"at": ["at"]},
    },
}
LISTS: dict[str, list[Any]] = {
    "malformed": [GOOD, {"name": 5}, "text", {"name": "bare"}, {**GOOD, "inputSchema": []}],
    "duplicate": [GOOD, {**GOOD, "description": "Another."}, {**GOOD, "name": "single"}],
    "bidi": [GOOD, {**GOOD, "name": "turned", "description": "Reads \u202esdrawkcab"}],
    "dialects": [GOOD, DRAFT_07],
    "schemas": [GOOD, {**GOOD, "name": "far", "inputSchema": {"type": "object", "$ref": "http://127.0.0.1/x"}}],
    "many": [{**GOOD, "name": f"tool-{n}"} for n in range(1_200)],
}  # fmt: skip
evolving = [copy.deepcopy(GOOD)]
calls: list[str] = []


async def speak(request: Request) -> Response:
    way = request.path_params["way"]
    if request.method != "POST":
        return Response(status_code=405)
    sent = json.loads(await request.body())
    method, known = sent.get("method", ""), way_before(way)
    if known is not None:
        return await known(request)
    if "id" not in sent:
        return Response(status_code=202)
    if method == "initialize":
        return answer(sent, {
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": way, "version": "0"},
        })  # fmt: skip
    if method == "tools/list":
        return await listed(way, sent)
    if method == "tools/call":
        calls.append(way)
        return await called(way, sent)
    error = {"code": -32601, "message": "Method not found"}
    return reply({"jsonrpc": "2.0", "id": sent["id"], "error": error})


def way_before(way: str) -> Any:
    return {
        "garbage": garbage, "mute": mute, "html": html, "refused": refused, "busy": busy,
        "trickle": trickle, "elsewhere": elsewhere, "broken": broken,
    }.get(way)  # fmt: skip


async def garbage(_: Request) -> Response:
    return Response(b"\xff{]]", media_type="application/json")


async def html(_: Request) -> Response:
    return Response("<h1>It works!</h1>", media_type="text/html")


async def mute(_: Request) -> Response:
    await asyncio.sleep(3600)
    return Response()


async def trickle(_: Request) -> Response:
    async def drops() -> Any:
        while True:
            yield b" "
            await asyncio.sleep(0.05)

    return StreamingResponse(drops(), media_type="application/json")


async def refused(_: Request) -> Response:
    return Response(status_code=401)


async def busy(_: Request) -> Response:
    return Response(status_code=429)


async def broken(_: Request) -> Response:
    return Response(status_code=500)


async def elsewhere(_: Request) -> Response:
    return Response(status_code=307, headers={"Location": "http://127.0.0.2:9/latest/meta-data"})


async def listed(way: str, sent: dict[str, Any]) -> Response:
    if way == "nan":
        return answer(sent, {"tools": [], "x": float("nan")})
    if way == "endless":
        cursor = str(int((sent.get("params") or {}).get("cursor") or 0) + 1)
        tool = {**GOOD, "name": f"tool-{cursor}"}
        return answer(sent, {"tools": [tool], "nextCursor": cursor})
    if way == "giant":
        return answer(sent, {"tools": [{**GOOD, "description": "x" * 12_000_000}]})
    if way == "large":
        return answer(
            sent, {"tools": [GOOD, {**GOOD, "name": "big", "description": "x" * 300_000}]}
        )
    if way == "deep":
        nest: Any = {}
        for _ in range(90):
            nest = {"not": nest}
        return answer(sent, {"tools": [{**GOOD, "inputSchema": {"type": "object", **nest}}]})
    if way == "evolving":
        return answer(sent, {"tools": evolving})
    return answer(sent, {"tools": LISTS.get(way, [GOOD])})


async def called(way: str, sent: dict[str, Any]) -> Response:
    if way == "stalls":
        await asyncio.sleep(3600)
    if way == "vanishes":
        raise ConnectionResetError
    if way == "infinite":
        result = {"content": [], "structuredContent": {"n": float("-inf")}}
        return answer(sent, result)
    if way == "wordy":
        return answer(sent, {"content": [{"type": "text", "text": "x" * 12_000_000}]})
    if way == "confused":
        return answer(sent, {"content": "not a list"})
    return answer(sent, {"content": [{"type": "text", "text": "worked"}]})


async def evolve(request: Request) -> Response:
    """Replaces the definitions of `evolving`; answers how often it was called."""
    evolving[:] = json.loads(await request.body())
    return Response(str(calls.count("evolving")))


def answer(sent: dict[str, Any], result: dict[str, Any]) -> Response:
    return reply({"jsonrpc": "2.0", "id": sent["id"], "result": result})


def reply(message: dict[str, Any]) -> Response:
    return Response(json.dumps(message), media_type="application/json")


routes: list[BaseRoute] = [
    Route("/hostile/{way}", speak, methods=["GET", "POST", "DELETE"]),
    Route("/evolve", evolve, methods=["PUT"]),
]
