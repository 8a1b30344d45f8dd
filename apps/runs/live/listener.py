"""A process's one subscription to what is appended anywhere; it returns whatever Redis does."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from typing import Any

import structlog
from django.conf import settings
from redis.asyncio import Redis
from redis.exceptions import RedisError

from apps.runs.eventlog.publish import CHANNEL
from apps.runs.live.entries import Entry

log = structlog.get_logger(__name__)
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
QUIET_SECONDS = 5.0


class Listener:
    """Calls `deliver` with what was pushed and `missed` when something may not have been."""

    def __init__(
        self, deliver: Callable[[list[Entry]], Awaitable[None]], missed: Callable[[], None]
    ) -> None:
        self._deliver, self._missed = deliver, missed
        self._pause = FIRST_PAUSE
        self._stopped = False
        self.heard = 0
        self.task = asyncio.create_task(self._run(), name="live-listener")

    def stop(self) -> None:
        """For good, also where the client library swallows a cancellation while it connects."""
        self._stopped = True
        self.task.cancel()

    async def _run(self) -> None:
        while not self._stopped:
            try:
                await self._listen()
            except (RedisError, OSError) as error:
                log.warning("live_push_lost", error=type(error).__name__, again_in=self._pause)
            # Apart from each other, or all web processes come back in the same moment.
            await asyncio.sleep(self._pause * random.uniform(0.5, 1.0))  # noqa: S311
            self._pause = min(self._pause * 2, LONGEST_PAUSE)

    async def _listen(self) -> None:
        client = Redis.from_url(
            settings.REDIS_URL,
            socket_connect_timeout=2,
            socket_keepalive=True,
            health_check_interval=int(QUIET_SECONDS) * 2,
        )
        async with client, client.pubsub(ignore_subscribe_messages=True) as subscription:
            await subscription.subscribe(CHANNEL)
            self._pause = FIRST_PAUSE
            self._missed()
            while not self._stopped:
                message = await subscription.get_message(timeout=QUIET_SECONDS)
                if message is not None and message["type"] == "message":
                    self.heard += 1
                    await self._deliver(_entries(message["data"]))


def _entries(data: bytes) -> list[Entry]:
    """What was pushed; nothing when it cannot be read, for the table has it too."""
    try:
        message: dict[str, Any] = json.loads(data)
        return [Entry(envelope) for envelope in message["events"]]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        log.warning("live_push_unreadable", error=type(error).__name__)
        return []
