"""MCP servers: added, changed, removed, and turned into a target when a session begins."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, cast

from django.db import IntegrityError, transaction
from django.utils import timezone

from apps.registry.models import AuditAction, Project, User
from apps.registry.permissions import require, require_operator
from apps.registry.roles import Permission
from apps.registry.services import audit
from apps.registry.validation import validated
from apps.tools.executors.base import ToolError
from apps.tools.mcp import parameters
from apps.tools.mcp.target import Target, Transport
from apps.tools.models import McpServer
from apps.tools.services.secrets import resolve_secret
from omni.contracts.errors import Conflict, InvalidInput, OmniError

OPERATOR = "tools.change_mcpserver"
REFERENCE = re.compile(r"secret://[A-Za-z][A-Za-z0-9_.-]{0,63}")
FIELDS = (
    "description", "transport", "url", "headers", "command", "environment", "egress",
    "credentials", "allowed_private", "enabled",
)  # fmt: skip
RESERVED = frozenset({"new"})
# What decides whom we talk to; after a change nothing that was found out before still holds.
DECISIVE = ("transport", "url", "command")


@transaction.atomic
def add_server(
    *, actor: User, project: Project, slug: str, as_operator: bool = False, **given: Any
) -> McpServer:
    """Register a server; it is checked soon, and nothing of it is used before it is accepted."""
    _require(actor, project, as_operator=as_operator)
    if project.is_archived:
        raise Conflict("The project is archived.", remedy="Restore it first.")
    if slug in RESERVED:
        raise InvalidInput.field("slug", "This name is taken by a page.")
    server = McpServer(project=project, slug=slug, added_by=actor)
    _apply(server, given, actor=actor)
    server.check_requested_at = server.next_check_at = timezone.now()
    validated(server, unique=False)
    try:
        with transaction.atomic():
            server.save(force_insert=True)
    except IntegrityError:
        raise Conflict(
            f"There is already an MCP server {slug} in this project.",
            remedy="Choose another name.",
            data={"errors": {"slug": ["This name is taken."]}},
        ) from None
    _record(AuditAction.MCP_SERVER_ADDED, actor, server, as_operator, _shown(server))
    return server


@transaction.atomic
def change_server(
    *, actor: User, server: McpServer, as_operator: bool = False, **given: Any
) -> McpServer:
    """Change how a server is reached; a server at another address starts without acceptances."""
    _require(actor, server.project, as_operator=as_operator)
    row = McpServer.objects.select_for_update().select_related("project").get(pk=server.pk)
    before = {name: getattr(row, name) for name in FIELDS}
    _apply(row, given, actor=actor)
    changed = [name for name in FIELDS if getattr(row, name) != before[name]]
    if not changed:
        return row
    if any(name in changed for name in DECISIVE):
        row.entries.update(state="quarantined", accepted_sha256="", accepted_definition=None)
        row.status = McpServer.Status.UNKNOWN
    row.check_requested_at = row.next_check_at = timezone.now() if row.enabled else None
    validated(row, unique=False).save()
    data = {"changed": changed}
    _record(AuditAction.MCP_SERVER_CHANGED, actor, row, as_operator, data)
    return row


@transaction.atomic
def remove_server(*, actor: User, server: McpServer, as_operator: bool = False) -> None:
    """Delete a server with its catalog; tools that were pinned from it fail from now on."""
    _require(actor, server.project, as_operator=as_operator)
    _record(AuditAction.MCP_SERVER_REMOVED, actor, server, as_operator, _shown(server))
    server.delete()


def target_of(server: McpServer, secret: Callable[[str], str] | None = None) -> Target:
    """Where the server is, with its credentials filled in; for the last step before a session."""

    def value(reference: str) -> str:
        return resolve_secret(reference, project=server.project)

    try:
        credentials = _filled(server.credentials, secret or value)
    except OmniError as error:
        raise ToolError(
            "misconfigured",
            f"A credential of the MCP server {server.slug} is missing: {error.message}",
            remedy="Set the secret in the project.",
        ) from None
    is_program = server.transport == McpServer.Transport.STDIO
    return Target(
        name=server.slug,
        transport=cast(Transport, server.transport),
        url=server.url,
        headers={} if is_program else {**server.headers, **credentials},
        command=tuple(server.command),
        environment={**server.environment, **credentials} if is_program else {},
        egress=tuple(server.egress),
        allow_private=frozenset(each.lower() for each in server.allowed_private),
    )


def _filled(credentials: Mapping[str, str], secret: Callable[[str], str]) -> dict[str, str]:
    return {
        name: REFERENCE.sub(lambda found: secret(found[0]), template)
        for name, template in credentials.items()
    }


def _apply(server: McpServer, given: dict[str, Any], *, actor: User) -> None:
    unknown = set(given) - set(FIELDS)
    if unknown:
        raise InvalidInput.field(sorted(unknown)[0], "This field is not known.")
    for name, value in given.items():
        setattr(server, name, value)
    parameters.check(server)
    stored = McpServer.objects.filter(pk=server.pk).values_list("allowed_private", flat=True)
    if sorted(server.allowed_private) != sorted(next(iter(stored), [])):
        # It opens a way into the network that Omni stands in, so a project's member cannot.
        require_operator(actor, OPERATOR)


def _require(actor: User, project: Project, *, as_operator: bool) -> None:
    if as_operator:
        require_operator(actor, OPERATOR)
    else:
        require(actor, Permission.OPERATE, project)


def _shown(server: McpServer) -> dict[str, Any]:
    """For the audit log: where it is, and never a header's or variable's value."""
    where = server.url or " ".join(server.command)[:300]
    return {"transport": server.transport, "where": where}


def _record(
    action: AuditAction, actor: User, server: McpServer, as_operator: bool, data: dict[str, Any]
) -> None:
    audit.record(
        action,
        actor=actor,
        project=server.project,
        target=server,
        data=data | audit.operator_mark(as_operator),
    )
