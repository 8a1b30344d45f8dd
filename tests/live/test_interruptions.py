"""Redis and the web process may go and come back; readers notice nothing but time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import httpx
import pytest
import redis
from django.conf import settings
from django.db import connection

from apps.registry.models import User
from apps.runs.eventlog import publish
from apps.runs.models import Run
from omni.services.embedded import EmbeddedServices
from tests.live.story import finish, write_steps
from tests.live.test_run_stream import logged, path_of
from tests.live.web import Reader, Web

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.req("LIVE-3")]


@pytest.fixture(scope="module")
def private(
    django_db_setup: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[EmbeddedServices, Web]]:
    """A Valkey and a web process of our own, to be treated badly."""
    home = tmp_path_factory.mktemp("private")
    valkey = EmbeddedServices(home / "valkey", durable=False, postgres=False)
    url = valkey.start().redis_url
    web = Web(home, OMNI_REDIS_URL=url).start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "REDIS_URL", url)
        patch.setattr(publish, "_publisher", None)
        yield valkey, web
    web.stop()
    valkey.stop()
    assert web.complaints == []


def test_redis_flushed_deaf_and_restarted_in_the_middle(
    private: tuple[EmbeddedServices, Web], user: User, run: Run, reader_for: Callable[..., Reader]
) -> None:
    """Also events that were never pushed arrive, from the table."""
    valkey, web = private
    ada = reader_for(user, web.url)
    with ada.open(path_of(run)) as stream:
        seen = stream.take(1)
        server = redis.Redis.from_url(valkey.endpoints.redis_url)
        server.flushall()
        server.client_kill_filter(_type="pubsub")
        server.close()
        write_steps(run, 3)
        seen += stream.take(3)
        valkey.stop()
        began = time.monotonic()
        write_steps(run, 3)
        seen += stream.take(3)
        assert time.monotonic() - began < 12, "the patrol did not look"
        valkey.start()
        write_steps(run, 3)
        seen += stream.take(3)
        finish(run)
        seen += [message for message in stream.events() if message.id]
    assert [message.data for message in seen] == logged(run)
    assert "live_push_lost" in web.log.read_text(), "the fault did not happen"


def test_web_killed_and_restarted_in_the_middle(
    private: tuple[EmbeddedServices, Web], user: User, run: Run, reader_for: Callable[..., Reader]
) -> None:
    """The client comes back with its last id; an orderly stop does not wait for open streams."""
    _, web = private
    ada = reader_for(user, web.url)
    seen: list[tuple[str, str]] = []
    broken = 0
    writer = threading.Thread(target=_write_slowly, args=(run,))
    writer.start()
    for how in (web.kill, web.stop, None):
        try:
            with ada.open(path_of(run), **_known(seen)) as stream:
                for message in stream.events():
                    seen += [(message.id, message.data)] if message.id else []
                    if how is not None and len(seen) % 10 == 0:
                        took = how()
                        assert took is None or took < 4, "it waited for the stream"
                        how = None
        except httpx.TransportError:
            broken += 1
        if web.process.poll() is not None:
            web.start()
    writer.join()
    assert broken == 1, "only the kill may look like a failure"
    assert [data for _, data in seen] == logged(run)


def _known(seen: list[tuple[str, str]]) -> dict[str, str]:
    return {"Last-Event-ID": seen[-1][0]} if seen else {}


def _write_slowly(run: Run) -> None:
    try:
        for _ in range(60):
            write_steps(run, 1)
            time.sleep(0.02)
        finish(run)
    finally:
        connection.close()
