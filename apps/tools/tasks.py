"""Celery's door into the tools app: checks of MCP servers, outside of every run."""

from __future__ import annotations

import uuid

from celery import shared_task

from apps.tools.services.mcp_checks import begin_check, send_due_checks


@shared_task(name="apps.tools.tasks.check_mcp_servers")
def check_mcp_servers() -> None:
    send_due_checks()


@shared_task(name="apps.tools.tasks.check_mcp_server")
def check_mcp_server(server_id: str) -> None:
    begin_check(uuid.UUID(server_id))
