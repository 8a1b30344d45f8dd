"""What the client sends, follows and reads, against servers that say what no honest one would."""

from __future__ import annotations

import gzip
import socket
import threading
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from omni.sandbox.egress.client import FetchLimits, Request, Response, fetch, opened
from omni.sandbox.egress.errors import (
    BadResponse,
    Cancelled,
    EgressError,
    Forbidden,
    TimedOut,
    TooLarge,
    Unreachable,
)

pytestmark = pytest.mark.req("TOOL-10")

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 2\r\n\r\nok"
# Far away: a test that needs it fails loudly instead of slowly.
PATIENT = FetchLimits(seconds=60)


def get(server: Any, path: str = "", **options: Any) -> Response:
    options.setdefault("limits", PATIENT)
    options.setdefault("hosts", frozenset({"127.0.0.1"}))
    options.setdefault("allow_private", frozenset({server.place}))
    return fetch(Request("GET", server.url + path), **options)


def test_a_request_arrives_as_it_was_meant(serve: Callable[..., Any]) -> None:
    server = serve(OK)
    request = Request("post", server.url + "a?b=1", {"X-One": "1"}, b"body", {"Authorization": "s"})
    response = fetch(
        request, hosts=frozenset({"127.0.0.1"}), allow_private=frozenset({server.place})
    )
    assert (response.status, response.body, response.media_type) == (200, b"ok", "text/plain")
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    assert head.split(b"\r\n")[0] == b"POST /a?b=1 HTTP/1.1"
    assert f"Host: {server.place}".encode() in head
    assert b"Authorization: s" in head and b"Content-Length: 4" in head and body == b"body"


def test_nothing_is_reached_that_is_not_listed_and_opened(serve: Callable[..., Any]) -> None:
    server = serve(OK)
    with pytest.raises(Forbidden, match="not among"):
        get(server, hosts=frozenset())
    with pytest.raises(Forbidden, match="loopback") as refusal:
        get(server, allow_private=frozenset())
    assert not refusal.value.sent
    assert server.requests == []


def test_a_name_is_looked_up_once_and_connected_to_what_was_checked(
    serve: Callable[..., Any],
) -> None:
    """DNS rebinding: a second lookup would give another address, so there is none."""
    server = serve(OK)
    asked: list[str] = []

    def lookup(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["127.0.0.99"]

    name = f"api.example:{server.port}"
    options = {"hosts": frozenset({"api.example"}), "allow_private": frozenset({name})}
    response = fetch(Request("GET", f"http://{name}/"), lookup=lookup, **options)  # type: ignore[arg-type]
    assert response.body == b"ok"
    assert asked == ["api.example"]
    assert f"Host: {name}".encode() in server.requests[0]


def test_a_name_that_turns_inward_between_two_requests_is_refused(
    serve: Callable[..., Any],
) -> None:
    server = serve(OK)
    request = Request("GET", f"http://api.example:{server.port}/")
    with pytest.raises(Forbidden):
        fetch(request, hosts=frozenset({"api.example"}), lookup=lambda host, port: ["127.0.0.1"])
    assert server.requests == []


def test_proxy_settings_of_the_environment_are_ignored(
    serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, proxy = serve(OK), serve(OK)
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, proxy.url)
    assert get(server).status == 200
    assert proxy.requests == []


@pytest.mark.parametrize(
    "location", [b"http://127.0.0.1:1/", b"http://169.254.169.254/latest/", b"http://[::1]/"]
)
def test_a_redirect_to_the_inside_is_refused(serve: Callable[..., Any], location: bytes) -> None:
    server = serve(b"HTTP/1.1 302 Found\r\nLocation: " + location + b"\r\n\r\n")
    with pytest.raises(Forbidden) as refusal:
        get(server, hosts=frozenset({"127.0.0.1", "169.254.169.254", "::1", "127.0.0.1:1"}))
    assert refusal.value.sent


def test_a_redirect_to_a_host_that_is_not_listed_is_refused(serve: Callable[..., Any]) -> None:
    server = serve(b"HTTP/1.1 302 Found\r\nLocation: https://elsewhere.example/\r\n\r\n")
    with pytest.raises(Forbidden, match="not among"):
        get(server)


def test_a_redirect_loop_ends(serve: Callable[..., Any]) -> None:
    server = serve(b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n")
    with pytest.raises(BadResponse, match="5 times"):
        get(server)
    assert len(server.requests) == 6


def test_without_redirects_the_redirect_is_the_answer(serve: Callable[..., Any]) -> None:
    server = serve(b"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n")
    assert get(server, limits=FetchLimits(redirects=0)).status == 302


@pytest.mark.parametrize(
    ("status", "method", "kept"),
    [(301, "POST", False), (302, "POST", False), (303, "PUT", False), (307, "POST", True),
     (308, "POST", True), (302, "PUT", True)],
)  # fmt: skip
def test_methods_and_bodies_along_a_redirect(
    serve: Callable[..., Any], status: int, method: str, kept: bool
) -> None:
    def answer(connection: socket.socket, request: bytes) -> None:
        moved = f"HTTP/1.1 {status} Moved\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n"
        connection.sendall(OK if b"/there" in request else moved.encode())

    server = serve(answer)
    response = fetch(
        Request(method, server.url, {"Content-Type": "text/plain"}, b"body", {"X-Key": "k"}),
        hosts=frozenset({"127.0.0.1"}),
        allow_private=frozenset({server.place}),
    )
    second = server.requests[1]
    assert second.startswith(f"{method if kept else 'GET'} /there ".encode())
    assert second.endswith(b"body") == kept
    assert (b"Content-Type" in second) == kept
    assert b"X-Key: k" in second
    assert response.redirects == 1


def test_credentials_do_not_travel_to_another_origin(serve: Callable[..., Any]) -> None:
    other = serve(OK)
    moved = f"HTTP/1.1 307 Moved\r\nLocation: {other.url}\r\nContent-Length: 0\r\n\r\n"
    server = serve(moved.encode())
    headers = {"Authorization": "Basic aaa", "Cookie": "b=c", "X-Plain": "1"}
    fetch(
        Request("GET", server.url, headers, credentials={"X-Api-Key": "topsecret"}),
        hosts=frozenset({"127.0.0.1"}),
        allow_private=frozenset({server.place, other.place}),
    )
    assert b"topsecret" in server.requests[0] and b"Basic aaa" in server.requests[0]
    assert b"X-Plain: 1" in other.requests[0]
    for secret in (b"topsecret", b"Basic", b"Cookie"):
        assert secret not in other.requests[0]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X-A", "1\r\nX-B: 2"), ("X-A", "1\nX-B: 2"), ("X-A", "a\x00b"), ("X-A", " padded"),
        ("X-A", "€"), ("X A", "1"), ("X-A:", "1"), ("", "1"), ("Host", "evil.example"),
        ("Content-Length", "9"), ("Transfer-Encoding", "chunked"), ("Connection", "keep-alive"),
    ],
)  # fmt: skip
def test_headers_cannot_smuggle(serve: Callable[..., Any], name: str, value: str) -> None:
    server = serve(OK)
    for request in (
        Request("GET", server.url, {name: value}),
        Request("GET", server.url, credentials={name: value}),
    ):
        with pytest.raises(Forbidden) as refusal:
            fetch(
                request,
                hosts=frozenset({"127.0.0.1"}),
                allow_private=frozenset({server.place}),
            )
        assert value.strip() not in str(refusal.value) or len(value) < 3
    assert server.requests == []


@pytest.mark.parametrize("method", ["CONNECT", "TRACE", "GET / HTTP/1.1\r\nX: y", "", "BREW"])
def test_other_methods_are_refused(serve: Callable[..., Any], method: str) -> None:
    with pytest.raises(Forbidden):
        fetch(Request(method, "https://example.org/"), hosts=frozenset({"example.org"}))


def test_an_endless_body_is_cut(serve: Callable[..., Any]) -> None:
    def answer(connection: socket.socket, request: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            connection.sendall(b"x" * 65536)

    with pytest.raises(TooLarge):
        get(serve(answer), limits=FetchLimits(seconds=60, body_bytes=200_000))


def test_an_announced_size_is_refused_before_it_is_read(serve: Callable[..., Any]) -> None:
    server = serve(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nx")
    with pytest.raises(TooLarge):
        get(server)


def test_a_head_request_announces_what_it_does_not_bring(serve: Callable[..., Any]) -> None:
    server = serve(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n")
    response = fetch(
        Request("HEAD", server.url),
        hosts=frozenset({"127.0.0.1"}),
        allow_private=frozenset({server.place}),
    )
    assert (response.status, response.body) == (200, b"")


def packed(data: bytes, encoding: str = "gzip") -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: {len(data)}\r\n\r\n"
    return head.encode() + data


def test_what_unpacks_to_too_much_is_cut(serve: Callable[..., Any]) -> None:
    """Sixty-four kilobytes that would become sixty-four megabytes; packed twice it is tiny."""
    bomb = gzip.compress(bytes(2**26))
    limits = FetchLimits(seconds=60, body_bytes=2**20)
    with pytest.raises(TooLarge):
        get(serve(packed(bomb)), limits=limits)
    with pytest.raises(TooLarge):
        get(serve(packed(gzip.compress(bomb), "gzip, gzip")), limits=limits)


@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        ("gzip", gzip.compress(b"hello", mtime=0)),
        ("x-gzip", gzip.compress(b"hel", mtime=0) + gzip.compress(b"lo", mtime=0)),
        ("gzip", gzip.compress(b"hello", mtime=0) + b"\x00\x00"),
        ("deflate", zlib.compress(b"hello")),
        ("deflate", zlib.compress(b"hello")[2:-4]),
        ("identity", b"hello"),
        ("gzip, deflate", zlib.compress(gzip.compress(b"hello", mtime=0))),
    ],
)
def test_answers_are_unpacked(serve: Callable[..., Any], encoding: str, data: bytes) -> None:
    assert get(serve(packed(data, encoding))).body == b"hello"


@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        ("gzip", b"this is not packed"), ("gzip", gzip.compress(b"hello" * 999, mtime=0)[:-9]),
        ("br", b"hello"), ("gzip,gzip,gzip", b"hello"), ("deflate", b"\xff\xff\xff"),
    ],
)  # fmt: skip
def test_answers_that_cannot_be_unpacked(
    serve: Callable[..., Any], encoding: str, data: bytes
) -> None:
    with pytest.raises(BadResponse):
        get(serve(packed(data, encoding)))


@pytest.mark.parametrize(
    "answer",
    [
        b"", b"SSH-2.0-OpenSSH_9\r\n\r\n", b"HTTP/1.1 2x0 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nbad\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", b"HTTP/1.1 101 Switching\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)  # fmt: skip
def test_improper_answers_are_named_so(serve: Callable[..., Any], answer: bytes) -> None:
    with pytest.raises(BadResponse):
        get(serve(answer))


def test_headers_are_bounded(serve: Callable[..., Any]) -> None:
    many = b"".join(b"X-%d: %s\r\n" % (index, b"v" * 1000) for index in range(90))
    with pytest.raises(TooLarge):
        get(serve(b"HTTP/1.1 200 OK\r\n" + many + b"Content-Length: 0\r\n\r\n"))

    def endless(connection: socket.socket, request: bytes) -> None:
        while True:
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)

    with pytest.raises(TooLarge):
        get(serve(endless))


@pytest.mark.parametrize("where", ["headers", "body", "silence"])
def test_a_server_that_drips_is_left_at_the_deadline(serve: Callable[..., Any], where: str) -> None:
    """Each byte comes in time; only the whole does not."""

    def answer(connection: socket.socket, request: bytes) -> None:
        if where == "body":
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        if where == "headers":
            connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        while not server.stopping.wait(0.02):
            if where != "silence":
                connection.sendall(b"x")

    server = serve(answer)
    with pytest.raises(TimedOut) as late:
        get(server, limits=FetchLimits(seconds=0.6))
    assert late.value.sent


def test_a_resolver_that_hangs_is_left_at_the_deadline(serve: Callable[..., Any]) -> None:
    server = serve(OK)

    def lookup(host: str, port: int) -> list[str]:
        server.stopping.wait(30)
        return []

    with pytest.raises(TimedOut) as late:
        fetch(
            Request("GET", "https://api.example/"),
            hosts=frozenset({"api.example"}),
            limits=FetchLimits(seconds=0.3),
            lookup=lookup,
        )
    assert not late.value.sent


def test_a_cancelled_request_stops(serve: Callable[..., Any]) -> None:
    server = serve(lambda connection, request: server.stopping.wait(60))
    with pytest.raises(Cancelled):
        get(server, cancelled=lambda: bool(server.requests))


def test_nobody_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    with pytest.raises(Unreachable) as error:
        fetch(
            Request("GET", f"http://127.0.0.1:{port}/"),
            hosts=frozenset({"127.0.0.1"}),
            allow_private=frozenset({f"127.0.0.1:{port}"}),
        )
    assert not error.value.sent


def test_a_second_address_is_tried(serve: Callable[..., Any]) -> None:
    server = serve(OK)
    name = f"api.example:{server.port}"
    response = fetch(
        Request("GET", f"http://{name}/"),
        hosts=frozenset({"api.example"}),
        allow_private=frozenset({name}),
        lookup=lambda host, port: ["127.0.0.77", "127.0.0.1"],
    )
    assert response.status == 200


def test_a_large_body_is_sent_whole(serve: Callable[..., Any]) -> None:
    server = serve(OK)
    fetch(
        Request("POST", server.url, body=b"x" * 2_000_000),
        hosts=frozenset({"127.0.0.1"}),
        limits=PATIENT,
        allow_private=frozenset({server.place}),
    )
    assert server.requests[0].count(b"x") >= 2_000_000


def test_a_body_is_read_while_it_comes(serve: Callable[..., Any]) -> None:
    def answer(connection: socket.socket, request: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
        if proceed.wait(60):
            connection.sendall(b"3\r\ntwo\r\n0\r\n\r\n")

    proceed = threading.Event()
    server = serve(answer)
    with opened(
        Request("GET", server.url),
        hosts=frozenset({"127.0.0.1"}),
        limits=PATIENT,
        allow_private=frozenset({server.place}),
    ) as answer_of:
        assert next(answer_of.pieces) == b"one"
        proceed.set()
        assert b"".join(answer_of.pieces) == b"two"


def test_every_failure_is_one_of_ours() -> None:
    kinds = {each.tool_error for each in EgressError.__subclasses__()}
    assert kinds == {
        "permission_denied", "unavailable", "timeout", "limit_exceeded", "tool_failed", "cancelled"
    }  # fmt: skip
