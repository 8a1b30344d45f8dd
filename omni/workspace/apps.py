"""The workspace's place in the house and its own entries in the navigation."""

from django.apps import AppConfig

from omni.contracts.navigation import NavItem


class WorkspaceConfig(AppConfig):
    name = "omni.workspace"
    label = "workspace"
    verbose_name = "Workspace"
    navigation = (
        NavItem("Home", "workspace:home", "home", "Work", 10, "dashboard start overview"),
        NavItem(
            "Schemas", "workspace:schema_list", "code", "Platform", 70, "contracts events json"
        ),
    )
