"""Database reads off the event loop; a stream that waits holds neither thread nor connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from asgiref.sync import SyncToAsync, sync_to_async
from django.db import close_old_connections, connections

P = ParamSpec("P")
T = TypeVar("T")

# Few: all streams of a process share them, and each call is a handful of short queries.
_pool = ThreadPoolExecutor(max_workers=4, thread_name_prefix="omni-live")


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function that asks the database."""

    def call() -> T:
        close_old_connections()
        try:
            return function(*args, **kwargs)
        finally:
            close_old_connections()

    return await asyncio.get_running_loop().run_in_executor(_pool, call)


async def release_request_thread() -> None:
    """Give back the thread and the connection in which the request passed the middleware.

    Django keeps both until the response is closed, which for a stream may be hours away; a pool of
    connections would be empty after as many streams.
    """
    await sync_to_async(connections.close_all)()
    context = SyncToAsync.thread_sensitive_context.get(None)
    if context is None:
        return
    executor = SyncToAsync.context_to_thread_executor.pop(context, None)
    if executor is not None:
        executor.shutdown(wait=False)
