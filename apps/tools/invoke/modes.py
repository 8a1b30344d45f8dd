"""Safe modes: `analysis_only` blocks what changes something, `dry_run` says what it would do."""

from __future__ import annotations

from apps.tools.invoke.resolve import Resolved
from apps.tools.policy.decide import Decision
from omni.contracts.ports import ToolOutcome, ToolRequest

MUTATING = frozenset({"write", "external_write", "execute"})


def blocked(request: ToolRequest, resolved: Resolved) -> Decision | None:
    """A denial that no rule can lift, or None."""
    touched = sorted(resolved.capabilities & MUTATING)
    if request.mode != "analysis_only" or not touched:
        return None
    return Decision(
        effect="deny",
        reason=f"The run only analyses; {resolved.name} could change something "
        f"({', '.join(touched)}).",
        rule="mode-analysis-only",
        policy="safe-modes",
        policy_version="1.0.0",
        considered=(),
    )


def simulated(resolved: Resolved, request: ToolRequest) -> ToolOutcome:
    """For a tool that cannot simulate itself: what would have been called, and nothing else."""
    would = {
        "tool": resolved.name,
        "version": resolved.version,
        "arguments": request.arguments,
        "capabilities": sorted(resolved.capabilities),
    }
    return ToolOutcome(output={"would_do": would}, simulated=True)
