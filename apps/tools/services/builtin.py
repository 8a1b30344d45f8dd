"""Loads what comes with the platform at each start, and gives it to every project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.db import connection, transaction

from apps.registry.models import Project, User
from apps.tools.models import ProjectPolicy, ToolOrigin, ToolVersion
from apps.tools.policy.versions import key
from apps.tools.services.policies import publish_policy, put_policy_in_force
from apps.tools.services.tools import install_tool, register_tool
from omni.contracts.parsing import parse

FOLDER = Path(__file__).resolve().parents[1] / "builtin"
_LOCK = 0x746F6F6C


@transaction.atomic
def load_builtins(folder: Path = FOLDER) -> int:
    """Register manifests and policies that are new; answers how many. Safe to repeat.

    A tool that was never there before is installed in every project. A new version of a known one
    is not: what a project is pinned to changes only when somebody changes it.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
    known = set(_builtins().values_list("name", flat=True))
    new = 0
    for manifest in _documents(folder / "manifests"):
        tool, is_new = register_tool(actor=None, manifest=manifest, origin=ToolOrigin.BUILTIN)
        new += is_new
        if is_new and tool.name not in known:
            for project in Project.objects.all():
                install_tool(actor=None, project=project, tool=tool)
    return new + _load_policies(folder / "policies")


def install_builtins(project: Project, actor: User) -> None:
    """The newest version of each built-in tool, for a project that was just made."""
    newest: dict[str, ToolVersion] = {}
    for tool in _builtins().filter(deprecated=""):
        best = newest.get(tool.name)
        if best is None or key(tool.version) > key(best.version):
            newest[tool.name] = tool
    for tool in newest.values():
        install_tool(actor=None, project=project, tool=tool)


def _load_policies(folder: Path) -> int:
    """A policy that was never in force is put in force; withdrawing one is an operator's choice."""
    new = 0
    for document in _documents(folder):
        policy, is_new = publish_policy(actor=None, document=document)
        new += is_new
        rows = ProjectPolicy.objects.filter(project=None, name=policy.name)
        chosen = rows.exclude(put_by=None, withdrawn_by=None)
        if is_new and not chosen.exists():
            put_policy_in_force(actor=None, policy=policy, project=None)
    return new


def _documents(folder: Path) -> list[Any]:
    return [parse(path.read_bytes()) for path in sorted(folder.glob("*.json"))]


def _builtins() -> Any:
    return ToolVersion.objects.filter(project=None, origin=ToolOrigin.BUILTIN)
