"""Generated from the schemas by `python -m omni.contracts.generate`; edit those instead."""

from typing import Literal, NotRequired, TypedDict

from omni.contracts.types.shapes import DottedName, JsonObject, Name, Semver


class ToolPlanStep(TypedDict):
    """One call."""

    id: NotRequired[Name]
    """Names the step for later ones; `step1`, `step2` … when absent."""
    tool: DottedName
    """Which tool."""
    version: NotRequired[Semver]
    """Exact version; the run's pin when absent."""
    arguments: NotRequired[JsonObject]
    """What it is called with. `{"$result": "id", "pointer": "/x", "default": …}` stands for a part
    of an earlier step's output.
    """
    on_error: NotRequired[Literal["fail", "continue"]]
    """Whether an error ends the plan; `fail` when absent."""


class ToolPlan(TypedDict):
    """Tool calls in order; each may use what earlier ones gave."""

    schema_version: NotRequired[Literal[1]]
    """Version of this contract that the document follows; 1 when absent."""
    steps: list[ToolPlanStep]
    """The calls, first to last."""
