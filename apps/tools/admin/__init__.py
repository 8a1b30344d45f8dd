"""Pages of the tools app in the admin console; importing them registers them."""

from apps.tools.admin import policies, secrets, tools

__all__ = ["policies", "secrets", "tools"]
