"""Whether a database, Redis or broker answers; asked at start and by the doctor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psycopg


@dataclass(frozen=True)
class Answer:
    """`detail` is the version when it answered, else the reason, never the address's password."""

    ok: bool
    detail: str
    has_vector: bool = False


def ask_database(url: str) -> Answer:
    try:
        with psycopg.connect(url, connect_timeout=3) as connection:
            version = str(connection.info.server_version)
            row = connection.execute(
                "SELECT default_version FROM pg_available_extensions WHERE name = 'vector'"
            ).fetchone()
    except (psycopg.Error, ValueError, UnicodeError) as error:
        return Answer(False, _first_line(error))
    release = f"PostgreSQL {int(version) // 10000}.{int(version) % 10000}"
    return Answer(True, f"{release}, pgvector {row[0] if row else 'missing'}", row is not None)


def ask_redis(url: str) -> Answer:
    import redis

    try:
        with redis.Redis.from_url(url, socket_timeout=3, socket_connect_timeout=3) as client:
            facts = client.info("server")
    except (redis.RedisError, ValueError, OSError) as error:
        return Answer(False, _first_line(error))
    name = facts.get("server_name", "redis")
    return Answer(True, f"{name} {facts.get('valkey_version') or facts.get('redis_version')}")


def ask_broker(url: str) -> Answer:
    if url.startswith(("redis://", "rediss://", "unix://")):
        return ask_redis(url)
    import kombu

    try:
        with kombu.Connection(url, connect_timeout=3) as connection:
            connection.ensure_connection(max_retries=1, timeout=4)
            return Answer(True, _product(connection.connection.server_properties))
    except Exception as error:  # noqa: BLE001  (each transport has errors of its own)
        return Answer(False, _first_line(error))


def _product(facts: dict[str, Any]) -> str:
    """What the broker says it is, such as "RabbitMQ 3.10.8"."""
    words = (str(facts.get(key, "")) for key in ("product", "version"))
    return " ".join(filter(None, words)) or "a broker without a name"


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
