"""Catalogs of MCP servers: versions, and what people accepted of them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from apps.registry.models import AuditAction, User
from apps.registry.permissions import require, require_operator
from apps.registry.roles import Permission
from apps.registry.services import audit
from apps.tools.mcp.client import Found
from apps.tools.mcp.definitions import Definition
from apps.tools.mcp.diff import essence
from apps.tools.models import McpCatalog, McpEntry, McpServer
from apps.tools.services.mcp_servers import OPERATOR
from omni.contracts.canonical import digest
from omni.contracts.errors import Conflict, InvalidInput

KEPT = 30
State = McpEntry.State


@transaction.atomic
def record_catalog(server: McpServer, found: Found) -> McpCatalog:
    """Keep what the server offers now; the caller holds the server's row."""
    now = timezone.now()
    rows = sorted(
        (
            {"kind": each.kind, "name": each.name, "sha256": each.sha256, "body": each.body}
            for each in found.definitions
        ),
        key=lambda row: (str(row["kind"]), str(row["name"])),
    )
    sha256 = digest([[row["kind"], row["name"], row["sha256"]] for row in rows])
    last = server.catalogs.order_by("-number").first()
    _bring_up_to_date(server, found.definitions, now)
    if last is not None and last.sha256 == sha256:
        return last
    number = last.number + 1 if last else 1
    made = McpCatalog.objects.create(
        server=server, number=number, at=now, sha256=sha256, entries=rows
    )
    server.catalogs.filter(number__lte=number - KEPT).delete()
    return made


def _bring_up_to_date(server: McpServer, definitions: Iterable[Definition], now: datetime) -> None:
    known = {(row.kind, row.name): row for row in server.entries.select_for_update()}
    gone = dict(known)
    fresh: list[McpEntry] = []
    for each in definitions:
        row = gone.pop((each.kind, each.name), None)
        if row is None:
            row = McpEntry(server=server, kind=each.kind, name=each.name)
            fresh.append(row)
        _see(row, each, now)
    for row in gone.values():
        if row.state != State.REMOVED:
            row.state = State.REMOVED
            row.save(update_fields=["state"])
    lost = {essence(row.kind, row.definition): row.name for row in gone.values()}
    for row in fresh:
        row.renamed_from = lost.get(essence(row.kind, row.definition), "")
        row.save(force_insert=True)


def _see(row: McpEntry, seen: Definition, now: datetime) -> None:
    """The state of an entry, from what it was and what the server shows now."""
    before = row.state
    same = row.definition_sha256 == seen.sha256
    row.definition, row.definition_sha256 = seen.body, seen.sha256
    row.problem, row.seen_at = seen.problem[:1000], now
    if seen.problem:
        row.state = State.QUARANTINED
    elif row.accepted_sha256:
        row.state = State.ACCEPTED if row.accepted_sha256 == seen.sha256 else State.CHANGED
    elif not (same and before == State.QUARANTINED):
        row.state = State.NEW
    if row._state.adding:
        return
    row.save()
    if before == State.ACCEPTED and row.state != State.ACCEPTED:
        _record(AuditAction.MCP_QUARANTINED, None, row)


@transaction.atomic
def accept_entries(
    *, actor: User, server: McpServer, expected: dict[Any, str], as_operator: bool = False
) -> list[McpEntry]:
    """Accept definitions by the hash that the person looked at; all of them or none."""
    _require(actor, server, as_operator=as_operator)
    rows = list(server.entries.select_for_update().filter(pk__in=expected))
    if len(rows) != len(expected) or not rows:
        raise InvalidInput.field("entries", "There is no such entry.")
    for row in rows:
        _check_acceptable(row, expected[row.pk])
    now = timezone.now()
    for row in rows:
        row.state = State.ACCEPTED
        row.accepted_definition, row.accepted_sha256 = row.definition, row.definition_sha256
        row.accepted_by, row.accepted_at = actor, now
        row.save()
        _record(AuditAction.MCP_ACCEPTED, actor, row, as_operator)
    return rows


@transaction.atomic
def reject_entry(*, actor: User, entry: McpEntry, as_operator: bool = False) -> McpEntry:
    """Take back or refuse: nothing uses this definition until somebody accepts it."""
    _require(actor, entry.server, as_operator=as_operator)
    row = McpEntry.objects.select_for_update().select_related("server__project").get(pk=entry.pk)
    row.state = State.QUARANTINED
    row.accepted_definition, row.accepted_sha256 = None, ""
    row.accepted_by = row.accepted_at = None
    row.save()
    _record(AuditAction.MCP_REJECTED, actor, row, as_operator)
    return row


@transaction.atomic
def quarantine_entry(entry: McpEntry, *, gone: bool) -> None:
    """A call found another definition than the accepted one; the next check shows which."""
    row = McpEntry.objects.select_for_update().select_related("server__project").get(pk=entry.pk)
    if row.state != State.ACCEPTED:
        return
    row.state = State.REMOVED if gone else State.CHANGED
    row.save(update_fields=["state"])
    McpServer.objects.filter(pk=row.server_id).update(next_check_at=timezone.now())
    _record(AuditAction.MCP_QUARANTINED, None, row)


def _check_acceptable(row: McpEntry, sha256: str) -> None:
    if row.definition_sha256 != sha256:
        raise Conflict(
            f"{row.name} has changed since you looked at it.", remedy="Look at it again."
        )
    if row.state == State.REMOVED:
        raise Conflict(f"The server does not offer {row.name} any more.")
    if row.problem:
        raise Conflict(f"{row.name} cannot be accepted: {row.problem}")


def _require(actor: User, server: McpServer, *, as_operator: bool) -> None:
    if as_operator:
        require_operator(actor, OPERATOR)
    else:
        require(actor, Permission.OPERATE, server.project)


def _record(
    action: AuditAction, actor: User | None, row: McpEntry, as_operator: bool = False
) -> None:
    audit.record(
        action,
        actor=actor,
        actor_label="" if actor else "omni",
        project=row.server.project,
        target=row,
        target_label=f"{row.server.slug}: {row.name}",
        data={"sha256": row.definition_sha256, "state": row.state}
        | audit.operator_mark(as_operator),
    )
