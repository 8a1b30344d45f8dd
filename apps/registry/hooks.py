"""What apps above do when something happens down here: they say so when they start."""

from __future__ import annotations

from collections.abc import Callable

from apps.registry.models import Project, User

ProjectHook = Callable[[Project, User], None]
_created: dict[str, ProjectHook] = {}


def on_project_created(name: str, hook: ProjectHook) -> None:
    """Call `hook` in the transaction that makes a project; the same name again replaces it."""
    _created[name] = hook


def project_created(project: Project, actor: User) -> None:
    for hook in _created.values():
        hook(project, actor)
