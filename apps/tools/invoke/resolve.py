"""From a name to exactly one manifest, and from a request to arguments that fit it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from apps.tools import selectors
from apps.tools.executors.base import ToolError
from apps.tools.models import ToolVersion
from omni.contracts.canonical import canonical
from omni.contracts.errors import NotFound, OmniError
from omni.contracts.foreign import ForeignSchema
from omni.contracts.parsing import parse
from omni.contracts.ports import ToolRequest
from omni.contracts.types.tool_manifest import ToolManifest


@dataclass(frozen=True, slots=True)
class Resolved:
    """A tool as it is pinned, ready to be called."""

    manifest: ToolManifest
    sha256: str
    output: ForeignSchema

    @property
    def name(self) -> str:
        return self.manifest["name"]

    @property
    def version(self) -> str:
        return self.manifest["version"]

    @property
    def executor(self) -> str:
        return f"{self.manifest['executor']['kind']} {self.manifest['executor']['version']}"

    @property
    def idempotent(self) -> bool:
        """Whether a call may be repeated with the same call id after a crash."""
        return self.manifest["idempotency"] in ("idempotent", "keyed")

    @property
    def capabilities(self) -> frozenset[str]:
        return frozenset(self.manifest["capabilities"])


def resolve(request: ToolRequest) -> Resolved:
    """Refuses what is not installed, or called with wrong arguments.

    A run keeps the manifest that it was pinned to, whatever the project means by now; a tool that
    was switched off or removed is refused to it all the same.
    """
    tool = _found(request)
    manifest = tool.declared
    resolved = Resolved(manifest, tool.sha256, _schema(manifest["output_schema"]))
    _check_input(request, resolved)
    _check_count(request, resolved)
    return resolved


def _found(request: ToolRequest) -> ToolVersion:
    project, pin = request.facts.project_id, request.pins.get(request.tool)
    try:
        installed = selectors.installed_tool(project, request.tool, request.version)
        if pin is None or request.version not in (None, pin["version"]):
            return installed
        if pin["sha256"] == installed.sha256:
            return installed
        return selectors.pinned_tool(project, request.tool, pin["sha256"])
    except NotFound as error:
        raise ToolError("misconfigured", str(error), data=error.data) from None


def _check_input(request: ToolRequest, resolved: Resolved) -> None:
    try:
        schema = _schema(resolved.manifest["input_schema"])
        schema.validate(request.arguments, what=f"The input of {resolved.name}")
    except OmniError as error:
        raise ToolError("invalid_input", str(error), data=error.data) from None


def _check_count(request: ToolRequest, resolved: Resolved) -> None:
    most = resolved.manifest["limits"].get("calls_per_run")
    if most is not None and request.calls_made >= most:
        raise ToolError("limit_exceeded", f"A run may call {resolved.name} {most} times.")


def _schema(schema: dict[str, Any]) -> ForeignSchema:
    return _compiled(canonical(schema))


@lru_cache(maxsize=512)
def _compiled(text: bytes) -> ForeignSchema:
    return ForeignSchema(parse(text))
