"""Who may read a stream, when it opens and for as long as it is open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from apps.registry.models import ApiToken, Project, Scope, Session, User
from apps.registry.roles import Role
from apps.registry.services.members import set_member_roles
from apps.registry.services.tokens import revoke_token
from apps.runs.models import Run
from tests.live.story import write_steps
from tests.live.test_run_stream import path_of
from tests.live.web import Reader, Stream, Web, session_cookie

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.req("LIVE-1"),
    pytest.mark.req("SEC-2"),
]


@pytest.fixture
def guest(stranger: User, user: User, project: Project) -> User:
    """A viewer of the project."""
    set_member_roles(actor=user, project=project, user=stranger, roles={Role.VIEWER})
    return stranger


def test_a_foreign_run_is_not_there(
    reader_for: Callable[..., Reader], stranger: User, run: Run, project: Project
) -> None:
    """Neither to strangers nor to nobody, and not to a token that may not read."""
    eve = reader_for(stranger)
    for path in (path_of(run), f"/api/projects/{project.slug}/stream"):
        response = eve.get(path)
        assert (response.status_code, response.json()["category"]) == (404, "not_found")
        assert response.headers["content-type"] == "application/problem+json"
        assert httpx.get(eve.url + path).status_code == 401
        blind = reader_for(stranger, scopes={Scope.WRITE})
        assert blind.get(path).status_code == 403
    assert httpx.get(f"{eve.url}/api/approvals/stream").status_code == 401


def test_a_browser_reads_with_its_session(web: Web, user: User, run: Run) -> None:
    browser = Reader(web.url, Cookie=session_cookie(user))
    with browser.open(path_of(run)) as stream:
        assert stream.take(1)[0].id == "1"


@contextmanager
def losing_access(stream: Stream, run: Run) -> Iterator[None]:
    """What happens inside takes access away; nothing written afterwards may arrive."""
    stream.take(1)
    yield
    last = None
    for message in stream.events():
        last = message
    assert last is not None and last.event == "revoked"
    write_steps(run, 1)


def test_a_removed_member_loses_the_stream(
    reader_for: Callable[..., Reader], guest: User, user: User, project: Project, run: Run
) -> None:
    eve = reader_for(guest)
    with eve.open(path_of(run)) as stream, losing_access(stream, run):
        set_member_roles(actor=user, project=project, user=guest, roles=set())
    with eve.open("/api/approvals/stream") as stream:
        assert stream.take(1)[0].event == "snapshot"


@pytest.mark.parametrize("how", ["revoked", "expired", "deactivated"])
def test_a_token_that_ends_ends_its_stream(
    reader_for: Callable[..., Reader], guest: User, run: Run, how: str
) -> None:
    eve = reader_for(guest)
    token = ApiToken.objects.get(user=guest)
    with eve.open(path_of(run)) as stream, losing_access(stream, run):
        if how == "revoked":
            revoke_token(actor=guest, token=token)
        elif how == "expired":
            ApiToken.objects.update(expires_at=token.created_at)
        else:
            User.objects.filter(pk=guest.pk).update(is_active=False)


@pytest.mark.parametrize("how", ["signed out", "new password"])
def test_a_session_that_ends_ends_its_stream(web: Web, guest: User, run: Run, how: str) -> None:
    browser = Reader(web.url, Cookie=session_cookie(guest))
    with browser.open(path_of(run)) as stream, losing_access(stream, run):
        if how == "signed out":
            Session.objects.filter(user=guest).delete()
        else:
            guest.set_password("another-horse-10")
            guest.save()


def test_other_streams_stay_open_when_one_is_lost(
    reader_for: Callable[..., Reader],
    ada: Reader,
    guest: User,
    user: User,
    project: Project,
    run: Run,
) -> None:
    with ada.open(path_of(run)) as mine:
        mine.take(1)
        with reader_for(guest).open(path_of(run)) as theirs, losing_access(theirs, run):
            set_member_roles(actor=user, project=project, user=guest, roles=set())
        assert mine.take(1)[0].id == "2"


def test_a_server_without_an_event_loop_gives_what_there_is(
    client: Any, user: User, run: Run
) -> None:
    """It must not hang: the answer ends, and the client comes back for more."""
    write_steps(run, 2)
    client.force_login(user, "django.contrib.auth.backends.ModelBackend")
    body = b"".join(client.get(path_of(run)).streaming_content).decode()
    assert body.count("\nevent: ") == 3 and "event: end" not in body
