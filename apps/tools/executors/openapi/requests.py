"""One call as an HTTP request: parameters in their places, the body encoded, credentials last."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from apps.tools.executors.base import ToolError
from apps.tools.executors.openapi.bodies import encode
from apps.tools.executors.openapi.document import Document
from apps.tools.executors.openapi.operations import Operation, Parameter
from apps.tools.executors.openapi.parameters import (
    Pairs,
    escaped,
    in_cookie,
    in_header,
    in_path,
    in_query,
)
from apps.tools.executors.openapi.responses import accepted
from apps.tools.executors.openapi.security import Placement, Signed, covers
from omni.sandbox.egress.client import Request

_DOTS = re.compile(r"(\.|%2e){1,2}", re.IGNORECASE)


def build(
    document: Document,
    operation: Operation,
    arguments: Mapping[str, Any],
    *,
    base_url: str,
    call_id: str,
    placed: tuple[Placement, ...] = (),
) -> tuple[Request, Pairs]:
    """The request without credentials, and its cookies, which join theirs at the end."""
    path = operation.path
    query: Pairs = []
    cookies: Pairs = []
    headers = {"Accept": accepted(operation)}
    for parameter in operation.parameters:
        if covers(placed, parameter):
            continue
        if parameter.place == "header" and parameter.name == operation.keyed_by:
            headers[parameter.name] = call_id
            continue
        if parameter.argument not in arguments:
            continue
        value = arguments[parameter.argument]
        if parameter.place == "path":
            path = path.replace(f"{{{parameter.name}}}", _segment(parameter, value))
        elif parameter.place == "query":
            query += in_query(parameter, value)
        elif parameter.place == "header":
            headers[parameter.name] = in_header(parameter, value)
        else:
            cookies += in_cookie(parameter, value)
    _check_path(path)
    body = b""
    if operation.body is not None and "body" in arguments:
        headers["Content-Type"], body = encode(document, operation.body, arguments["body"])
    url = base_url + path + _joined(query)
    return Request(operation.method, url, headers, body), cookies


def signed(request: Request, cookies: Pairs, credentials: Signed) -> Request:
    """The last step before it is sent."""
    own = dict(credentials.headers)
    jar = [*cookies, *((name, escaped(value)) for name, value in credentials.cookies)]
    if jar:
        own["Cookie"] = "; ".join(f"{name}={value}" for name, value in jar)
    extra = [(escaped(name), escaped(value)) for name, value in credentials.query]
    separator = "&" if "?" in request.url else "?"
    url = request.url + (separator + _joined(extra)[1:] if extra else "")
    taken = {name.lower() for name in own}
    headers = {n: v for n, v in request.headers.items() if n.lower() not in taken}
    return Request(request.method, url, headers, request.body, own)


def _joined(pairs: Pairs) -> str:
    return "?" + "&".join(f"{name}={value}" for name, value in pairs) if pairs else ""


def _segment(parameter: Parameter, value: Any) -> str:
    written = in_path(parameter, value)
    if not written or written in (".", ";"):
        # `/users/{id}` without an id would mean all of them.
        raise ToolError("invalid_input", f"The argument {parameter.argument} is empty.")
    return written


def _check_path(path: str) -> None:
    """A value of `..` would climb to another operation than the one that was approved."""
    if any(_DOTS.fullmatch(segment) for segment in path.split("/")):
        raise ToolError("invalid_input", "An argument would lead out of the operation's path.")
