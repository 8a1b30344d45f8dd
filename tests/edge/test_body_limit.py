"""The body limit: nothing larger than allowed is stored, whatever the client claims."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import jsonschema_rs
import pytest

from omni.config import ROOT
from omni.edge.body_limit import BodyLimit

pytestmark = pytest.mark.req("SEC-1")

LIMIT = 1000
Serve = Callable[[Any], int]


class Echo:
    """An application that stores the whole body like Django, then says how long it was."""

    def __init__(self) -> None:
        self.stored = 0
        self.was_aborted = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.was_aborted = True
                return
            self.stored += len(message["body"])
            more = message["more_body"]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": str(self.stored).encode()})


@pytest.fixture
def echo() -> Echo:
    return Echo()


@pytest.fixture
def url(echo: Echo, serve: Serve) -> str:
    return f"http://127.0.0.1:{serve(BodyLimit(echo, limit=LIMIT))}/"


def chunks(count: int, size: int) -> Iterator[bytes]:
    for _ in range(count):
        yield b"x" * size


def assert_problem(response: httpx.Response, status: int, category: str) -> None:
    schema = json.loads((ROOT / "omni/contracts/v1/problem.schema.json").read_text())
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    jsonschema_rs.validator_for(schema).validate(response.json())
    assert response.json()["category"] == category
    assert response.json()["request_id"] == response.headers["x-request-id"]


def test_a_body_of_exactly_the_limit_passes(url: str) -> None:
    assert httpx.post(url, content=b"x" * LIMIT).text == str(LIMIT)
    assert httpx.post(url, content=chunks(10, 100)).text == str(2 * LIMIT)


def test_a_declared_length_over_the_limit_is_refused_unread(url: str, echo: Echo) -> None:
    response = httpx.post(url, content=b"x" * (LIMIT + 1))
    assert_problem(response, 413, "too_large")
    assert "OMNI_MAX_REQUEST_BYTES" in response.json()["remedy"]
    assert echo.stored == 0


def test_a_stream_is_cut_off_at_the_limit(url: str, echo: Echo) -> None:
    """Chunked encoding declares nothing, so what arrives is counted."""
    response = httpx.post(url, content=chunks(1000, 100), headers={"X-Request-ID": "mine-1234"})
    assert_problem(response, 413, "too_large")
    assert response.headers["x-request-id"] == "mine-1234"
    assert echo.was_aborted
    assert echo.stored <= LIMIT


async def call(app: Any, headers: list[tuple[bytes, bytes]], **scope: Any) -> list[dict[str, Any]]:
    """One request on the level of ASGI: servers differ in what they refuse by themselves."""
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    base = {"type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": headers}
    await app({**base, **scope}, receive, send)
    return sent


@pytest.mark.parametrize("length", [b"abc", b"-1", b"1e3", b" 5", b"0x10", b"1,2", b"\xb2"])
async def test_a_content_length_that_is_no_number_is_a_400(length: bytes, echo: Echo) -> None:
    sent = await call(BodyLimit(echo, limit=LIMIT), [(b"content-length", length)])
    assert sent[0]["status"] == 400
    assert (b"connection", b"close") in sent[0]["headers"]


async def test_an_absurdly_long_number_is_too_large(echo: Echo) -> None:
    sent = await call(BodyLimit(echo, limit=LIMIT), [(b"content-length", b"9" * 10_000)])
    assert sent[0]["status"] == 413


@pytest.mark.parametrize(
    "address",
    [
        {"query_string": b"q=%00"},
        {"query_string": b"q=%ff"},
        {"query_string": b"q=\xff"},
        {"raw_path": b"/a%00b"},
        {"raw_path": b"/a%c3%28"},
        {"path": "/a\0b"},
    ],
)
async def test_an_address_that_is_no_text_is_a_400(address: dict[str, Any], echo: Echo) -> None:
    sent = await call(BodyLimit(echo, limit=LIMIT), [], **address)
    assert sent[0]["status"] == 400
    assert json.loads(sent[1]["body"])["category"] == "invalid"


@pytest.mark.parametrize("query", [b"q=%2500", b"q=%C3%BC", b"a=1&b=%20", b"%"])
async def test_an_ordinary_address_passes(query: bytes, echo: Echo) -> None:
    sent = await call(BodyLimit(echo, limit=LIMIT), [], query_string=query)
    assert sent[0]["status"] == 200


@pytest.mark.req("RUN-14")
@pytest.mark.parametrize(
    ("path", "named", "status"),
    [
        ("/api/runs/5ec739f3-d22b-4c55-aaff-1484091887d4/artifacts", True, 200),
        ("/api/runs/5ec739f3-d22b-4c55-aaff-1484091887d4/artifacts", False, 413),
        ("/runs/5ec739f3-d22b-4c55-aaff-1484091887d4/artifacts", True, 200),
        ("/runs/5ec739f3-d22b-4c55-aaff-1484091887d4/cancel", True, 413),
        ("/api/runs/5ec739f3-d22b-4c55-aaff-1484091887d4/messages", True, 413),
        ("/api/projects", True, 413),
    ],
)
async def test_only_files_for_runs_may_be_larger(
    path: str, named: bool, status: int, echo: Echo
) -> None:
    """And only from somebody with a credential, which the API then checks."""
    headers = [(b"content-length", str(LIMIT + 1).encode())]
    headers += [(b"authorization", b"Bearer omni_x")] if named else []
    sent = await call(BodyLimit(echo, limit=LIMIT, uploads=2 * LIMIT), headers, path=path)
    assert sent[0]["status"] == status


async def test_other_protocols_pass_untouched() -> None:
    seen = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append((scope, receive, send))

    await BodyLimit(app, limit=LIMIT)({"type": "websocket"}, max, min)
    assert seen == [({"type": "websocket"}, max, min)]


async def test_an_answer_that_has_begun_is_not_answered_again() -> None:
    """An application that answers before it has read everything keeps its own answer."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        assert (await receive())["type"] == "http.disconnect"
        assert (await receive())["type"] == "http.disconnect"

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"x" * (LIMIT + 1), "more_body": True}

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": []}
    await BodyLimit(app, limit=LIMIT)(scope, receive, send)
    assert [message["type"] for message in sent] == ["http.response.start"]


def test_the_rest_of_a_refused_body_is_not_taken_for_a_request(url: str) -> None:
    """The connection is closed, so a smuggled second request gets no answer."""
    port = int(url.rsplit(":", 1)[1].strip("/"))
    smuggled = b"GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        head = f"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {LIMIT + len(smuggled)}\r\n\r\n"
        client.sendall(head.encode() + smuggled)
        answer = b""
        while part := client.recv(65536):
            answer += part
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b" 413 " in answer
