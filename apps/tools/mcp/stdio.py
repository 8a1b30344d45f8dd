"""A server that is a program: started in the sandbox, spoken to over its pipes, never outside."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import IO, Any, Protocol

import anyio
import anyio.to_thread

from apps.tools.executors.base import ToolError
from apps.tools.mcp.failures import TooMuch
from apps.tools.mcp.target import Bounds, Target
from apps.tools.mcp.text import plain

MEMORY_BYTES = 2 * 1024 * 1024 * 1024
PROCESSES = 64
READ_BYTES = 64 * 1024


class Process(Protocol):
    """A program in the sandbox that lives until it is closed."""

    @property
    def stdin(self) -> IO[bytes]: ...

    @property
    def stdout(self) -> IO[bytes]: ...

    def close(self) -> None:
        """End it with everything it started; safe to repeat, and from any thread."""
        ...


class OpenSession(Protocol):
    """`omni.sandbox.session.open_session`: starts a program, or raises when it cannot isolate."""

    def __call__(
        self,
        command: tuple[str, ...],
        env: Mapping[str, str],
        egress: tuple[str, ...],
        limits: Mapping[str, float],
    ) -> Process: ...


def sandbox() -> OpenSession:
    """The sandbox's way to start a program; refuses where there is none."""
    try:
        found = importlib.import_module("omni.sandbox.session").open_session
    except (ImportError, AttributeError):
        raise ToolError(
            "sandbox_refused",
            "This installation cannot run MCP servers as programs in its sandbox.",
            remedy="Reach the server over HTTP instead.",
        ) from None
    start: OpenSession = found
    return start


@asynccontextmanager
async def sandboxed(
    target: Target, bounds: Bounds, start: OpenSession | None = None
) -> AsyncIterator[tuple[Any, Any]]:
    """Streams of messages over the pipes of a program."""
    begin = start or sandbox()
    limits = {
        "wall_seconds": bounds.seconds, "memory_bytes": MEMORY_BYTES, "processes": PROCESSES,
    }  # fmt: skip
    try:
        process = await anyio.to_thread.run_sync(
            lambda: begin(target.command, target.environment, target.egress, limits)
        )
    except ToolError:
        raise
    except Exception as error:  # noqa: BLE001  (whatever stopped it, it does not run unprotected)
        raise ToolError(
            "sandbox_refused", f"The sandbox refused the server: {plain(str(error))}"
        ) from None
    try:
        async with _piped(process, bounds) as streams:
            yield streams
    finally:
        await asyncio.to_thread(process.close)


@asynccontextmanager
async def _piped(process: Process, bounds: Bounds) -> AsyncIterator[tuple[Any, Any]]:
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
        tasks.start_soon(_read, reader, to_session)
        tasks.start_soon(_write, writer, from_session)
        try:
            yield from_server, to_server
        finally:
            incoming.close()
            outgoing.abort()
            tasks.cancel_scope.cancel()
            for each in (to_session, from_server, to_server, from_session):
                each.close()


async def _read(reader: asyncio.StreamReader, to_session: Any) -> None:
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    async with to_session:
        while True:
            try:
                line = await reader.readline()
            except ValueError:
                raise TooMuch("one line is longer than the limit.") from None
            if not line:
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
