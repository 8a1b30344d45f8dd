"""What a call finds around it: the folder of its thread and the secrets of its project."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path

from apps.registry.models import Project
from apps.tools.services.secrets import resolve_secret
from omni import config


def workspace_of(thread_id: uuid.UUID) -> Path:
    """Runs of one thread work in one folder, so that a later run finds what an earlier one left."""
    folder = config.current().home / "workspaces" / str(thread_id)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def secrets_of(project_id: uuid.UUID) -> Callable[[str], str]:
    def secret(reference: str) -> str:
        return resolve_secret(reference, project=Project.objects.get(pk=project_id))

    return secret
