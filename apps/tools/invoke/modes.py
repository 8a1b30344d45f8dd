"""Safe modes: `analysis_only` blocks what changes something, `dry_run` says what it would do."""

from __future__ import annotations

from apps.tools.invoke.resolve import Resolved
from apps.tools.policy.decide import Decision
from apps.tools.policy.sensitive import WRITE_WORDS
from omni.contracts.ports import ToolOutcome, ToolRequest
from omni.contracts.types.tool_manifest import ToolManifest

MUTATING = frozenset({"write", "external_write", "execute", "delegate"})


def changing(manifest: ToolManifest) -> frozenset[str]:
    """What a tool could change: as declared, as its scopes betray, and whatever a program does."""
    found = {each for each in manifest["capabilities"] if each in MUTATING}
    words = {scope.partition(":")[0].rpartition(".")[2] for scope in manifest["scopes"]}
    if words & WRITE_WORDS:
        found.add("write")
    if manifest["executor"]["kind"] == "sandbox_job":
        found.add("execute")
    return frozenset(found)


def simulates(manifest: ToolManifest) -> bool:
    """Only code of the platform is believed when it says that it can hold still."""
    return manifest.get("simulates", False) and manifest["executor"]["kind"] == "inproc_safe"


def blocked(request: ToolRequest, resolved: Resolved) -> Decision | None:
    """A denial that no rule can lift, or None."""
    touched = sorted(changing(resolved.manifest))
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
