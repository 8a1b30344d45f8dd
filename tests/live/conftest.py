"""A web process for the whole session, people with credentials, and runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connections

from apps.registry.models import Project, Scope, User
from apps.registry.services.tokens import create_token
from apps.runs.models import Run, Thread
from apps.runs.services.runs import create_run, create_thread
from tests.live.web import Reader, Web


@pytest.fixture(scope="session")
def web(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Web]:
    running = Web(tmp_path_factory.mktemp("live")).start()
    yield running
    running.stop()
    assert running.complaints == []
    with django_db_blocker.unblock():
        connections.close_all()


@pytest.fixture
def thread(project: Project, user: User) -> Thread:
    return create_thread(actor=user, project=project, title="First thread")


@pytest.fixture
def make_run(thread: Thread, user: User) -> Callable[..., Run]:
    def make(**input: Any) -> Run:
        return create_run(actor=user, thread=thread, run_kind="script", input=input)

    return make


@pytest.fixture
def run(make_run: Callable[..., Run]) -> Run:
    return make_run(steps=1)


@pytest.fixture
def reader_for(web: Web) -> Callable[..., Reader]:
    def make(user: User, url: str = web.url, scopes: set[Scope] | None = None) -> Reader:
        _, token = create_token(user=user, name="stream", scopes=scopes or {Scope.READ})
        return Reader(url, Authorization=f"Bearer {token}")

    return make


@pytest.fixture
def ada(reader_for: Callable[..., Reader], user: User) -> Reader:
    return reader_for(user)
