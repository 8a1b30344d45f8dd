"""What a policy is asked: one call with everything that rules may look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from apps.tools.policy.hosts import hosts_of
from omni.contracts.types.shapes import Capability, Mode, Risk
from omni.contracts.types.tool_manifest import ToolManifest


@dataclass(frozen=True, slots=True)
class CallRequest:
    """One call that somebody wants to make."""

    tool: str
    version: str
    at: datetime
    """The moment of the decision; rules that expired before it do not count."""
    scopes: tuple[str, ...] = ()
    capabilities: tuple[Capability, ...] = ()
    risk: Risk = "critical"
    """A request that does not say is taken for the worst."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    agent: str = ""
    """Name of the agent; empty when none asks."""
    project: str = ""
    """Short name of the project."""
    user: str = ""
    """Id of the person for whom the run works."""
    roles: tuple[str, ...] = ()
    """Roles of that person in the project."""
    mode: Mode = "normal"
    run_id: str = ""
    hosts: tuple[str, ...] = ()
    """Hosts that the call would reach."""
    spent_share: float = 0.0
    """Largest share that is spent of any budget."""

    @classmethod
    def of(
        cls, manifest: ToolManifest, arguments: Mapping[str, Any], *, at: datetime, **about: Any
    ) -> CallRequest:
        """A call of this tool; what its manifest declares is taken from there."""
        return cls(
            tool=manifest["name"],
            version=manifest["version"],
            at=at,
            scopes=tuple(manifest["scopes"]),
            capabilities=tuple(manifest["capabilities"]),
            risk=manifest["risk"],
            arguments=arguments,
            **{"hosts": hosts_of(manifest, arguments), **about},
        )
