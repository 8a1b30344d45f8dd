"""Pages of the tools app in the admin console; importing them registers them."""

from apps.tools.admin import openapi, policies, secrets, tools
from apps.tools.mcp import admin as mcp

__all__ = ["mcp", "openapi", "policies", "secrets", "tools"]
