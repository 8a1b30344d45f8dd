"""The tools app's place in the house and its tabs on a project."""

from django.apps import AppConfig

from omni.contracts.navigation import NavItem


class ToolsConfig(AppConfig):
    name = "apps.tools"
    label = "tools"
    verbose_name = "Tools, policies and secrets"
    navigation = (
        NavItem(
            "MCP servers", "tools:mcp_servers", "package", "Platform", 50, "model context protocol"
        ),
    )
    project_tabs = (
        NavItem("Tools", "tools:tool_list", "wrench", "Project", 24, "manifests versions pins"),
        NavItem("MCP", "tools:mcp_project", "package", "Project", 25),
        NavItem("Policies", "tools:policy_list", "shield", "Project", 26, "rules allow deny why"),
        NavItem("Secrets", "tools:project_secrets", "lock", "Project", 30),
    )

    def ready(self) -> None:
        from apps.registry import hooks
        from apps.tools.services.builtin import install_builtins

        hooks.on_project_created("tools", install_builtins)
