"""Rows of the tools app."""

from apps.tools.models.mcp import McpCatalog, McpCheck, McpEntry, McpServer
from apps.tools.models.openapi import OpenApiDocument
from apps.tools.models.policy import PolicyVersion, ProjectPolicy, ProjectRule
from apps.tools.models.secret import Secret
from apps.tools.models.tool import ToolInstallation, ToolOrigin, ToolVersion

__all__ = [
    "McpCatalog",
    "McpCheck",
    "McpEntry",
    "McpServer",
    "OpenApiDocument",
    "PolicyVersion",
    "ProjectPolicy",
    "ProjectRule",
    "Secret",
    "ToolInstallation",
    "ToolOrigin",
    "ToolVersion",
]
