"""Rows of the tools app."""

from apps.tools.models.mcp import McpCatalog, McpCheck, McpEntry, McpServer
from apps.tools.models.secret import Secret

__all__ = ["McpCatalog", "McpCheck", "McpEntry", "McpServer", "Secret"]
