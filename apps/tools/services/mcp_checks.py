"""Health checks of MCP servers; each also refreshes the catalog. Never within a run."""

from __future__ import annotations

import threading
import time
import uuid
from datetime import timedelta
from typing import Any

import structlog
from celery import current_app
from django.db import connections, transaction
from django.db.models import F, Q
from django.utils import timezone

from apps.registry.models import User
from apps.registry.permissions import require, require_operator
from apps.registry.roles import Permission
from apps.tools.executors.base import ToolError
from apps.tools.mcp.client import Found, discover
from apps.tools.models import McpCheck, McpServer
from apps.tools.services.mcp_catalog import record_catalog
from apps.tools.services.mcp_servers import OPERATOR, target_of
from omni import config
from omni.contracts.errors import Conflict

log = structlog.get_logger(__name__)
CHECK = "apps.tools.tasks.check_mcp_server"
KEPT = 100
BATCH = 50
# A check that nobody took by then is not worth taking.
STALE_SECONDS = 120
# Checks at the same time in one process.
_slots = threading.BoundedSemaphore(16)


def request_check(*, actor: User, server: McpServer, as_operator: bool = False) -> McpServer:
    """Have the server checked soon, by a worker."""
    if as_operator:
        require_operator(actor, OPERATOR)
    else:
        require(actor, Permission.OPERATE, server.project)
    if not server.enabled:
        raise Conflict("The server is switched off.", remedy="Switch it on first.")
    server.check_requested_at = timezone.now()
    server.save(update_fields=["check_requested_at"])
    send_check(server.pk)
    return server


def send_check(server_id: uuid.UUID) -> None:
    """After commit, hand it to a worker; a lost hint is repeated by the next round of beat."""
    transaction.on_commit(lambda: _send(server_id))


def send_due_checks() -> int:
    """Hand every server whose time has come to a worker; two of these at once do no harm."""
    now = timezone.now()
    due = Q(next_check_at__lte=now) | Q(next_check_at=None)
    asked = Q(check_requested_at__lt=now - timedelta(seconds=STALE_SECONDS))
    due |= asked & (Q(last_checked_at=None) | Q(last_checked_at__lt=F("check_requested_at")))
    with transaction.atomic():
        rows = McpServer.objects.select_for_update(skip_locked=True, of=("self",)).filter(
            due, enabled=True, project__archived_at=None
        )
        ids = list(rows.order_by("next_check_at").values_list("pk", flat=True)[:BATCH])
        later = now + timedelta(seconds=config.current().mcp_check_seconds)
        McpServer.objects.filter(pk__in=ids).update(next_check_at=later)
    for server_id in ids:
        _send(server_id)
    return len(ids)


def begin_check(server_id: uuid.UUID) -> None:
    """Check in a thread of its own: a server that stalls must not hold a worker's slot for runs."""
    if not _slots.acquire(blocking=False):
        log.warning("mcp_check_put_off", server=str(server_id))
        return
    threading.Thread(target=_check_aside, args=[server_id], name="mcp-check", daemon=True).start()


def _check_aside(server_id: uuid.UUID) -> None:
    try:
        check_server(server_id)
    finally:
        connections.close_all()
        _slots.release()


def check_server(server_id: uuid.UUID) -> McpCheck | None:
    """Ask the server for its catalog and record how that went; no row is locked meanwhile."""
    server = McpServer.objects.select_related("project").filter(pk=server_id, enabled=True).first()
    if server is None:
        return None
    began = time.monotonic()
    found: Found | None = None
    failure: ToolError | None = None
    try:
        found = discover(target_of(server))
    except ToolError as error:
        failure = error
    latency = int((time.monotonic() - began) * 1000)
    return _record(server, found, failure, latency)


@transaction.atomic
def _record(
    server: McpServer, found: Found | None, failure: ToolError | None, latency: int
) -> McpCheck | None:
    row = McpServer.objects.select_for_update().filter(pk=server.pk).first()
    if row is None or row.updated_at != server.updated_at:
        return None  # removed or changed meanwhile: the answer is about another server
    now = timezone.now()
    check = McpCheck.objects.create(
        server=row,
        at=now,
        ok=failure is None,
        latency_ms=latency,
        category=failure.kind if failure else "",
        message=str(failure)[:1000] if failure else "",
    )
    later = now + timedelta(seconds=config.current().mcp_check_seconds)
    changes: dict[str, Any] = {"last_checked_at": now, "next_check_at": later}
    changes["status"] = McpServer.Status.FAILING if failure else McpServer.Status.HEALTHY
    if found is not None:
        about = f"{found.server_name} {found.server_version}".strip()
        changes |= {"protocol": found.protocol[:32], "reported_name": about[:160]}
        changes["faults"] = list(found.faults)
        record_catalog(row, found)
    # Past `save`: it would count as a change of the server itself.
    McpServer.objects.filter(pk=row.pk).update(**changes)
    _forget_old(row)
    log.info("mcp_checked", server=row.slug, ok=check.ok, category=check.category)
    return check


def _forget_old(server: McpServer) -> None:
    kept = server.checks.order_by("-id").values_list("pk", flat=True)[:KEPT]
    server.checks.exclude(pk__in=list(kept)).delete()


def _send(server_id: uuid.UUID) -> None:
    try:
        current_app.send_task(
            CHECK, [str(server_id)], retry=False, ignore_result=True, expires=STALE_SECONDS
        )
    except Exception as error:  # noqa: BLE001  (each broker has its own errors; beat repeats it)
        log.warning("hint_not_sent", task=CHECK, error=type(error).__name__)
