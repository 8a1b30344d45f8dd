"""The operations of a document, each with its parameters, body, answers and security."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin, urlsplit

from apps.tools.executors.openapi.document import Document, Node, Unusable, mapping, sequence
from apps.tools.executors.openapi.media import preferred

METHODS = ("get", "put", "post", "delete", "options", "head", "patch")
MAX_OPERATIONS = 3000
MAX_PARAMETERS = 200
PLACES = ("path", "query", "header", "cookie")
STYLES = {
    "path": ("simple", "label", "matrix"),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "header": ("simple",),
    "cookie": ("form",),
}
# Set by the connection, the body or the credentials; documents that list them are ignored there.
TAKEN = frozenset({"accept", "content-type", "authorization"})
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_COOKIE = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z\[\]-]+")
_UNSAFE_HEADERS = frozenset(
    {
        *("host", "content-length", "transfer-encoding", "connection", "keep-alive", "te"),
        *("trailer", "upgrade", "expect", "cookie", "proxy-authorization", "proxy-connection"),
    }
)
_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One value that goes into the path, the query, a header or a cookie."""

    argument: str
    """Its name among the arguments of the tool."""
    name: str
    place: str
    style: str
    explode: bool
    required: bool
    schema: Any
    media_type: str = ""
    """Set when its value is written as a document of this type."""
    allow_reserved: bool = False
    description: str = ""


@dataclass(frozen=True, slots=True)
class Body:
    """What is sent: its kind of document, and how the parts of a form are written."""

    media_type: str
    schema: Any
    required: bool
    encoding: Node = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path."""

    key: str
    """Names it within the document: its operation id, or method and path."""
    method: str
    path: str
    summary: str
    description: str
    deprecated: bool
    tags: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    body: Body | None
    responses: Node
    security: tuple[tuple[str, ...], ...]
    """Alternatives; each lists the schemes that it needs together."""
    server: str
    """Of its own, empty when it has none."""

    @property
    def keyed_by(self) -> str:
        """The header that makes repeating safe, when the document declares one."""
        names = (p.name for p in self.parameters if p.place == "header")
        return next((name for name in names if name.lower() == "idempotency-key"), "")


@dataclass(frozen=True, slots=True)
class Skipped:
    """An operation that cannot become a tool, and why."""

    method: str
    path: str
    reason: str


def operations_of(document: Document) -> Iterator[Operation | Skipped]:
    """Every operation, in the order of the document; never raises for one that is wrong."""
    count = 0
    twice = _repeated_ids(document)
    for path, item in document.root["paths"].items():
        if str(path).startswith("x-"):
            continue
        try:
            item = document.follow(item, "the path")
            if not str(path).startswith("/") or not str(path).isprintable() or len(path) > 1000:
                raise Unusable("its path is not a proper path")
        except Unusable as why:
            yield Skipped("", _shown(path), _sentence(why))
            continue
        for method in METHODS:
            if method not in item:
                continue
            count += 1
            if count > MAX_OPERATIONS:
                yield Skipped("", "", f"There are more than {MAX_OPERATIONS} operations.")
                return
            try:
                yield _operation(document, path, method, item, twice)
            except Unusable as why:
                yield Skipped(method.upper(), _shown(path), _sentence(why))


def _operation(
    document: Document, path: str, method: str, item: Node, twice: frozenset[str]
) -> Operation:
    node = document.follow(item[method], "the operation")
    parameters = _parameters(document, item, node)
    _check_path(path, parameters)
    body = _body(document, node) if method not in ("get", "head", "options") else None
    given = node.get("operationId")
    key = f"{method.upper()} {path}"
    if isinstance(given, str) and given.isprintable() and given not in twice:
        key = given if 0 < len(given) <= 200 else key
    if len(key) > 200:
        raise Unusable("it has no operation id, and its path is too long to name it by")
    return Operation(
        key=key,
        method=method.upper(),
        path=path,
        summary=_text(node.get("summary") or item.get("summary")),
        description=_text(node.get("description") or item.get("description")),
        deprecated=node.get("deprecated") is True,
        tags=tuple(str(tag) for tag in sequence(node.get("tags")) if isinstance(tag, str)),
        parameters=parameters,
        body=body,
        responses=_responses(document, node),
        security=_security(document, node),
        server=_server(node) or _server(item),
    )


def _repeated_ids(document: Document) -> frozenset[str]:
    seen: set[str] = set()
    twice: set[str] = set()
    for item in document.root["paths"].values():
        for method in METHODS:
            given = mapping(mapping(item).get(method)).get("operationId")
            if isinstance(given, str):
                (twice if given in seen else seen).add(given)
    return frozenset(twice)


def _parameters(document: Document, item: Node, node: Node) -> tuple[Parameter, ...]:
    """The path's and the operation's own, which win."""
    found: dict[tuple[str, str], Node] = {}
    for each in (*sequence(item.get("parameters")), *sequence(node.get("parameters"))):
        spec = document.follow(each, "a parameter")
        name, place = spec.get("name"), spec.get("in")
        if not isinstance(name, str) or not name or place not in PLACES:
            raise Unusable("a parameter has no name or place")
        if place == "header" and name.lower() in TAKEN:
            continue
        found[name, place] = spec
    if len(found) > MAX_PARAMETERS:
        raise Unusable("it has too many parameters")
    taken = {"body"}
    return tuple(_parameter(spec, name, place, taken) for (name, place), spec in found.items())


def _parameter(spec: Node, name: str, place: str, taken: set[str]) -> Parameter:
    _check_name(name, place)
    style = spec.get("style") or STYLES[place][0]
    if style not in STYLES[place]:
        raise Unusable(f"the parameter {name} has the style {str(style)[:40]} in a {place}")
    content = mapping(spec.get("content"))
    media_type = next(iter(content), "") if content else ""
    schema = mapping(content[media_type]).get("schema") if media_type else spec.get("schema")
    explode = spec.get("explode")
    return Parameter(
        argument=_argument(name, place, taken),
        name=name,
        place=place,
        style=str(style),
        explode=explode if isinstance(explode, bool) else style == "form",
        required=spec.get("required") is True or place == "path",
        schema=schema if isinstance(schema, dict | bool) else {},
        media_type=str(media_type),
        allow_reserved=spec.get("allowReserved") is True,
        description=_text(spec.get("description")),
    )


def _check_name(name: str, place: str) -> None:
    if not name.isprintable() or len(name) > 200:
        raise Unusable("a parameter has a name that cannot be sent")
    if place == "header" and (not _HEADER.fullmatch(name) or name.lower() in _UNSAFE_HEADERS):
        raise Unusable(f"the header {name[:60]} cannot be set")
    if place == "cookie" and not _COOKIE.fullmatch(name):
        raise Unusable(f"the cookie {name[:60]} has a name that cannot be sent")


def _argument(name: str, place: str, taken: set[str]) -> str:
    """A name that every model's provider accepts, unique within the tool."""
    base = re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip("_.-")[:56] or place
    for candidate in (base, f"{base}_{place}"):
        if candidate not in taken:
            taken.add(candidate)
            return candidate
    number = 2
    while f"{base}_{number}" in taken:
        number += 1
    taken.add(f"{base}_{number}")
    return f"{base}_{number}"


def _check_path(path: str, parameters: tuple[Parameter, ...]) -> None:
    wanted = set(_PLACEHOLDER.findall(path))
    given = {each.name for each in parameters if each.place == "path"}
    if missing := sorted(wanted - given):
        raise Unusable(f"the path needs {missing[0][:60]}, which is not among the parameters")
    if surplus := sorted(given - wanted):
        raise Unusable(f"the path has no place for the parameter {surplus[0][:60]}")


def _body(document: Document, node: Node) -> Body | None:
    if node.get("requestBody") is None:
        return None
    spec = document.follow(node["requestBody"], "the body")
    content = mapping(spec.get("content"))
    media_type = preferred(content)
    if media_type is None:
        return None
    offer = mapping(content[media_type])
    schema = offer.get("schema")
    return Body(
        media_type=media_type,
        schema=schema if isinstance(schema, dict | bool) else {},
        required=spec.get("required") is True,
        encoding=mapping(offer.get("encoding")),
    )


def _responses(document: Document, node: Node) -> Node:
    found: Node = {}
    for status, each in mapping(node.get("responses")).items():
        if re.fullmatch(r"[1-5]([0-9]{2}|XX)|default", str(status).replace("x", "X")):
            known = document.follow(each, f"the answer {status}")
            found[str(status).replace("x", "X")] = known
    return found


def _security(document: Document, node: Node) -> tuple[tuple[str, ...], ...]:
    stated = node.get("security", document.root.get("security"))
    return tuple(
        tuple(str(name) for name in each) for each in sequence(stated) if isinstance(each, dict)
    )


def _server(node: Node) -> str:
    servers = sequence(node.get("servers"))
    return server_url(servers[0]) if servers else ""


def server_url(server: Any, source_url: str = "") -> str:
    """The address of a server with its variables' defaults; empty unless it is absolute."""
    spec = mapping(server)
    variables = mapping(spec.get("variables"))
    url = _PLACEHOLDER.sub(
        lambda match: str(mapping(variables.get(match[1])).get("default", "")),
        str(spec.get("url") or ""),
    )
    try:
        url = urljoin(source_url, url) if source_url else url
        parts = urlsplit(url)
        absolute = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return ""
    return url if absolute and not parts.query and not parts.fragment else ""


def _text(value: Any) -> str:
    if not isinstance(value, str):
        return ""
    return value.replace("\x00", "").encode("utf-8", "replace").decode().strip()[:4000]


def _shown(path: Any) -> str:
    return "".join(c if c.isprintable() else "?" for c in str(path))[:300]


def _sentence(why: Unusable) -> str:
    text = str(why)
    return f"{text[:1].upper()}{text[1:]}."
