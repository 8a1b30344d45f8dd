"""The WebSocket: what the SSE stream says, for whom it says it, with the same refusals."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from apps.registry.models import Project, User
from apps.registry.roles import Role
from apps.registry.services.members import set_member_roles
from apps.runs.models import Run
from tests.live.story import finish, write_steps
from tests.live.test_run_stream import logged, path_of
from tests.live.web import PATIENCE_SECONDS, Reader, Web, session_cookie

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.req("LIVE-1")]
START = '{"type":"event","event":'


@contextmanager
def socket(
    web: Web, path: str, headers: dict[str, str] | None = None, origin: str | None = None
) -> Iterator[ClientConnection]:
    address = web.url.replace("http", "ws") + path
    with connect(
        address, additional_headers=headers, origin=origin, open_timeout=60, close_timeout=20
    ) as opened:  # type: ignore[arg-type]
        yield opened


def messages(opened: ClientConnection) -> tuple[list[str], int]:
    """Everything until the server closes, and its code."""
    seen = []
    try:
        while True:
            text = str(opened.recv(timeout=PATIENCE_SECONDS))
            if text != '{"type":"ping"}':
                seen.append(text)
    except ConnectionClosed as closed:
        assert closed.rcvd is not None
        return seen, closed.rcvd.code


def ws(run: Run, query: str = "") -> str:
    return f"/ws/runs/{run.pk}{query}"


@pytest.mark.parametrize("how", ["header", "cookie", "message"])
def test_it_carries_what_the_event_stream_carries(
    web: Web, ada: Reader, user: User, run: Run, how: str
) -> None:
    """By every way to sign in, the same bytes in the same order, and the end."""
    write_steps(run, 3)
    headers = {"header": ada.headers, "cookie": {"Cookie": session_cookie(user)}}.get(how)
    with socket(web, ws(run), headers, web.url if how == "cookie" else None) as opened:
        if how == "message":
            token = ada.headers["Authorization"].removeprefix("Bearer ")
            opened.send(json.dumps({"type": "auth", "token": token}))
        first = str(opened.recv(timeout=PATIENCE_SECONDS))
        write_steps(run, 20, batch=3)
        finish(run)
        rest, code = messages(opened)
    *events, end = [first, *rest]
    assert [text.removeprefix(START)[:-1] for text in events] == logged(run)
    assert json.loads(end) == {
        "type": "end", "run_id": str(run.pk), "status": "done", "last_seq": 26,
    }  # fmt: skip
    assert code == 1000


def test_it_resumes_and_speaks_every_format(web: Web, ada: Reader, run: Run) -> None:
    write_steps(run, 5)
    finish(run)
    for format in ("omni", "ag-ui", "cloudevents"):
        query = f"?after=2&format={format}"
        with ada.open(path_of(run, query)) as stream:
            wanted = [m.data for m in stream.events() if m.event != "end"]
        with socket(web, ws(run, query), ada.headers) as opened:
            seen, code = messages(opened)
        assert code == 1000
        got = [text.removeprefix(START)[:-1] for text in seen if text.startswith(START)]
        assert got == wanted


def test_an_idle_socket_is_pinged(web: Web, ada: Reader, run: Run) -> None:
    with socket(web, ws(run), ada.headers) as opened:
        opened.recv(timeout=PATIENCE_SECONDS)
        assert json.loads(opened.recv(timeout=PATIENCE_SECONDS)) == {"type": "ping"}


@pytest.mark.req("SEC-2")
@pytest.mark.parametrize(
    ("case", "status"),
    [
        ("stranger", 404),
        ("wrong token", 401),
        ("no token", 400),
        ("position", 400),
        ("address", 404),
    ],
)
def test_what_is_refused_is_refused_with_a_problem(
    web: Web,
    ada: Reader,
    reader_for: Callable[..., Reader],
    stranger: User,
    run: Run,
    case: str,
    status: int,
) -> None:
    headers: dict[str, Any] = {
        "stranger": reader_for(stranger).headers,
        "wrong token": {"Authorization": "Bearer omni_wrong"},
        "no token": {},
    }.get(case, ada.headers)
    path = ws(run, "?after=99" if case == "position" else "")
    with socket(web, "/ws/elsewhere" if case == "address" else path, headers) as opened:
        if case == "no token":
            opened.send('{"type":"hello"}')
        [text], code = messages(opened)
    problem = json.loads(text)["problem"]
    assert (code, problem["status"]) == (4000 + status, status)


@pytest.mark.req("SEC-1")
def test_pages_of_other_sites_get_in_only_where_allowed_and_never_by_cookie(
    web: Web, ada: Reader, user: User, run: Run
) -> None:
    """Browsers send cookies along whatever page opens the socket."""
    cookie = {"Cookie": session_cookie(user)}
    for origin in ("https://evil.example.org", "http://127.0.0.1:1", "null"):
        with pytest.raises(InvalidStatus) as refused, socket(web, ws(run), cookie, origin):
            pass
        assert refused.value.response.status_code == 403
    with socket(web, ws(run), cookie, "https://friend.example.org") as opened:
        opened.send('{"type":"auth","token":"omni_wrong"}')
        assert messages(opened)[1] == 4401
    with socket(web, ws(run), ada.headers, "https://friend.example.org") as opened:
        assert START in str(opened.recv(timeout=PATIENCE_SECONDS))


@pytest.mark.req("SEC-2")
def test_a_removed_member_loses_the_socket(
    web: Web,
    reader_for: Callable[..., Reader],
    stranger: User,
    user: User,
    project: Project,
    run: Run,
) -> None:
    set_member_roles(actor=user, project=project, user=stranger, roles={Role.VIEWER})
    with socket(web, ws(run), reader_for(stranger).headers) as opened:
        opened.recv(timeout=PATIENCE_SECONDS)
        set_member_roles(actor=user, project=project, user=stranger, roles=set())
        seen, code = messages(opened)
    assert (json.loads(seen[-1])["type"], code) == ("revoked", 4403)
