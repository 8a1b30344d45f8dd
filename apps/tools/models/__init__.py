"""Rows of the tools app."""

from apps.tools.models.policy import PolicyVersion, ProjectPolicy, ProjectRule
from apps.tools.models.secret import Secret
from apps.tools.models.tool import ToolInstallation, ToolOrigin, ToolVersion

__all__ = [
    "PolicyVersion",
    "ProjectPolicy",
    "ProjectRule",
    "Secret",
    "ToolInstallation",
    "ToolOrigin",
    "ToolVersion",
]
