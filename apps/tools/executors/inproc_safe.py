"""In the worker itself, for tools that come with the platform and for nothing else."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from apps.tools.executors.base import Call, Outcome, ToolError

TRUSTED = "apps.tools.builtin."


class InprocSafe:
    """Calls a function of `apps.tools.builtin`; the module's name is checked, not its word."""

    kind = "inproc_safe"
    version = "1.0.0"

    def execute(self, call: Call) -> Outcome:
        executor = call.manifest["executor"]
        if executor["kind"] != "inproc_safe":
            raise ToolError("misconfigured", "The manifest names another executor.")
        return _function(executor["config"]["entrypoint"])(call)


def _function(entrypoint: str) -> Callable[[Call], Outcome]:
    module, _, name = entrypoint.partition(":")
    if not module.startswith(TRUSTED) or name.startswith("_"):
        raise ToolError(
            "misconfigured",
            f"{entrypoint} does not come with the platform, so it may not run in its process.",
            remedy="Use the executor sandbox_job.",
        )
    try:
        found: Callable[[Call], Outcome] = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        raise ToolError("misconfigured", f"There is no {entrypoint} here.") from None
    return found
