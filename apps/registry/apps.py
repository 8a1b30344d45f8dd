"""The registry's place in the house and its entries in the workspace."""

from django.apps import AppConfig

from omni.contracts.navigation import NavItem


class RegistryConfig(AppConfig):
    name = "apps.registry"
    label = "registry"
    verbose_name = "People and projects"
    navigation = (
        NavItem("Projects", "registry:project_list", "folder", "Work", 20, "spaces members"),
        NavItem(
            "API tokens", "registry:account_tokens", "key", "Account", 80, "access program cli"
        ),
        NavItem(
            "Security", "registry:account_security", "shield", "Account", 85, "password sessions"
        ),
        NavItem(
            "Activity", "registry:account_activity", "activity", "Account", 90, "audit log history"
        ),
        NavItem("Profile", "registry:account", "user", "Account", 75, "name time zone theme"),
    )

    project_tabs = (
        NavItem("Overview", "registry:project_detail", "home", "Project", 10),
        NavItem("Members", "registry:project_members", "users", "Project", 20),
        NavItem(
            "Activity",
            "registry:project_activity",
            "activity",
            "Project",
            80,
            "audit log",
            permission="view_audit",
        ),
        NavItem("Settings", "registry:project_settings", "settings", "Project", 90),
    )

    def ready(self) -> None:
        from apps.registry import signals

        signals.connect()
