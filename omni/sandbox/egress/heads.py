"""The first lines of a request to the proxy, read strictly: one reading, or none."""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass

LARGEST = 16 * 1024
_LINE = re.compile(r"([A-Z]{1,20}) (\S+) HTTP/1\.[01]")
_FIELD = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x21-\x7e\t ]*)")
_URL = re.compile(r"http://([^/?#@\s]+)([/?][^#\s]*)?", re.IGNORECASE)
# These are between the caller and us; `host` is written anew from what was checked.
OURS = {
    "connection", "keep-alive", "te", "trailer", "upgrade", "host", "expect", "content-length",
    "proxy-authorization", "proxy-connection", "proxy-authenticate",
}  # fmt: skip


class BadHead(Exception):
    """It cannot be served; `code` is the HTTP status."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Head:
    """`tunnel` for CONNECT; `length` of the body of any other request."""

    method: str
    place: str
    path: str
    fields: tuple[tuple[str, str], ...]
    length: int = 0

    @property
    def tunnel(self) -> bool:
        return self.method == "CONNECT"

    def for_server(self, host: str, port: int) -> bytes:
        """As the server gets it: its own name, one request, then the end."""
        shown = f"[{host}]" if ":" in host else host
        lines = [f"{self.method} {self.path} HTTP/1.1"]
        lines.append(f"Host: {shown}" if port == 80 else f"Host: {shown}:{port}")
        lines += [f"{name}: {value}" for name, value in self.fields if name.lower() not in OURS]
        if self.length or self.method in ("POST", "PUT", "PATCH"):
            lines.append(f"Content-Length: {self.length}")
        return "\r\n".join([*lines, "Connection: close", "", ""]).encode()


def read_head(caller: socket.socket) -> tuple[Head, bytes]:
    """The head, and what came after it already."""
    data = b""
    while b"\r\n\r\n" not in data:
        if len(data) > LARGEST:
            raise BadHead(431, "The head of the request is too long.")
        piece = caller.recv(4096)
        if not piece:
            raise BadHead(400, "The request ended in its head.")
        data += piece
    text, _, rest = data.partition(b"\r\n\r\n")
    return parse(text), rest


def parse(head: bytes) -> Head:
    try:
        first, *lines = head.decode("ascii").split("\r\n")
    except UnicodeDecodeError:
        raise BadHead(400, "The head of the request has letters that are not accepted.") from None
    line = _LINE.fullmatch(first)
    fields = [_FIELD.fullmatch(each) for each in lines]
    if line is None or not all(fields):
        raise BadHead(400, "The head of the request is not well formed.")
    named = tuple((each[1], each[2].rstrip()) for each in fields if each)
    method, target = line[1], line[2]
    if method == "CONNECT":
        return Head(method, target, "", named)
    url = _URL.fullmatch(target)
    if url is None:
        raise BadHead(400, "Only http:// addresses and CONNECT are served.")
    path = url[2] or "/"
    path = path if path.startswith("/") else f"/{path}"
    return Head(method, url[1], path, named, _length(named))


def _length(fields: tuple[tuple[str, str], ...]) -> int:
    if any(name.lower() == "transfer-encoding" for name, _ in fields):
        raise BadHead(411, "A body needs a Content-Length.")
    found = {value for name, value in fields if name.lower() == "content-length"}
    if not found:
        return 0
    value = found.pop()
    if found or not re.fullmatch(r"[0-9]{1,12}", value):
        raise BadHead(400, "The Content-Length is not a number.")
    return int(value)
