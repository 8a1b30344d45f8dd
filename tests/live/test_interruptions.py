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
from tests.chaos.crew import ROUNDS
from tests.live.story import finish, write_steps
from tests.live.test_run_stream import logged, path_of
from tests.live.web import PATIENCE_SECONDS, Reader, Web

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
        write_steps(run, 3)
        seen += stream.take(3)
        valkey.start()
        write_steps(run, 3)
        seen += stream.take(3)
        finish(run)
        seen += [message for message in stream.events() if message.id]
    assert [message.data for message in seen] == logged(run)
    assert "live_push_lost" in web.log.read_text(), "the fault did not happen"


class Follower(threading.Thread):
    """A client that comes back with its last id however its connection ended."""

    def __init__(self, reader: Reader, run: Run) -> None:
        super().__init__(daemon=True)
        self.reader, self.path = reader, path_of(run)
        self.seen: list[tuple[str, str]] = []
        self.cuts: list[str] = []

    def run(self) -> None:
        while not self._follow():
            self.cuts.append("closed")

    def _follow(self) -> bool:
        """One connection; answers whether the run has ended."""
        known = {"Last-Event-ID": self.seen[-1][0]} if self.seen else {}
        try:
            with self.reader.open(self.path, **known) as stream:
                for message in stream.events():
                    if message.event == "end":
                        return True
                    self.seen.append((message.id, message.data))
        except httpx.ConnectError:
            time.sleep(0.05)
        except httpx.TransportError as error:
            self.cuts.append(type(error).__name__)
        return False


@pytest.mark.req("OPS-1")
def test_web_killed_and_restarted_while_clients_read(
    private: tuple[EmbeddedServices, Web], user: User, run: Run, reader_for: Callable[..., Reader]
) -> None:
    """kill -9, then an orderly stop, which does not wait for streams; nobody misses anything."""
    _, web = private
    ada, is_over = reader_for(user, web.url), threading.Event()
    followers = [Follower(ada, run) for _ in range(4)]
    writer = threading.Thread(target=_write_until, args=(run, is_over), daemon=True)
    for thread in (writer, *followers):
        thread.start()
    try:
        for strike in [web.kill, web.stop] * max(ROUNDS, 1):
            _each_sees_more(followers)
            strike()
            web.start()
        _each_sees_more(followers)
    finally:
        is_over.set()
    for thread in (writer, *followers):
        thread.join(PATIENCE_SECONDS)
    for each in followers:
        assert "RemoteProtocolError" in each.cuts or "ReadError" in each.cuts, "nobody was cut off"
        assert [data for _, data in each.seen] == logged(run)


def _each_sees_more(followers: list[Follower]) -> None:
    """All of them are in the middle of the stream."""
    wanted = [len(each.seen) + 5 for each in followers]
    until = time.monotonic() + PATIENCE_SECONDS
    while any(len(each.seen) < more for each, more in zip(followers, wanted, strict=True)):
        assert time.monotonic() < until, "a client does not come back"
        time.sleep(0.02)


def _write_until(run: Run, is_over: threading.Event) -> None:
    """The run goes on for as long as faults strike, so that each strikes in its middle."""
    try:
        while not is_over.wait(0.02):
            write_steps(run, 1)
        finish(run)
    finally:
        connection.close()
