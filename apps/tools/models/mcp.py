"""MCP servers of a project, how they fare, and what they offer."""

from __future__ import annotations

import uuid
from typing import Any
from urllib.parse import urlsplit

from django.core.serializers.json import DjangoJSONEncoder
from django.core.validators import RegexValidator
from django.db import models

SERVER_SLUG = RegexValidator(
    r"^[a-z0-9]+(?:-[a-z0-9]+)*\Z", "Use lower-case letters and digits, with hyphens between them."
)


class McpServer(models.Model):
    """A server that speaks the Model Context Protocol; its credentials are secrets by name."""

    class Transport(models.TextChoices):
        STREAMABLE_HTTP = "streamable_http", "Streamable HTTP"
        SSE = "sse", "SSE"
        STDIO = "stdio", "Program in the sandbox"

    class Status(models.TextChoices):
        UNKNOWN = "unknown", "Not checked yet"
        HEALTHY = "healthy", "Healthy"
        FAILING = "failing", "Failing"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(
        "registry.Project", on_delete=models.CASCADE, related_name="mcp_servers"
    )
    slug = models.CharField(max_length=40, validators=[SERVER_SLUG])
    description = models.CharField(max_length=200, blank=True)
    transport = models.CharField(max_length=16, choices=Transport)
    url = models.CharField(max_length=2000, blank=True)
    headers = models.JSONField(default=dict, blank=True)
    command = models.JSONField(default=list, blank=True)
    environment = models.JSONField(default=dict, blank=True)
    egress = models.JSONField(default=list, blank=True)
    credentials = models.JSONField(default=dict, blank=True)
    allowed_private = models.JSONField(default=list, blank=True)
    enabled = models.BooleanField(default=True)
    status = models.CharField(max_length=16, choices=Status, default=Status.UNKNOWN)
    protocol = models.CharField(max_length=32, blank=True, editable=False)
    reported_name = models.CharField(max_length=160, blank=True, editable=False)
    faults = models.JSONField(default=list, blank=True, editable=False)
    added_by = models.ForeignKey("registry.User", on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    last_checked_at = models.DateTimeField(null=True, blank=True, editable=False)
    next_check_at = models.DateTimeField(null=True, blank=True, editable=False, db_index=True)
    check_requested_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        verbose_name = "MCP server"
        ordering = ("slug", "id")
        constraints = (models.UniqueConstraint("project", "slug", name="mcp_server_unique"),)

    def __str__(self) -> str:
        return self.slug

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    @property
    def is_waiting(self) -> bool:
        """Whether somebody asked for a check that has not happened."""
        asked, checked = self.check_requested_at, self.last_checked_at
        return asked is not None and (checked is None or checked < asked)


class McpCheck(models.Model):
    """One health check; only recent ones are kept."""

    id = models.BigAutoField(primary_key=True)
    server = models.ForeignKey(McpServer, on_delete=models.CASCADE, related_name="checks")
    at = models.DateTimeField()
    ok = models.BooleanField()
    latency_ms = models.PositiveIntegerField()
    category = models.CharField(max_length=32, blank=True)
    message = models.CharField(max_length=1000, blank=True)

    class Meta:
        verbose_name = "MCP check"
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"{self.server}: {'ok' if self.ok else self.category}"


class McpCatalog(models.Model):
    """What a server offered from some moment on; a new version only when something changed."""

    id = models.BigAutoField(primary_key=True)
    server = models.ForeignKey(McpServer, on_delete=models.CASCADE, related_name="catalogs")
    number = models.PositiveIntegerField()
    at = models.DateTimeField()
    sha256 = models.CharField(max_length=64)
    entries: models.JSONField[Any, Any] = models.JSONField(default=list, encoder=DjangoJSONEncoder)

    class Meta:
        verbose_name = "MCP catalog"
        ordering = ("-number",)
        constraints = (models.UniqueConstraint("server", "number", name="mcp_catalog_unique"),)

    def __str__(self) -> str:
        return f"{self.server} {self.number}"


class McpEntry(models.Model):
    """A tool, resource or prompt of a server; only an accepted definition is ever used."""

    class Kind(models.TextChoices):
        TOOL = "tool", "Tool"
        RESOURCE = "resource", "Resource"
        PROMPT = "prompt", "Prompt"

    class State(models.TextChoices):
        NEW = "new", "New"
        ACCEPTED = "accepted", "Accepted"
        CHANGED = "changed", "Changed"
        REMOVED = "removed", "Removed"
        QUARANTINED = "quarantined", "Quarantined"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    server = models.ForeignKey(McpServer, on_delete=models.CASCADE, related_name="entries")
    kind = models.CharField(max_length=16, choices=Kind)
    name = models.CharField(max_length=500)
    definition: models.JSONField[Any, Any] = models.JSONField(default=dict)
    definition_sha256 = models.CharField(max_length=64)
    problem = models.CharField(max_length=1000, blank=True)
    state = models.CharField(max_length=16, choices=State, default=State.NEW)
    renamed_from = models.CharField(max_length=500, blank=True)
    accepted_definition: models.JSONField[Any, Any] = models.JSONField(null=True, blank=True)
    accepted_sha256 = models.CharField(max_length=64, blank=True)
    accepted_by = models.ForeignKey(
        "registry.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    accepted_at = models.DateTimeField(null=True, blank=True)
    seen_at = models.DateTimeField()

    class Meta:
        verbose_name = "MCP entry"
        verbose_name_plural = "MCP entries"
        ordering = ("kind", "name")
        constraints = (
            models.UniqueConstraint("server", "kind", "name", name="mcp_entry_unique"),
            # Whoever writes it: accepted means this very definition.
            models.CheckConstraint(
                condition=~models.Q(state="accepted")
                | models.Q(accepted_sha256=models.F("definition_sha256")),
                name="mcp_entry_accepted_as_it_is",
            ),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def is_usable(self) -> bool:
        return self.state == self.State.ACCEPTED
