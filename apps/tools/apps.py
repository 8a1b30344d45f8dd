"""The tools app's place in the house and its tab on a project."""

from django.apps import AppConfig

from omni.contracts.navigation import NavItem


class ToolsConfig(AppConfig):
    name = "apps.tools"
    label = "tools"
    verbose_name = "Tools and secrets"
    project_tabs = (NavItem("Secrets", "tools:project_secrets", "lock", "Project", 30),)

    def ready(self) -> None:
        from apps.registry import hooks
        from apps.tools.services.builtin import install_builtins

        hooks.on_project_created("tools", install_builtins)
