"""Tools: registered once, installed per project, pinned to one version, deprecated, removed."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from apps.registry.models import AuditAction, Project, User
from apps.registry.permissions import require, require_operator
from apps.registry.roles import Permission
from apps.registry.services import audit
from apps.tools.models import ToolInstallation, ToolOrigin, ToolVersion
from omni.contracts.bounds import invalid
from omni.contracts.canonical import digest
from omni.contracts.errors import Conflict, InvalidInput, NotFound
from omni.contracts.foreign import ForeignSchema
from omni.contracts.types.tool_manifest import ToolManifest
from omni.contracts.validation import validate


def check_manifest(document: Any) -> ToolManifest:
    """The document as a manifest whose schemas are harmless; InvalidInput names the place."""
    validate("tool-manifest", document)
    manifest: ToolManifest = document
    for part, schema in (
        ("input_schema", manifest["input_schema"]),
        ("output_schema", manifest["output_schema"]),
    ):
        try:
            ForeignSchema(schema)
        except InvalidInput as error:
            raise _within(error, f"/{part}") from None
    return manifest


@transaction.atomic
def register_tool(
    *,
    actor: User | None,
    manifest: Any,
    project: Project | None = None,
    origin: ToolOrigin = ToolOrigin.REGISTERED,
    as_operator: bool = False,
) -> tuple[ToolVersion, bool]:
    """Publish a version; the same content again is the same version, other content a conflict.

    Without an actor it is the platform that registers what it carries itself.
    """
    declared = check_manifest(manifest)
    if actor is not None:
        _require_keeper(actor, project, as_operator=as_operator)
    if origin != ToolOrigin.BUILTIN:
        _refuse_disguise(declared)
    made = ToolVersion(
        project=project,
        name=declared["name"],
        version=declared["version"],
        manifest=manifest,
        sha256=digest(manifest),
        origin=origin,
        created_by=actor,
    )
    try:
        with transaction.atomic():
            made.save(force_insert=True)
    except IntegrityError:
        return _same(made), False
    audit.record(
        AuditAction.TOOL_REGISTERED,
        actor=actor,
        actor_label="" if actor else "omni",
        project=project,
        target=made,
        data={"sha256": made.sha256, "origin": origin.value} | audit.operator_mark(as_operator),
    )
    return made, True


@transaction.atomic
def deprecate_tool(
    *, actor: User, tool: ToolVersion, reason: str, as_operator: bool = False
) -> ToolVersion:
    """Say why not to use a version any more; an empty reason takes it back."""
    _require_keeper(actor, tool.project, as_operator=as_operator)
    tool = ToolVersion.objects.select_for_update().get(pk=tool.pk)
    tool.deprecated = reason.strip()[:2000]
    tool.save(update_fields=["deprecated"])
    audit.record(
        AuditAction.TOOL_DEPRECATED,
        actor=actor,
        project=tool.project,
        target=tool,
        data={"reason": tool.deprecated} | audit.operator_mark(as_operator),
    )
    return tool


@transaction.atomic
def install_tool(
    *,
    actor: User | None,
    project: Project,
    tool: ToolVersion,
    pin: bool = False,
    as_operator: bool = False,
) -> ToolInstallation:
    """Give a project a version of a tool; the first one, or `pin`, is what its name stands for."""
    if actor is not None:
        require(actor, Permission.MANAGE_TOOLS, project, as_operator=as_operator)
    if tool.project_id not in (None, project.pk):
        raise NotFound(f"There is no tool {tool.name} here.")
    rows = _locked(project).filter(name=tool.name)
    found = rows.filter(tool=tool).first()
    if found is None:
        first = not rows.filter(is_pinned=True).exists()
        found = ToolInstallation.objects.create(
            project=project, tool=tool, name=tool.name, is_pinned=first, installed_by=actor
        )
        ToolVersion.objects.filter(pk=tool.pk, first_used_at=None).update(
            first_used_at=timezone.now()
        )
        _record(AuditAction.TOOL_INSTALLED, actor, found, as_operator)
    elif not found.enabled:
        found.enabled = True
        found.save(update_fields=["enabled"])
        _record(AuditAction.TOOL_INSTALLED, actor, found, as_operator)
    return _pinned(actor, found, as_operator) if pin and not found.is_pinned else found


@transaction.atomic
def pin_tool(
    *, actor: User, project: Project, name: str, version: str, as_operator: bool = False
) -> ToolInstallation:
    """Make an installed version what the tool's name stands for; runs that began keep theirs."""
    require(actor, Permission.MANAGE_TOOLS, project, as_operator=as_operator)
    found = _locked(project).filter(name=name, tool__version=version).first()
    if found is None:
        raise NotFound(
            f"{name} {version} is not installed in this project.", remedy="Install it first."
        )
    return found if found.is_pinned else _pinned(actor, found, as_operator)


@transaction.atomic
def uninstall_tool(
    *,
    actor: User,
    project: Project,
    name: str,
    version: str | None = None,
    as_operator: bool = False,
) -> int:
    """Take a version, or all of them, from a project; answers how many were taken."""
    require(actor, Permission.MANAGE_TOOLS, project, as_operator=as_operator)
    rows = _locked(project).filter(name=name)
    gone = list(rows.filter(tool__version=version) if version else rows)
    if not gone:
        wanted = f"{name} {version}" if version else name
        raise NotFound(f"{wanted} is not installed in this project.")
    left = rows.exclude(pk__in=[row.pk for row in gone]).exists()
    if left and any(row.is_pinned for row in gone):
        raise Conflict(
            f"{name} {version} is what the name stands for in this project.",
            remedy="Pin another version first.",
        )
    for row in gone:
        _record(AuditAction.TOOL_UNINSTALLED, actor, row, as_operator)
        row.delete()
    return len(gone)


def _refuse_disguise(manifest: ToolManifest) -> None:
    """Policies trust names; what comes with the platform keeps its names and its place."""
    if manifest["executor"]["kind"] == "inproc_safe":
        raise invalid(
            [("/executor/kind", "executor", "only built-in tools run in the platform's process.")],
            what="The tool manifest",
        )
    if ToolVersion.objects.filter(origin=ToolOrigin.BUILTIN, name=manifest["name"]).exists():
        raise invalid(
            [("/name", "name", "a tool that comes with the platform has this name.")],
            what="The tool manifest",
        )


def _locked(project: Project) -> Any:
    # The project's row orders concurrent changes, so that one version is pinned, and only one.
    Project.objects.select_for_update().get(pk=project.pk)
    return ToolInstallation.objects.filter(project=project).select_related("tool", "project")


def _pinned(actor: User | None, row: ToolInstallation, as_operator: bool) -> ToolInstallation:
    others = ToolInstallation.objects.filter(project=row.project, name=row.name, is_pinned=True)
    before = others.select_related("tool").first()
    others.update(is_pinned=False)
    row.is_pinned = True
    row.save(update_fields=["is_pinned"])
    _record(
        AuditAction.TOOL_PINNED,
        actor,
        row,
        as_operator,
        {"from": before.tool.version if before else None},
    )
    return row


def _record(
    action: AuditAction,
    actor: User | None,
    row: ToolInstallation,
    as_operator: bool,
    data: dict[str, Any] | None = None,
) -> None:
    if actor is None:
        # Every project gets what comes with the platform; that is nobody's deed.
        return
    audit.record(
        action,
        actor=actor,
        project=row.project,
        target=row.tool,
        data={"sha256": row.tool.sha256} | (data or {}) | audit.operator_mark(as_operator),
    )


def _same(made: ToolVersion) -> ToolVersion:
    found = ToolVersion.objects.get(project=made.project, name=made.name, version=made.version)
    if found.sha256 != made.sha256:
        raise Conflict(
            f"{made} is published already, with other content; a published version never changes.",
            remedy="Raise the version.",
            data={"errors": {"/version": ["This version is published with other content."]}},
        )
    return found


def _require_keeper(actor: User, project: Project | None, *, as_operator: bool) -> None:
    if project is None:
        require_operator(actor, "tools.add_toolversion")
    else:
        require(actor, Permission.MANAGE_TOOLS, project, as_operator=as_operator)


def _within(error: InvalidInput, at: str) -> InvalidInput:
    """The same error, told from the document around."""
    errors = {
        at if place == "/" else f"{at}{place}": texts
        for place, texts in error.data.get("errors", {}).items()
    }
    return InvalidInput(
        f"The tool manifest is not valid at {at}: {error.message}",
        remedy=error.remedy,
        data=error.data | {"errors": errors or {at: [error.message]}, "pointer": at},
    )
