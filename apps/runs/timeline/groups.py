"""The kinds of events a person may choose to see, and which events belong to which."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from omni.contracts import catalogue

DELTA = "assistant_message_delta"
SYSTEM = "system"

# An event is known by its name if it is a system event, else by its kind.
_KEYS: dict[str, frozenset[str]] = {
    "messages": frozenset({"user_message", "assistant_message"}),
    "tools": frozenset(
        {"tool_call", "tool_result", "tool_error", "policy_decided", "workspace_changed"}
    ),
    "approvals": frozenset({"approval_requested", "approval_answered", "approval_expired"}),
    "artifacts": frozenset({"artifact_ref"}),
    "models": frozenset({"model_call", "model_result", "model_error"}),
    "steps": frozenset({"step_started", "step_finished", "child_started", "child_finished"}),
}
LABELS = {
    "messages": "Messages",
    "tools": "Tools",
    "approvals": "Approvals",
    "artifacts": "Artifacts",
    "models": "Models",
    "steps": "Steps",
    SYSTEM: "System",
}
_GROUP_OF = {key: group for group, keys in _KEYS.items() for key in keys}


@dataclass(frozen=True, slots=True)
class Shown:
    """The groups somebody chose; none means all."""

    groups: frozenset[str] = frozenset()

    def has(self, key: str) -> bool:
        return not self.groups or group_of(key) in self.groups

    @property
    def keys(self) -> frozenset[str]:
        """Every event that is shown, except pieces of answers, which only the draft shows."""
        return frozenset(key for key in _every_key() if key != DELTA and self.has(key))

    @property
    def query(self) -> str:
        return ",".join(group for group in LABELS if group in self.groups)

    def toggled(self, group: str) -> Shown:
        return Shown(self.groups ^ {group})


def group_of(key: str) -> str:
    return "messages" if key == DELTA else _GROUP_OF.get(key, SYSTEM)


def shown_from(query: str) -> Shown:
    """What `?show=messages,tools` means; unknown words are ignored."""
    return Shown(frozenset(query.split(",")) & LABELS.keys())


def _every_key() -> Iterable[str]:
    return (*catalogue.event_kinds(), *catalogue.system_event_names())
