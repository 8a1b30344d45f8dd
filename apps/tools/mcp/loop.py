"""One background event loop per process, and the hard limit on how long anybody waits for it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import structlog

from apps.tools.executors.base import ToolError

log = structlog.get_logger(__name__)
T = TypeVar("T")
Answer = Callable[[T], None]

TICK = 0.05
# How long a session that nobody waits for any more may take to close.
CLOSING_SECONDS = 15.0
# So many sessions that do not close mean a server that harms this process; no more are opened.
MAX_LINGERING = 64

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_open: set[asyncio.Task[Any] | None] = set()


def work(
    do: Callable[[Answer[T]], Awaitable[None]],
    *,
    seconds: float,
    cancelled: Callable[[], bool] = lambda: False,
) -> T:
    """Run `do` in the loop until it answers; what it does afterwards, nobody waits for.

    Raises TimeoutError at the limit, whatever `do` is doing then; it is cancelled and left to the
    loop. `do` may go on after its answer, to close a session in peace.
    """
    loop = _running()
    if len(_open) >= MAX_LINGERING:
        raise ToolError("unavailable", "Too many sessions with MCP servers do not close.")
    answer: concurrent.futures.Future[T] = concurrent.futures.Future()
    task = asyncio.run_coroutine_threadsafe(_attend(do, answer, seconds), loop)
    until = time.monotonic() + seconds
    while True:
        try:
            return answer.result(timeout=TICK)
        except concurrent.futures.TimeoutError:
            if answer.done():
                raise
        if cancelled():
            task.cancel()
            raise ToolError("cancelled", "The call was cancelled.")
        if time.monotonic() > until:
            task.cancel()
            raise TimeoutError


async def _attend(
    do: Callable[[Answer[T]], Awaitable[None]],
    answer: concurrent.futures.Future[T],
    seconds: float,
) -> None:
    task = asyncio.current_task()
    _open.add(task)
    try:
        async with asyncio.timeout(seconds + CLOSING_SECONDS):
            await do(lambda value: None if answer.done() else answer.set_result(value))
        if not answer.done():
            answer.set_exception(RuntimeError("The session ended without an answer."))
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001  (groups of anything; `failures` sorts them)
        if answer.done():
            log.info("mcp_session_closed_badly", error=type(error).__name__)
        else:
            answer.set_exception(error)
    finally:
        _open.discard(task)


def _running() -> asyncio.AbstractEventLoop:
    global _loop
    with _lock:
        if _loop is None or _loop.is_closed():
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="mcp", daemon=True).start()
        return _loop


def _forget() -> None:
    """A forked child has the loop's memory and not its thread; it makes one of its own."""
    global _loop, _lock
    _loop, _lock = None, threading.Lock()
    _open.clear()


os.register_at_fork(after_in_child=_forget)
