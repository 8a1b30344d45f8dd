"""The OpenAPI 3.1 document: what DRF knows, plus problems, keys and who may sign in how."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import Direction

from apps.registry.api.permissions import needed_scope
from omni.contracts.problem import CONTENT_TYPE

PROBLEMS = {
    "400": "The request is not valid; `errors` names the fields.",
    "401": "No sign-in, or a token that is unknown, expired or revoked.",
    "403": "The credential's scope or the person's roles do not allow it.",
    "404": "It does not exist, or it is not shared with you.",
    "406": "The Accept header excludes JSON.",
    "409": "In conflict with the present state, or the same request is still at work.",
    "413": "The body is too large.",
    "415": "The body is not JSON.",
    "422": "The Idempotency-Key belongs to another request.",
    "429": "Too many requests; `Retry-After` says when to come back.",
    "503": "A service of the platform does not answer.",
}
DONE = {"200": "Done.", "201": "Made.", "204": "Done; there is nothing to show."}
PARAMETERS = {
    "slug": "Short name of the project.",
    "user_id": "Id of the person.",
    "id": "Its id, as lists show it.",
    "seq": "Number of the event within its run, from 1.",
    "sha256": "SHA-256 of the content, in lower-case hexadecimal digits.",
    "tool": "Name of the tool, such as `filesystem.read_file`.",
    "policy": "Name of the policy.",
    "rule": "Id of the rule within the project.",
    "server": "Name of the MCP server within the project.",
    "mcp_entry": "Id of the entry, as the server's list shows it.",
    "document": "SHA-256 of the document's text, in lower-case hexadecimal digits.",
    "name": "Name of the secret: a letter, then letters, digits, dots, hyphens, underscores.",
}
EXAMPLE = {
    "type": "/problems/not_found",
    "title": "Not found",
    "status": 404,
    "detail": "There is no such project.",
    "category": "not_found",
    "instance": "/api/projects/apollo",
    "request_id": "3f1c9a52e1d24b8fa8f0c2b8a0c9d7e4",
}
KEY_PARAMETER = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Makes repeating this request harmless: the same key gets the same answer.",
    "schema": {"type": "string", "pattern": r"^[\x21-\x7e]{1,255}$", "maxLength": 255},
    "example": "5a1f6d0e-7a43-4f0b-9d0c-0d5ff2a7a7f1",
}


class OmniSchema(AutoSchema):
    """Summary and description come from the handler's docstring, the tag from its view."""

    def get_tags(self) -> list[str]:
        return [self._tag]

    def get_summary(self) -> str:
        return self._doc[0].rstrip(".")

    def get_description(self) -> str:  # type: ignore[override]
        scope = needed_scope(self.method, self.view)
        return "\n\n".join([*self._doc[1:], f"Scope: `{scope.value}`."])

    def _get_parameters(self) -> list[dict[str, Any]]:
        parameters: list[dict[str, Any]] = super()._get_parameters()
        for parameter in parameters:
            if parameter["in"] == "path":
                parameter["description"] = PARAMETERS[parameter["name"]]
        return [*parameters, KEY_PARAMETER] if self._is_idempotent else parameters

    def _get_response_bodies(self, direction: Direction = "response") -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        if self._is_idempotent:
            _document_replay(bodies)
        for status, body in bodies.items():
            body["description"] = body["description"] or DONE[status]
        for status in self._problem_statuses():
            bodies[status] = {"$ref": f"#/components/responses/Problem{status}"}
        return dict(sorted(bodies.items()))

    def _problem_statuses(self) -> list[str]:
        statuses = ["400", "401", "403", "406", "429", "503"]
        if "{" in self.path:
            statuses.append("404")
        if self.method != "GET":
            statuses.append("409")
        if self.method in ("POST", "PUT", "PATCH"):
            statuses += ["413", "415"]
        if self._is_idempotent:
            statuses.append("422")
        return statuses

    @property
    def _tag(self) -> str:
        return str(getattr(self.view, "tag", ""))

    @property
    def _handler(self) -> Any:
        return getattr(self.view, self.method.lower())

    @property
    def _is_idempotent(self) -> bool:
        return getattr(self._handler, "is_idempotent", False)

    @property
    def _doc(self) -> list[str]:
        paragraphs = (self._handler.__doc__ or self.view.__doc__ or "").strip().split("\n\n")
        return [" ".join(each.split()) for each in paragraphs]


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "apps.registry.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "An API token, `omni_…`, from the workspace or POST /api/tokens.",
        }


class BrowserScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "apps.registry.api.authentication.BrowserAuthentication"
    name = "browser"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": "omni_session",
            "description": "A browser's session; changes also need the X-CSRFToken header.",
        }


@cache
def problem_schema() -> dict[str, Any]:
    text = resources.files("omni.contracts").joinpath("v1/problem.schema.json").read_text()
    return {key: value for key, value in json.loads(text).items() if key[0] != "$"}


def complete(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Post-processing: the contract of problems, and that bodies take no unknown fields."""
    schemas = result["components"]["schemas"]
    for name, schema in schemas.items():
        if name.endswith("Request") and schema.get("type") == "object":
            schema["additionalProperties"] = False
    schemas["Problem"] = problem_schema()
    result["components"]["responses"] = {
        f"Problem{status}": _problem_response(status) for status in PROBLEMS
    }
    return result


def _problem_response(status: str) -> dict[str, Any]:
    content: dict[str, Any] = {"schema": {"$ref": "#/components/schemas/Problem"}}
    if status == "404":
        content["example"] = EXAMPLE
    response: dict[str, Any] = {"description": PROBLEMS[status], "content": {CONTENT_TYPE: content}}
    if status == "429":
        response["headers"] = {
            "Retry-After": {
                "description": "Seconds to wait.",
                "schema": {"type": "integer", "minimum": 1},
            }
        }
    if status == "401":
        response["headers"] = {
            "WWW-Authenticate": {"description": "`Bearer`.", "schema": {"type": "string"}}
        }
    return response


def _document_replay(bodies: dict[str, Any]) -> None:
    for response in bodies.values():
        response.setdefault("headers", {})["Idempotency-Replayed"] = {
            "description": "`true` when this answer was stored by an earlier request.",
            "schema": {"type": "string", "enum": ["true"]},
        }
