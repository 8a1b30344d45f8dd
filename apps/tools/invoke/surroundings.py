"""What a call finds around it: the folder of its thread and the secrets of its project."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path

from apps.registry.models import Project
from apps.tools.executors.base import ToolError
from apps.tools.services.secrets import SCHEME, resolve_secret
from omni import config
from omni.contracts.errors import NotFound


def workspace_of(thread_id: uuid.UUID) -> Path:
    """Runs of one thread work in one folder, so that a later run finds what an earlier one left."""
    folder = config.current().home / "workspaces" / str(thread_id)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def secrets_of(project_id: uuid.UUID) -> Callable[[str], str]:
    def secret(reference: str) -> str:
        # Manifests write `secret:name`, people `secret://name`.
        name = reference.removeprefix("secret:").removeprefix("//")
        try:
            return resolve_secret(f"{SCHEME}{name}", project=Project.objects.get(pk=project_id))
        except NotFound as error:
            raise ToolError("misconfigured", str(error)) from None

    return secret
