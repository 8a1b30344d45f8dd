"""Calls of `openapi_proxy` tools: built from the pinned document, sent, checked on return."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from apps.tools.executors.base import Call, Outcome, ToolError
from apps.tools.executors.openapi import requests, responses
from apps.tools.executors.openapi.compiler import EXECUTOR_VERSION, FILE_BYTES, OUTPUT_BYTES
from apps.tools.executors.openapi.document import Document, Unusable, open_document
from apps.tools.executors.openapi.operations import Operation, operations_of
from apps.tools.executors.openapi.schemas import SchemaWriter
from apps.tools.executors.openapi.security import Placement, Signed, placements, sign
from apps.tools.selectors import openapi_text
from omni.contracts.bounds import check_bounds
from omni.contracts.errors import InvalidInput, OmniError
from omni.contracts.foreign import ForeignSchema
from omni.contracts.types.tool_manifest import OpenapiProxyConfig
from omni.sandbox.egress.addresses import opened_places
from omni.sandbox.egress.client import FetchLimits, Request, Response, fetch
from omni.sandbox.egress.errors import Cancelled, EgressError

Texts = Callable[[uuid.UUID, str], str]
"""From a project and a hash to the text of the document, NotFound when the project has none."""


class OpenapiExecutor:
    """Sends one operation of an HTTP API."""

    kind = "openapi_proxy"
    version = EXECUTOR_VERSION

    def __init__(
        self,
        texts: Texts = openapi_text,
        places: Callable[[], frozenset[str]] = opened_places,
    ) -> None:
        self._texts = texts
        self._places = places

    def execute(self, call: Call) -> Outcome:
        config = _config(call)
        document, operation = self._pinned(call, config)
        placed = _placed(document, operation, config)
        request, cookies = requests.build(
            document,
            operation,
            call.arguments,
            base_url=config["base_url"],
            call_id=call.call_id,
            placed=placed,
        )
        credentials = sign(placed, {each.secret: call.secret(each.secret) for each in placed})
        response = self._sent(call, requests.signed(request, cookies, credentials))
        return _outcome(call, document, operation, response, credentials)

    def _pinned(self, call: Call, config: OpenapiProxyConfig) -> tuple[Document, Operation]:
        sha256 = config["document_sha256"]
        try:
            text = self._texts(call.project_id, sha256)
        except OmniError:
            raise ToolError(
                "misconfigured",
                "The OpenAPI document of this tool is not in the project.",
                remedy="Add it again, or install the tool anew.",
            ) from None
        if hashlib.sha256(text.encode()).hexdigest() != sha256:
            raise ToolError("quarantined", "The stored document is not the one that was accepted.")
        document, operations = _indexed(text)
        operation = operations.get(config["operation_id"])
        if operation is None:
            raise ToolError("misconfigured", "The document has no such operation.")
        return document, operation

    def _sent(self, call: Call, request: Request) -> Response:
        limits = call.manifest["limits"]
        most = max(limits.get("output_bytes", OUTPUT_BYTES), limits.get("file_bytes", FILE_BYTES))
        try:
            return fetch(
                request,
                hosts=frozenset(call.hosts),
                limits=FetchLimits(seconds=limits["wall_seconds"], body_bytes=most),
                cancelled=call.run.cancelled,
                allow_private=self._places(),
            )
        except EgressError as error:
            repeatable = call.manifest["idempotency"] != "not_idempotent"
            if error.sent and not repeatable and not isinstance(error, Cancelled):
                raise ToolError(
                    "outcome_unknown",
                    f"The request was sent, but its outcome is not known. {error.message}",
                    data=error.data,
                ) from None
            raise ToolError(
                error.tool_error, error.message, remedy=error.remedy, data=error.data
            ) from None


@lru_cache(maxsize=4)
def _indexed(text: str) -> tuple[Document, dict[str, Operation]]:
    """Reading a large document takes a second; calls of its tools come in a row."""
    try:
        document = open_document(text)
    except InvalidInput as error:
        raise ToolError("misconfigured", error.message) from None
    found = (each for each in operations_of(document) if isinstance(each, Operation))
    return document, {each.key: each for each in found}


def _config(call: Call) -> OpenapiProxyConfig:
    executor = call.manifest["executor"]
    if executor["kind"] != "openapi_proxy":
        raise ToolError("misconfigured", f"This tool runs with {executor['kind']}.")
    return executor["config"]


def _placed(
    document: Document, operation: Operation, config: OpenapiProxyConfig
) -> tuple[Placement, ...]:
    secrets, single = config.get("credentials", {}), config.get("credential", "")
    placed = placements(document, operation, secrets, single)
    if placed is None and (secrets or single):
        raise ToolError(
            "misconfigured", "The document says nothing about where the tool's credential goes."
        )
    return placed or ()


def _outcome(
    call: Call,
    document: Document,
    operation: Operation,
    response: Response,
    credentials: Signed,
) -> Outcome:
    body = responses.hide(response.body, credentials.spellings)
    if response.status >= 400:
        raise responses.failure(response, body, signed=bool(credentials.spellings))
    output, files = responses.output_of(operation, response, body)
    if not files and len(body) > call.manifest["limits"].get("output_bytes", OUTPUT_BYTES):
        raise ToolError("limit_exceeded", f"The answer has {len(body):,} bytes, which is too much.")
    _check(call, document, operation, response.status, output)
    facts = {"status": response.status, "bytes": len(body), "redirects": response.redirects}
    return Outcome(output, files, data={**facts, "media_type": response.media_type})


def _check(call: Call, document: Document, operation: Operation, status: int, output: Any) -> None:
    """Against what the document promises for this status, else for any good one."""
    try:
        check_bounds(output)
        answer = responses.promised(operation, status)
        if answer is None or operation.method == "HEAD":
            return
        schema = _answer_schema(document, answer) or call.manifest["output_schema"]
        ForeignSchema(schema).validate(output, what="The answer")
    except InvalidInput as error:
        raise responses.wrong_shape(error) from None


def _answer_schema(document: Document, answer: dict[str, Any]) -> dict[str, Any] | None:
    """None where the whole is too much to check; the manifest then has what can be checked."""
    writer = SchemaWriter(document, "response")
    try:
        schema = writer.finished(responses.schema_of_answer(writer, answer))
        ForeignSchema(schema)
    except (InvalidInput, Unusable):
        return None
    return schema
