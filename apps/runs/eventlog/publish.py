"""Tells listeners what was appended, after it is committed. Nothing depends on it arriving."""

from __future__ import annotations

import json
import os
import queue
import threading
import time
import uuid

import redis
import structlog
from django.conf import settings

from apps.runs.eventlog import feed
from apps.runs.eventlog.envelope import Event

log = structlog.get_logger(__name__)
CHANNEL = "omni:events"
SILENCE_SECONDS = 1.0
WAITING = 10_000
MOST_AT_ONCE = 100
# The first event goes out at once; what a driver in a hurry writes after it goes together.
APART_SECONDS = 0.02


class _Publisher:
    """Sends from a thread of its own: a driver's next step must not wait for Redis."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._waiting: queue.SimpleQueue[list[Event]] = queue.SimpleQueue()
        self._client = redis.Redis.from_url(
            settings.REDIS_URL, socket_connect_timeout=2, socket_timeout=5
        )
        threading.Thread(target=self._send_all, name="publisher", daemon=True).start()

    def put(self, events: list[Event]) -> None:
        if self._waiting.qsize() < WAITING:
            self._waiting.put(events)
        else:
            log.warning("publish_skipped", run_id=str(events[0].run_id))

    def _send_all(self) -> None:
        last = 0.0
        while True:
            batches = [self._waiting.get()]
            time.sleep(max(last + APART_SECONDS - time.monotonic(), 0))
            last = time.monotonic()
            while len(batches) < MOST_AT_ONCE and not self._waiting.empty():
                batches.append(self._waiting.get())
            try:
                self._send(batches)
            except Exception as error:  # noqa: BLE001  (the thread outlives whatever happens)
                log.warning("publish_failed", batches=len(batches), error=type(error).__name__)
                time.sleep(SILENCE_SECONDS)

    def _send(self, batches: list[list[Event]]) -> None:
        with self._client.pipeline(transaction=False) as pipe:
            for run_id, events in _stretches(batches):
                message = {"run_id": str(run_id), "events": [event.as_json() for event in events]}
                pipe.publish(CHANNEL, json.dumps(message))
            pipe.execute()


def _stretches(batches: list[list[Event]]) -> list[tuple[uuid.UUID, list[Event]]]:
    """Neighbours of one run share a message; what this process committed keeps its order."""
    found: list[tuple[uuid.UUID, list[Event]]] = []
    for events in batches:
        if found and found[-1][0] == events[0].run_id:
            found[-1][1].extend(events)
        else:
            found.append((events[0].run_id, list(events)))
    return found


def publish(events: list[Event]) -> None:
    """The events themselves, so that most readers need no query; in the order of their commits."""
    global _publisher
    if _publisher is None or _publisher.pid != os.getpid():
        with _starting:
            if _publisher is None or _publisher.pid != os.getpid():
                _publisher = _Publisher()
    _publisher.put(events)
    feed.observe(events)


_publisher: _Publisher | None = None
_starting = threading.Lock()
os.register_at_fork(after_in_child=lambda: globals().update(_starting=threading.Lock()))
