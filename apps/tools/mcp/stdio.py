"""A server that is a program: started in the sandbox, spoken to over its pipes, never outside."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from apps.tools.executors.base import ToolError
from apps.tools.mcp.failures import TooMuch, Witness
from apps.tools.mcp.target import Bounds, Target
from apps.tools.mcp.text import plain
from omni import config
from omni.sandbox.session import Process
from omni.sandbox.shapes import Job, Limits, Refused, Result

MEMORY_BYTES = 2 * 1024 * 1024 * 1024
PROCESSES = 128
# The session's own limit comes first; the sandbox's ends what it left behind.
GRACE_SECONDS = 10.0
# A program that closed its output ends at once; how it did is worth waiting for.
LAST_WORDS_SECONDS = 10.0


def start(target: Target, bounds: Bounds) -> Process:
    """The program in the sandbox, or ToolError where it would not be isolated."""
    programs = config.current().mcp_programs
    job = Job(
        target.command,
        env=target.environment,
        egress=target.egress,
        allow_private=target.allow_private,
        limits=Limits(
            wall_seconds=bounds.seconds + GRACE_SECONDS,
            cpu_seconds=bounds.seconds,
            memory_bytes=MEMORY_BYTES,
            processes=PROCESSES,
            output_bytes=bounds.message_bytes,
        ),
        workspace=Path(programs) if programs else None,
    )
    try:
        return Process(job)
    except Refused as error:
        message = f"The sandbox refused the MCP server {target.name}: {plain(str(error))}"
        raise ToolError("sandbox_refused", message) from None


@asynccontextmanager
async def sandboxed(
    target: Target, bounds: Bounds, witness: Witness
) -> AsyncIterator[tuple[Any, Any]]:
    """Streams of messages over the pipes of a program."""
    process = await anyio.to_thread.run_sync(start, target, bounds)
    try:
        async with _piped(process, bounds, witness) as streams:
            yield streams
    except BaseException:
        if witness.closed and witness.error is None:
            with anyio.CancelScope(shield=True):
                result = await asyncio.to_thread(process.wait, LAST_WORDS_SECONDS)
            witness.error = _ended(target.name, result) if result else None
        raise
    finally:
        with anyio.CancelScope(shield=True):
            await asyncio.to_thread(process.close)


def _ended(server: str, result: Result) -> ToolError:
    """How a program ended that should have stayed; its last words say why."""
    words = plain(result.stderr.decode(errors="replace")[-500:])
    data = {"server": server, "status": result.status, "exit_code": result.exit_code}
    if result.status == "refused":
        message = f"The sandbox refused the MCP server {server}: {words}"
        return ToolError("sandbox_refused", message, data=data)
    if result.status == "timeout":
        return ToolError("timeout", f"The MCP server {server} ran too long.", data=data)
    if result.status.endswith("_limit"):
        limit = result.status.replace("_", " ")
        return ToolError("limit_exceeded", f"The MCP server {server} hit its {limit}.", data=data)
    said = f": {words}" if words else "."
    message = f"The MCP server {server} ended with exit code {result.exit_code}{said}"
    return ToolError("unavailable", message, data=data)


@asynccontextmanager
async def _piped(
    process: Process, bounds: Bounds, witness: Witness
) -> AsyncIterator[tuple[Any, Any]]:
    from mcp.shared.message import SessionMessage

    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=bounds.message_bytes)
    incoming, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), process.stdout
    )
    outgoing, flow = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, process.stdin)
    writer = asyncio.StreamWriter(outgoing, flow, None, loop)
    to_session, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_server, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_read, reader, to_session, witness)
        tasks.start_soon(_write, writer, from_session)
        try:
            yield from_server, to_server
        finally:
            incoming.close()
            if not outgoing.is_closing():
                outgoing.abort()
            tasks.cancel_scope.cancel()
            for each in (to_session, from_server, to_server, from_session):
                each.close()


async def _read(reader: asyncio.StreamReader, to_session: Any, witness: Witness) -> None:
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    async with to_session:
        while True:
            try:
                line = await reader.readline()
            except ValueError:
                witness.error = TooMuch("one line is longer than the limit.")
                return
            if not line:
                witness.closed = True
                return
            if not line.strip():
                continue
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError as error:
                await to_session.send(error)
            else:
                await to_session.send(SessionMessage(message))


async def _write(writer: asyncio.StreamWriter, from_session: Any) -> None:
    async with from_session:
        async for each in from_session:
            text = each.message.model_dump_json(by_alias=True, exclude_unset=True)
            writer.write(text.encode() + b"\n")
            await writer.drain()
