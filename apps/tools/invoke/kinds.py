"""The executors there are. Each is loaded when it is first needed."""

from __future__ import annotations

import importlib
from functools import cache

from apps.tools.executors.base import Executor, ToolError
from apps.tools.selectors import openapi_text
from omni.contracts.types.tool_manifest import ToolManifest

# Where each is; the last part makes one.
KINDS = {
    "inproc_safe": "apps.tools.executors.inproc_safe:InprocSafe",
    "sandbox_job": "apps.tools.executors.sandbox_job:SandboxJob",
    "mcp_remote": "apps.tools.executors.mcp_remote:McpRemote",
    "openapi_proxy": "apps.tools.executors.openapi.executor:OpenapiExecutor",
}


def executor_for(manifest: ToolManifest) -> Executor:
    """The one that the manifest names, if it still understands such a manifest."""
    wanted = manifest["executor"]
    if wanted["kind"] not in KINDS:
        raise ToolError("misconfigured", f"There is no executor {wanted['kind']} here.")
    executor = _loaded(wanted["kind"])
    if executor.version.partition(".")[0] != wanted["version"].partition(".")[0]:
        raise ToolError(
            "misconfigured",
            f"{manifest['name']} wants {wanted['kind']} {wanted['version']}; "
            f"here is {executor.version}.",
        )
    return executor


def executor_versions() -> dict[str, str]:
    """What runs are pinned to."""
    return {kind: _loaded(kind).version for kind in KINDS}


@cache
def _loaded(kind: str) -> Executor:
    if kind == "openapi_proxy":
        from apps.tools.executors.openapi.executor import OpenapiExecutor

        return OpenapiExecutor(openapi_text)
    module, _, name = KINDS[kind].partition(":")
    made: Executor = getattr(importlib.import_module(module), name)()
    return made
