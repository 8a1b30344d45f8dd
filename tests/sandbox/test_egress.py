"""The way out: only approved hosts, only through the proxy, and told afterwards."""

from __future__ import annotations

import http.server
import socket
import threading
from collections.abc import Iterator

import pytest

from omni.contracts.errors import OmniError
from omni.sandbox.egress.approved import Approved
from omni.sandbox.egress.errors import Forbidden
from omni.sandbox.egress.heads import BadHead, parse
from omni.sandbox.job import Result
from tests.sandbox.conftest import Run

pytestmark = [pytest.mark.req("SBX-5"), pytest.mark.xdist_group("sandbox")]

GET = """
import sys, urllib.request, urllib.error
for url in {urls!r}:
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            print(answer.status, answer.read().decode())
    except urllib.error.HTTPError as error:
        print(error.code, error.read().decode().strip())
    except OSError as error:
        print("failed", error)
"""
RAW = """
import os, socket
from urllib.parse import urlsplit
proxy = urlsplit(os.environ["HTTPS_PROXY"])
with socket.create_connection((proxy.hostname, proxy.port), timeout=60) as door:
    door.sendall({request!r})
    said = b""
    while piece := door.recv(65536):
        said += piece
        if b"pong" in said:
            break
print(said.decode("latin-1"))
"""


class Seen(http.server.BaseHTTPRequestHandler):
    """Answers with what it was asked; remembers the whole request."""

    requests: list[tuple[str, str, dict[str, str]]]

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers["Content-Length"])))

    def _answer(self, sent: bytes) -> None:
        type(self).requests.append((self.command, self.path, dict(self.headers)))
        body = f"{self.command} {self.path} {len(sent)}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        return


@pytest.fixture(scope="module")
def web() -> Iterator[int]:
    """A server on the machine's loopback, which no cell can reach by itself."""
    Seen.requests = []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Seen)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def echo() -> Iterator[int]:
    """Not HTTP at all: answers `ping` with `pong`."""
    with socket.create_server(("127.0.0.1", 0)) as door:

        def serve() -> None:
            while True:
                try:
                    caller, _ = door.accept()
                except OSError:
                    return
                with caller:
                    if caller.recv(100) == b"ping":
                        caller.sendall(b"pong")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield door.getsockname()[1]
        door.shutdown(socket.SHUT_RDWR)
        thread.join()


def opened(port: int) -> dict[str, object]:
    place = f"127.0.0.1:{port}"
    return {"egress": (place,), "allow_private": frozenset({place})}


def lines(result: Result) -> list[str]:
    assert result.status == "ok", result
    return result.stdout.decode().splitlines()


def test_an_approved_host_is_reached_and_told(run_python: Run, web: int) -> None:
    result = run_python(GET.format(urls=[f"http://127.0.0.1:{web}/a?b=c"]), **opened(web))
    assert lines(result) == ["200 GET /a?b=c 0"]
    (entry,) = result.usage["egress"]
    assert entry["allowed"] and entry["address"] == "127.0.0.1" and entry["received"] > 0
    assert (entry["host"], entry["port"], entry["method"]) == ("127.0.0.1", web, "GET")


def test_every_other_host_is_refused_and_told(run_python: Run, web: int, echo: int) -> None:
    urls = [
        f"http://127.0.0.1:{echo}/",
        "http://example.org/",
        f"http://127.1:{web}/",
        f"http://2130706433:{web}/",
        f"http://127.0.0.1.:{web}/",
        "http://169.254.169.254/latest/meta-data/",
    ]
    result = run_python(GET.format(urls=urls), **opened(web))
    assert [line.split()[0] for line in lines(result)] == ["403"] * len(urls)
    assert [entry["allowed"] for entry in result.usage["egress"]] == [False] * len(urls)
    assert all(entry["reason"] for entry in result.usage["egress"])


def test_an_approved_name_with_a_private_address_is_refused(run_python: Run, web: int) -> None:
    """Whoever owns a name chooses its address; a cell must not reach ours with it."""
    code = GET.format(urls=[f"http://localhost:{web}/"])
    result = run_python(code, egress=(f"localhost:{web}",))
    assert lines(result)[0].startswith("403") and "loopback" in lines(result)[0]


def test_a_tunnel_carries_anything_to_an_approved_place(run_python: Run, echo: int) -> None:
    request = f"CONNECT 127.0.0.1:{echo} HTTP/1.1\r\nHost: x\r\n\r\nping".encode()
    result = run_python(RAW.format(request=request), **opened(echo))
    assert result.stdout.endswith(b"pong\n"), result
    assert result.usage["egress"][0]["method"] == "CONNECT"


@pytest.mark.parametrize(
    "request_line",
    [
        "CONNECT example.org:443 HTTP/1.1",
        "CONNECT 127.0.0.1 HTTP/1.1",
        "CONNECT 127.0.0.1:{port}\0.example.org:{port} HTTP/1.1",
        "CONNECT a@127.0.0.1:{port} HTTP/1.1",
        "GET http://x@127.0.0.1:{port}/ HTTP/1.1",
        "GET / HTTP/1.1",
        "GET ftp://127.0.0.1:{port}/ HTTP/1.1",
        "BREW http://127.0.0.1:{port}/ HTTP/3",
    ],
)
def test_strange_requests_are_refused(request_line: str, run_python: Run, web: int) -> None:
    before = len(Seen.requests)
    request = f"{request_line.format(port=web)}\r\nHost: 127.0.0.1\r\n\r\n".encode()
    result = run_python(RAW.format(request=request), **opened(web))
    assert result.stdout.startswith((b"HTTP/1.1 400", b"HTTP/1.1 403")), result
    assert len(Seen.requests) == before


def test_one_request_is_passed_on_with_the_checked_host(run_python: Run, web: int) -> None:
    """Neither a false Host, nor the proxy's fields, nor a second request behind the first."""
    request = (
        f"POST http://127.0.0.1:{web}/first HTTP/1.1\r\nHost: intranet\r\n"
        "Proxy-Authorization: Basic eDp5\r\nConnection: keep-alive\r\nContent-Length: 4\r\n\r\n"
        f"bodyGET http://127.0.0.1:{web}/second HTTP/1.1\r\n\r\n"
    ).encode()
    before = len(Seen.requests)
    result = run_python(RAW.format(request=request), **opened(web))
    assert "POST /first 4" in result.stdout.decode(), result
    ((method, path, fields),) = Seen.requests[before:]
    assert (method, path) == ("POST", "/first")
    assert fields["Host"] == f"127.0.0.1:{web}" and fields["Connection"] == "close"
    assert "Proxy-Authorization" not in fields


def test_without_approval_there_is_no_proxy(run_python: Run) -> None:
    code = (
        "import os, socket\n"
        "print([name for name in os.environ if 'proxy' in name.lower()])\n"
        "try: socket.create_connection(('127.0.0.1', 3128)); print('reached')\n"
        "except OSError: pass\n"
    )
    assert lines(run_python(code)) == ["[]"]


def test_with_approval_the_direct_way_is_still_closed(run_python: Run, web: int) -> None:
    code = (
        "import socket\n"
        f"try: socket.create_connection(('127.0.0.1', {web}), timeout=5); print('reached')\n"
        "except OSError: print('closed')\n"
    )
    assert lines(run_python(code, **opened(web))) == ["closed"]


@pytest.mark.parametrize(
    "word", ["", "*", "*.", "a b", "exa\0mple.org", "http://x", "127.1", "*.*.x"]
)
def test_a_word_that_is_no_host_is_not_accepted(word: str, run_python: Run) -> None:
    with pytest.raises(OmniError):
        run_python("print(1)", egress=(word,))


def test_which_places_an_approval_covers() -> None:
    approved = Approved(("example.org", "*.example.net", "example.com:8443"))
    fine = ["example.org:443", "EXAMPLE.org:80", "a.b.example.net:443", "example.com:8443"]
    assert all(approved.check(place) for place in fine)
    others = [
        "example.org:22", "www.example.org:443", "example.net:443", "badexample.net:443",
        "example.com:443", "example.org.:443", "example.org", "[::1]:443", "example.org:0",
        "example.org:99999", "example.org:443:443", "example.org:443/",
    ]  # fmt: skip
    for place in others:
        with pytest.raises(Forbidden):
            approved.check(place)


@pytest.mark.parametrize(
    "head",
    [
        b"GET http://a/ HTTP/1.1\r\nA: b\nX: y",
        b"GET http://a/ HTTP/1.1\r\n folded: x",
        b"GET http://a/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2",
        b"GET http://a/ HTTP/1.1\r\nContent-Length: +1",
        b"GET http://a/ HTTP/1.1\r\nTransfer-Encoding: chunked",
        b"GET  http://a/ HTTP/1.1",
        b"GET http://\xc3\xa4/ HTTP/1.1",
        b"GET http://a/#x HTTP/1.1",
    ],
)
def test_heads_with_two_readings_have_none(head: bytes) -> None:
    with pytest.raises(BadHead):
        parse(head)
