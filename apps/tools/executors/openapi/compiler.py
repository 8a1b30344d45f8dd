"""From a document to tool manifests, one for each operation that can be one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from apps.tools.executors.openapi.document import Document, Unusable, sequence
from apps.tools.executors.openapi.media import kind_of
from apps.tools.executors.openapi.operations import (
    Body,
    Operation,
    Skipped,
    operations_of,
    server_url,
)
from apps.tools.executors.openapi.responses import schema_of_answer, successes, union
from apps.tools.executors.openapi.schemas import FAR, Direction, SchemaWriter
from apps.tools.executors.openapi.security import Placement, covers, needs_credential, placements
from omni.contracts.canonical import canonical, digest
from omni.contracts.errors import InvalidInput, OmniError
from omni.contracts.foreign import ForeignSchema
from omni.contracts.types.tool_manifest import ToolManifest
from omni.contracts.validation import validate
from omni.sandbox.egress.errors import Forbidden
from omni.sandbox.egress.target import Target, parse_url

EXECUTOR_VERSION = "1.0.0"
# Larger ones help no model; what lies further away is then left open.
MAX_SCHEMA = 64 * 1024
REACHES = (FAR, 3, 1, 0)
MAX_BASE = 1500
WALL_SECONDS = 60
OUTPUT_BYTES = 1024 * 1024
FILE_BYTES = 10 * 1024 * 1024
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class Tool:
    """One operation as a manifest; `notes` say what its schemas leave open."""

    operation: Operation
    manifest: ToolManifest
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Compiled:
    """What a document gave."""

    tools: list[Tool] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


def manifests_of(
    document: Document,
    base_url: str = "",
    credential: str | Mapping[str, str] | None = None,
    *,
    prefix: str = "",
) -> Compiled:
    """Manifests of all operations, and the reasons why others are none; never raises for those.

    Without a base URL the document's first server is used. The credential is a reference to a
    secret, or one for each security scheme by its name.
    """
    base = _base(base_url or default_server(document))
    compiler = _Compiler(document, base, credential, _prefix(prefix or document.title))
    compiled = Compiled()
    for each in operations_of(document):
        if isinstance(each, Skipped):
            compiled.skipped.append(each)
            continue
        try:
            compiled.tools.append(compiler.tool(each))
        except (Unusable, OmniError) as why:
            reason = why.message if isinstance(why, OmniError) else f"{str(why).capitalize()}."
            compiled.skipped.append(Skipped(each.method, each.path, reason[:500]))
    return compiled


def default_server(document: Document, source_url: str = "") -> str:
    """The document's first server, seen from where the document lies; empty when there is none."""
    servers = sequence(document.root.get("servers"))
    found = (server_url(each, source_url) for each in servers or [{"url": "/"}])
    return next((url for url in found if url), "")


def _base(url: str) -> str:
    if not url:
        raise InvalidInput(
            "The document names no server with a full address.",
            remedy="Give the base URL of the API.",
            data={"errors": {"base_url": ["A base URL is needed."]}},
        )
    if len(url) > MAX_BASE:
        raise InvalidInput.field("base_url", "The base URL is too long.")
    try:
        target = parse_url(url)
    except Forbidden as error:
        raise InvalidInput.field("base_url", error.message) from None
    if "?" in target.path or ":" in target.host:
        raise InvalidInput.field("base_url", "A base URL has a host name and no query.")
    return target.url.rstrip("/")


class _Compiler:
    def __init__(
        self,
        document: Document,
        base: str,
        credential: str | Mapping[str, str] | None,
        prefix: str,
    ) -> None:
        self._document = document
        self._base = base
        self._single = credential if isinstance(credential, str) else ""
        self._secrets = (
            {} if credential is None or isinstance(credential, str) else dict(credential)
        )
        self._prefix = prefix
        self._taken: set[str] = set()
        self._version = self._stamped_version()

    def tool(self, operation: Operation) -> Tool:
        notes: list[str] = []
        base = self._server(operation, notes)
        target = parse_url(base)
        placed = self._placed(operation, target, notes)
        write = operation.method not in SAFE
        manifest: dict[str, Any] = {
            "name": self._name(operation),
            "version": self._version,
            "description": _description(operation),
            "input_schema": self._fitting("request", self._input(operation, placed), notes),
            "output_schema": self._fitting("response", _output(operation), notes),
            "scopes": [f"network.egress:{target.host}"],
            "capabilities": ["external_write" if write else "read", "network_egress"],
            "executor": {
                "kind": "openapi_proxy",
                "version": EXECUTOR_VERSION,
                "config": self._config(operation, base, placed),
            },
            "limits": {
                "wall_seconds": WALL_SECONDS,
                "output_bytes": OUTPUT_BYTES,
                "file_bytes": FILE_BYTES,
            },
            "idempotency": _idempotency(operation),
            "risk": _risk(operation.method),
        }
        if title := " ".join(operation.summary.split())[:200]:
            manifest["title"] = title
        if operation.deprecated:
            manifest["deprecated"] = "The document of the API marks this operation as deprecated."
        validate("tool-manifest", manifest)
        return Tool(operation, cast(ToolManifest, manifest), tuple(notes))

    def _server(self, operation: Operation, notes: list[str]) -> str:
        if not operation.server:
            return self._base
        own = _base(operation.server)
        if parse_url(own).origin != parse_url(self._base).origin:
            # A document must not lead a credential to a server that nobody chose.
            notes.append(f"It has a server of its own, {own}, which gets no credential.")
        return own

    def _placed(
        self, operation: Operation, target: Target, notes: list[str]
    ) -> tuple[Placement, ...]:
        if target.origin == parse_url(self._base).origin:
            placed = placements(self._document, operation, self._secrets, self._single)
            if placed:
                return placed
        if needs_credential(operation):
            notes.append("It needs a credential that it was not given.")
        return ()

    def _config(
        self, operation: Operation, base: str, placed: tuple[Placement, ...]
    ) -> dict[str, Any]:
        config: dict[str, Any] = {
            "document_sha256": self._document.sha256,
            "operation_id": operation.key,
            "base_url": base,
        }
        if placed:
            config["credentials"] = {each.scheme: each.secret for each in placed}
        return config

    def _name(self, operation: Operation) -> str:
        base = f"{self._prefix}.{_word(operation.key)[:64].strip('_-') or 'operation'}"
        name, number = base, 2
        while name in self._taken:
            name, number = f"{base}_{number}", number + 1
        self._taken.add(name)
        return name

    def _stamped_version(self) -> str:
        """The document's version, and a stamp that differs when anything else does."""
        numbers = [int(each) for each in re.findall(r"[0-9]{1,9}", self._document.version)[:3]]
        major, minor, patch = [*numbers, 0, 0, 0][:3] if numbers else (1, 0, 0)
        origin = [self._document.sha256, self._base, self._single, self._secrets, self._prefix]
        return f"{major}.{minor}.{patch}+{digest(origin)[:12]}"

    def _input(
        self, operation: Operation, placed: tuple[Placement, ...]
    ) -> Callable[[SchemaWriter], Any]:
        def write(writer: SchemaWriter) -> Any:
            properties: dict[str, Any] = {}
            required: list[str] = []
            for each in operation.parameters:
                keyed = each.place == "header" and each.name == operation.keyed_by
                if keyed or covers(placed, each):
                    continue
                shape = writer.write(each.schema)
                properties[each.argument] = _described(shape, each.description)
                if each.required:
                    required.append(each.argument)
            if operation.body is not None:
                properties["body"] = _body_shape(writer, operation.body)
                if operation.body.required:
                    required.append("body")
            shape = {"type": "object", "properties": properties, "additionalProperties": False}
            return {**shape, "required": required} if required else shape

        return write

    def _fitting(
        self, direction: Direction, write: Callable[[SchemaWriter], Any], notes: list[str]
    ) -> dict[str, Any]:
        """The most precise schema that is harmless and not too large."""
        reason = ""
        for reach in REACHES:
            writer = SchemaWriter(self._document, direction, reach=reach)
            try:
                schema = writer.finished(write(writer))
                if len(canonical(schema)) > MAX_SCHEMA:
                    raise Unusable("its schema is too large")
                ForeignSchema(schema)
            except InvalidInput as error:
                reason = error.message
            except Unusable as error:
                if reach == FAR and "refers to" in str(error):
                    raise
                reason = str(error)
            else:
                if reason:
                    notes.append(f"The {direction} is checked in part only: {reason}"[:300])
                return schema
        if direction == "response":
            notes.append(f"The response is not checked: {reason}"[:300])
            return {}
        raise Unusable(f"its schema cannot be used: {reason}")


def _output(operation: Operation) -> Callable[[SchemaWriter], Any]:
    def write(writer: SchemaWriter) -> Any:
        shapes = [
            {"type": "null"} if code in ("204", "205") else schema_of_answer(writer, each)
            for code, each in successes(operation).items()
        ]
        if operation.method == "HEAD":
            return {"type": "null"}
        return union(shapes)

    return write


def _body_shape(writer: SchemaWriter, body: Body) -> Any:
    kind = kind_of(body.media_type)
    if kind == "binary":
        words = f"Bytes of type {body.media_type}, as base64."
        return {"type": "string", "contentEncoding": "base64", "description": words[:300]}
    if kind == "text":
        return {"type": "string", "description": f"Text of type {body.media_type}."[:300]}
    return writer.write(body.schema)


def _described(shape: Any, words: str) -> Any:
    if not words or not isinstance(shape, dict) or "description" in shape:
        return shape
    return {**shape, "description": words[:400]}


def _description(operation: Operation) -> str:
    words = [each for each in (operation.summary, operation.description) if each]
    if len(words) == 2 and words[0] in words[1]:
        words = words[1:]
    text = "\n\n".join(words) or f"{operation.method} {operation.path}"
    return text if len(text) <= 2000 else f"{text[:1999]}…"


def _idempotency(operation: Operation) -> str:
    if operation.method in ("GET", "HEAD", "OPTIONS", "PUT", "DELETE"):
        return "idempotent"
    return "keyed" if operation.keyed_by else "not_idempotent"


def _risk(method: str) -> str:
    if method in SAFE:
        return "low"
    return "high" if method == "DELETE" else "medium"


def _prefix(text: str) -> str:
    word = _word(text)
    word = word if word[:1].isalpha() else f"api_{word}"
    return word[:32].strip("_")


def _word(text: str) -> str:
    """`listPets` and `List pets!` become `list_pets`."""
    text = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", text)
    text = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", text)
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
