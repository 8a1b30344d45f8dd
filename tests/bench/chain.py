"""A plain Celery application with one task that does nothing: what a chain of steps costs there."""

from __future__ import annotations

import os

import redis
from celery import Celery

app = Celery("chain", broker=os.environ["OMNI_REDIS_URL"])
app.conf.task_ignore_result = True
app.conf.task_default_queue = "bench-chain"
app.conf.broker_connection_retry_on_startup = True


@app.task(name="chain.step")
def step() -> None:
    """Nothing."""


@app.task(name="chain.last")
def last(key: str) -> None:
    with redis.Redis.from_url(os.environ["OMNI_REDIS_URL"]) as client:
        client.lpush(key, "done")
