"""A tool port for tests of the driver: it allows everything, and says so."""

from __future__ import annotations

from typing import Any

from omni.contracts.ports import RunContext, ToolOutcome, ToolRequest, Verdict


class Permitted:
    """Subclasses write `call`; whether a call may be repeated is what the effect says."""

    def prepare(self, request: ToolRequest, context: RunContext) -> Verdict:
        return Verdict(tool=request.tool, idempotent=request.idempotent)

    def execute(self, verdict: Verdict, request: ToolRequest, context: RunContext) -> ToolOutcome:
        return ToolOutcome(
            output=self.call(request.tool, request.arguments, request.call_id, context)
        )

    def call(self, tool: str, arguments: dict[str, Any], call_id: str, context: Any) -> Any:
        raise NotImplementedError
