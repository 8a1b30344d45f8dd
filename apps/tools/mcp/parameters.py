"""What may be said of a server: its address, command, headers and credentials, each checked."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from apps.tools.models import McpServer
from omni.contracts.errors import InvalidInput, OmniError
from omni.sandbox.egress.addresses import check_host
from omni.telemetry.shapes import is_sensitive

HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
PRINTABLE = re.compile(r"[\x20-\x7e]{0,4000}")
TEMPLATE = re.compile(r"[\x20-\x7e]{0,100}secret://[A-Za-z][A-Za-z0-9_.-]{0,63}")
OWN_HEADERS = frozenset(
    {"host", "content-length", "content-type", "connection", "transfer-encoding", "accept",
     "upgrade", "te", "trailer", "last-event-id"}
)  # fmt: skip
MOST = 50


def check(server: McpServer) -> None:
    """Refuse what is contradictory, unsafe, or a secret in the wrong place."""
    if server.transport == McpServer.Transport.STDIO:
        _command(server)
        _map("environment", server.environment, VARIABLE, PRINTABLE)
        _map("credentials", server.credentials, VARIABLE, TEMPLATE)
        _refuse(server, "url", "headers")
        _hosts(server.egress)
    else:
        _url(server.url)
        _map("headers", server.headers, HEADER, PRINTABLE)
        _map("credentials", server.credentials, HEADER, TEMPLATE)
        for name in (*server.headers, *server.credentials):
            if name.lower() in OWN_HEADERS or name.lower().startswith("mcp-"):
                raise InvalidInput.field("headers", f"{name} belongs to the protocol.")
        _refuse(server, "command", "environment", "egress")
    _private(server.allowed_private)
    _refuse_plain_secrets(server)


def _refuse_plain_secrets(server: McpServer) -> None:
    """Names that stand for secrets take a reference, so that no value is ever stored here."""
    for field in ("headers", "environment"):
        for name in getattr(server, field):
            if is_sensitive(name):
                message = f"{name} is a credential; store a secret and refer to it."
                raise InvalidInput.field(field, message)


def _refuse(server: McpServer, *fields: str) -> None:
    for name in fields:
        if getattr(server, name):
            raise InvalidInput.field(name, "This transport does not use it.")


def _url(url: str) -> None:
    try:
        parts = urlsplit(url)
        port = parts.port
        host = check_host(parts.hostname or "")
    except ValueError:
        raise InvalidInput.field("url", "This is not an address.") from None
    except OmniError as error:
        raise InvalidInput.field("url", error.message) from None
    if parts.scheme not in ("http", "https") or not host or port == 0:
        raise InvalidInput.field("url", "Give an address that starts with https:// or http://.")
    if parts.username or parts.password or parts.fragment or re.search(r"[\s\x00-\x1f]", url):
        message = "Leave out user names, passwords, fragments and spaces."
        raise InvalidInput.field("url", message)


def _command(server: McpServer) -> None:
    words = server.command
    if not isinstance(words, list) or not words or len(words) > MOST:
        raise InvalidInput.field("command", "Give the program and its arguments.")
    if not all(isinstance(word, str) and len(word) <= 1000 and "\0" not in word for word in words):
        raise InvalidInput.field("command", "Each part of the command is a text.")


def _map(field: str, value: Any, names: re.Pattern[str], values: re.Pattern[str]) -> None:
    if not isinstance(value, dict) or len(value) > MOST:
        raise InvalidInput.field(field, "Give names with their values.")
    for name, text in value.items():
        if not names.fullmatch(name):
            raise InvalidInput.field(field, f"“{name[:50]}” cannot be a name here.")
        if not isinstance(text, str) or not values.fullmatch(text):
            message = f"{name} needs plain text on one line."
            if values is TEMPLATE:
                message = f"{name} must end in a reference such as secret://NAME."
            raise InvalidInput.field(field, message)


def _hosts(hosts: Any) -> None:
    if not isinstance(hosts, list) or len(hosts) > MOST:
        raise InvalidInput.field("egress", "Give a list of host names.")
    for each in hosts:
        _host("egress", str(each).removeprefix("*."))


def _private(pairs: Any) -> None:
    if not isinstance(pairs, list) or len(pairs) > MOST:
        raise InvalidInput.field("allowed_private", "Give a list such as 10.0.0.5:8080.")
    for each in pairs:
        host, _, port = str(each).rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
            raise InvalidInput.field("allowed_private", "Give host and port: 10.0.0.5:8080.")
        _host("allowed_private", host)


def _host(field: str, host: str) -> None:
    try:
        check_host(host)
    except OmniError as error:
        raise InvalidInput.field(field, error.message) from None
