"""The one HTTP client for addresses that agents, documents and other people choose.

Each hop of a request is checked by name and by address, then connected to the checked address.
Proxy settings of the environment are not read: a proxy would look up the name a second time.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache

import httpcore
import httpx

from omni.sandbox.egress.addresses import Lookup, resolve
from omni.sandbox.egress.decoding import unpacked
from omni.sandbox.egress.errors import (
    BadResponse,
    EgressError,
    Forbidden,
    TimedOut,
    TooLarge,
    Unreachable,
)
from omni.sandbox.egress.target import Target, follow, is_listed, parse_url
from omni.sandbox.egress.wire import CheckedBackend, Clock

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
REDIRECTS = frozenset({301, 302, 303, 307, 308})
# Said by the connection itself; another value would let two readers see two requests.
RESERVED = frozenset(
    {
        *("host", "content-length", "transfer-encoding", "connection", "keep-alive", "te"),
        *("trailer", "upgrade", "expect", "proxy-authorization", "proxy-connection"),
    }
)
PERSONAL = frozenset({"authorization", "cookie"})
AGENT = "omni"
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Bounds of one request with all its redirects."""

    seconds: float = 30.0
    """For everything together, from the name lookup to the last byte."""
    connect_seconds: float = 10.0
    body_bytes: int = 10 * 2**20
    """Of the answer, both as it is sent and unpacked."""
    header_bytes: int = 64 * 1024
    redirects: int = 5
    """How many are followed; with 0 the redirect itself is the answer."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to send; names and values are refused where they could hide a second request."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Headers that go to the request's own origin only, never along with a redirect."""


@dataclass(frozen=True, slots=True)
class Response:
    """An answer, unpacked and within its bounds; any status is one."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    url: str
    """Where it came from after redirects."""
    redirects: int = 0

    def header(self, name: str) -> str:
        """The values of a header, empty when it is not there."""
        return ", ".join(value for key, value in self.headers if key == name.lower())

    @property
    def media_type(self) -> str:
        return self.header("content-type").partition(";")[0].strip().lower()


@dataclass(frozen=True, slots=True)
class Opened:
    """An answer whose body is still on its way."""

    response: Response
    pieces: Iterator[bytes]


def fetch(
    request: Request,
    *,
    hosts: frozenset[str],
    limits: FetchLimits | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    allow_private: frozenset[str] = frozenset(),
    lookup: Lookup | None = None,
    tls: ssl.SSLContext | None = None,
) -> Response:
    """Send a request to one of the hosts and read the whole answer, or raise an EgressError."""
    with opened(
        request,
        hosts=hosts,
        limits=limits,
        cancelled=cancelled,
        allow_private=allow_private,
        lookup=lookup,
        tls=tls,
    ) as answer:
        return replace(answer.response, body=b"".join(answer.pieces))


@contextmanager
def opened(
    request: Request,
    *,
    hosts: frozenset[str],
    limits: FetchLimits | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    allow_private: frozenset[str] = frozenset(),
    lookup: Lookup | None = None,
    tls: ssl.SSLContext | None = None,
) -> Iterator[Opened]:
    """The same with the body in pieces, for answers that are read while they come."""
    limits = limits or FetchLimits()
    clock = Clock(limits.seconds, cancelled)
    sender = _Sender(hosts, limits, clock, allow_private, lookup, tls)
    try:
        with _followed(sender, _checked(request)) as answer:
            yield answer
    except EgressError as error:
        # An earlier hop may have seen the request, whatever the last one was refused for.
        error.sent = error.sent or clock.sent
        raise


@contextmanager
def _followed(sender: _Sender, hop: Request) -> Iterator[Opened]:
    most = sender.limits.redirects
    target = parse_url(hop.url)
    for followed in range(most + 1):
        with sender.exchange(hop, target) as answer:
            location = _location(answer.response, wanted=most > 0)
            if location is None:
                yield replace(answer, response=replace(answer.response, redirects=followed))
                return
        onward = follow(target, location)
        hop = _redirected(hop, answer.response.status, target, onward)
        target = onward
    raise BadResponse(f"The server redirected more than {most} times.")


@dataclass(frozen=True, slots=True)
class _Sender:
    """What all hops of a request have in common."""

    hosts: frozenset[str]
    limits: FetchLimits
    clock: Clock
    allow_private: frozenset[str]
    lookup: Lookup | None
    tls: ssl.SSLContext | None

    @contextmanager
    def exchange(self, request: Request, target: Target) -> Iterator[Opened]:
        backend = self.connector(target)
        origin = httpcore.Origin(target.scheme.encode(), target.host.encode(), target.port)
        connection = httpcore.HTTPConnection(
            origin,
            ssl_context=(self.tls or _trust()) if target.scheme == "https" else None,
            http2=False,
            network_backend=backend,
        )
        try:
            with _normalised():
                answer = connection.handle_request(self.on_the_wire(request, target))
                response = _understood(answer, target, self.limits)
                backend.headers_are_complete()
            yield Opened(response, self.body(request, answer, response))
        finally:
            connection.close()

    def connector(self, target: Target) -> CheckedBackend:
        """Only hosts on the list are even looked up."""
        if not is_listed(target, self.hosts):
            raise Forbidden(
                f"The host {target.place} is not among those that this request may reach.",
                data={"host": target.host, "port": target.port},
            )
        addresses = self.clock.in_time(
            lambda: resolve(
                target.host, target.port, allow_private=self.allow_private, lookup=self.lookup
            )
        )
        return CheckedBackend(addresses, self.clock, header_bytes=self.limits.header_bytes)

    def on_the_wire(self, request: Request, target: Target) -> httpcore.Request:
        given = {name.lower() for name in (*request.headers, *request.credentials)}
        headers = [("Host", target.authority), ("Connection", "close")]
        headers += [(n, v) for n, v in _USUAL.items() if n.lower() not in given]
        headers += [*request.headers.items(), *request.credentials.items()]
        if request.body or request.method in ("POST", "PUT", "PATCH"):
            headers.append(("Content-Length", str(len(request.body))))
        url = httpcore.URL(
            scheme=target.scheme.encode(),
            host=target.host.encode(),
            port=target.port,
            target=target.path.encode(),
        )
        return httpcore.Request(
            request.method,
            url,
            headers=[(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers],
            content=request.body,
            extensions={"timeout": {"connect": self.limits.connect_seconds}},
        )

    def body(
        self, request: Request, answer: httpcore.Response, response: Response
    ) -> Iterator[bytes]:
        """Its pieces, unpacked; both what comes and what it becomes are counted."""
        if request.method == "HEAD":
            return
        most = self.limits.body_bytes
        announced = response.header("content-length")
        if announced.isdecimal() and int(announced) > most:
            raise _too_large(most)
        with _normalised():
            size = 0
            raw = _counted(answer, most)
            for piece in unpacked(raw, response.header("content-encoding")):
                self.clock.slice()
                size += len(piece)
                if size > most:
                    raise _too_large(most)
                yield piece


_USUAL = {"User-Agent": AGENT, "Accept": "*/*", "Accept-Encoding": "gzip, deflate"}


def _counted(answer: httpcore.Response, most: int) -> Iterator[bytes]:
    size = 0
    for piece in answer.iter_stream():
        size += len(piece)
        if size > most:
            raise _too_large(most)
        yield piece


def _too_large(most: int) -> TooLarge:
    return TooLarge(f"The answer is larger than {most:,} bytes.")


def _checked(request: Request) -> Request:
    method = request.method.upper()
    if method not in METHODS:
        raise Forbidden(f"The method “{method[:20]!a}” is not used here.")
    for name, value in (*request.headers.items(), *request.credentials.items()):
        if not _TOKEN.fullmatch(name) or name.lower() in RESERVED:
            raise Forbidden(f"The header {name[:60]!a} cannot be set.")
        if not _VALUE.fullmatch(value) or value != value.strip():
            # The value may be a credential, so the message does not repeat it.
            raise Forbidden(f"The value of the header {name} contains what a header cannot.")
    return replace(request, method=method)


def _location(response: Response, *, wanted: bool) -> bytes | None:
    if not wanted or response.status not in REDIRECTS:
        return None
    values = [value for key, value in response.headers if key == "location"]
    if len(values) > 1:
        raise BadResponse("The server redirects to several places at once.")
    return values[0].encode("latin-1") if values else None


def _redirected(request: Request, status: int, here: Target, there: Target) -> Request:
    """The next hop: without a body where browsers drop it, without credentials elsewhere."""
    if here.scheme == "https" and there.scheme == "http":
        raise Forbidden("The server redirects from https to http.")
    method, body, headers = request.method, request.body, dict(request.headers)
    if (status == 303 and method != "HEAD") or (status in (301, 302) and method == "POST"):
        method, body = "GET", b""
        headers = {n: v for n, v in headers.items() if not n.lower().startswith("content-")}
    credentials = request.credentials
    if here.origin != there.origin:
        headers = {name: v for name, v in headers.items() if name.lower() not in PERSONAL}
        credentials = {}
    return replace(request, method=method, body=body, headers=headers, credentials=credentials)


def _understood(answer: httpcore.Response, target: Target, limits: FetchLimits) -> Response:
    if sum(len(name) + len(value) + 4 for name, value in answer.headers) > limits.header_bytes:
        raise TooLarge("The headers of the answer are too large.")
    headers = tuple(
        (name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in answer.headers
    )
    if answer.status < 200:
        raise BadResponse("The server wants to speak another protocol.")
    return Response(answer.status, headers, b"", target.url)


@contextmanager
def _normalised() -> Iterator[None]:
    """Whatever goes wrong on the wire is one of ours."""
    try:
        yield
    except EgressError:
        raise
    except httpcore.TimeoutException:
        raise TimedOut("There was no answer in time.") from None
    except httpcore.NetworkError as error:
        raise Unreachable(str(error) or "The connection broke.") from None
    except (httpcore.ProtocolError, ValueError):
        raise BadResponse("The server does not speak proper HTTP.") from None


@cache
def _trust() -> ssl.SSLContext:
    """The usual authorities, or those of SSL_CERT_FILE."""
    return httpx.create_ssl_context()
