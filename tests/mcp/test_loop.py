"""Nobody waits longer for a session than they said, whatever the session does."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from apps.tools.executors.base import ToolError
from apps.tools.mcp import loop

pytestmark = pytest.mark.req("MCP-5")
# Far more than a slow machine needs; without the limit these would wait for ever.
DEADLINE = 60


@pytest.fixture
def stop() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def apart() -> Iterator[Callable[..., Future[Any]]]:
    with ThreadPoolExecutor() as pool:
        yield pool.submit


async def stubborn(stop: threading.Event) -> None:
    """Goes on although it is cancelled, as a hanging close does."""
    while not stop.is_set():
        try:
            await asyncio.sleep(0.05)
        except asyncio.CancelledError:
            continue


def test_a_session_that_cannot_be_cancelled_is_left_behind(
    stop: threading.Event, apart: Callable[..., Future[Any]]
) -> None:
    waiting = apart(lambda: loop.work(lambda answer: stubborn(stop), seconds=0.2))
    try:
        assert isinstance(waiting.exception(timeout=DEADLINE), TimeoutError)
    finally:
        stop.set()


def test_an_answer_does_not_wait_for_the_session_to_close(
    stop: threading.Event, apart: Callable[..., Future[Any]]
) -> None:
    async def answer_then_hang(answer: Callable[[str], None]) -> None:
        answer("here")
        await stubborn(stop)

    waiting = apart(lambda: loop.work(answer_then_hang, seconds=3600))
    try:
        assert waiting.result(timeout=DEADLINE) == "here"
    finally:
        stop.set()


def test_sessions_that_do_not_close_stop_new_ones(
    stop: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer_then_hang(answer: Callable[[str], None]) -> None:
        answer("here")
        await stubborn(stop)

    monkeypatch.setattr(loop, "MAX_LINGERING", len(loop._open) + 1)
    loop.work(answer_then_hang, seconds=3600)
    with pytest.raises(ToolError) as caught:
        loop.work(answer_then_hang, seconds=3600)
    assert caught.value.kind == "unavailable"
