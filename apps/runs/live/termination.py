"""Hears that the web process is asked to end, while the web server still waits for its streams."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable
from types import FrameType

_watched: set[Callable[[], None]] = set()


def on_termination(callback: Callable[[], None]) -> None:
    """Have `callback` run in this event loop at SIGTERM or SIGINT, beside the server's reaction.

    The server closes a connection only once it is idle, which a stream never is by itself.
    """
    if callback in _watched or threading.current_thread() is not threading.main_thread():
        return
    _watched.add(callback)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        _chain(number, loop, callback)


def _chain(
    number: signal.Signals, loop: asyncio.AbstractEventLoop, callback: Callable[[], None]
) -> None:
    before = signal.getsignal(number)
    if not callable(before):
        return

    def react(signum: int, frame: FrameType | None) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(callback)
        before(signum, frame)

    signal.signal(number, react)
