"""The tools app's place in the house and its tabs on a project."""

from django.apps import AppConfig

from omni.contracts.navigation import NavItem


class ToolsConfig(AppConfig):
    name = "apps.tools"
    label = "tools"
    verbose_name = "Tools and secrets"
    navigation = (
        NavItem(
            "MCP servers", "tools:mcp_servers", "package", "Platform", 50, "model context protocol"
        ),
    )
    project_tabs = (
        NavItem("Secrets", "tools:project_secrets", "lock", "Project", 30),
        NavItem("MCP", "tools:mcp_project", "package", "Project", 35),
    )
