"""A plain Celery application, as its first tutorial has it: what a chain of steps costs there.

Default settings (JSON, early acks, prefetching), two processes, and no result store: a chain hands
each result to the next task in its message. That is the cheapest chain there is.
"""

from __future__ import annotations

import os

import redis
from celery import Celery

app = Celery("chain", broker=os.environ["OMNI_REDIS_URL"])
app.conf.task_ignore_result = True
app.conf.task_default_queue = "bench-chain"
app.conf.broker_connection_retry_on_startup = True


@app.task(name="chain.step")
def step(done: int) -> int:
    """Nothing but the next number."""
    return done + 1


@app.task(name="chain.last")
def last(done: int, key: str) -> None:
    with redis.Redis.from_url(os.environ["OMNI_REDIS_URL"]) as client:
        client.lpush(key, done)
