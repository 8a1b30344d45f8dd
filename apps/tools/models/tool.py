"""Tools: versions that never change once published, and which of them a project has."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, cast

from django.db import models

if TYPE_CHECKING:
    from omni.contracts.types.tool_manifest import ToolManifest


class ToolOrigin(models.TextChoices):
    BUILTIN = "builtin", "Comes with the platform"
    REGISTERED = "registered", "Registered by a person"
    PACKAGE = "package", "From a package"
    MCP = "mcp", "From an MCP server"
    OPENAPI = "openapi", "From an OpenAPI document"


class ToolVersion(models.Model):
    """One published manifest. A trigger refuses to change it, and to delete it once it was used."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(
        "registry.Project",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="own_tools",
        help_text="The only project that sees it; empty for all.",
    )
    name = models.CharField(max_length=128)
    version = models.CharField(max_length=64)
    manifest = models.JSONField()
    sha256 = models.CharField(max_length=64, db_index=True)
    origin = models.CharField(max_length=16, choices=ToolOrigin)
    deprecated = models.CharField(
        max_length=2000, blank=True, help_text="Why not to use it any more, and what instead."
    )
    created_by = models.ForeignKey(
        "registry.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    first_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ("name", "-created_at")
        constraints = (
            models.UniqueConstraint(
                "project", "name", "version", name="tool_version_unique", nulls_distinct=False
            ),
        )

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def declared(self) -> ToolManifest:
        """The manifest with its type."""
        return cast("ToolManifest", self.manifest)

    @property
    def pin(self) -> dict[str, str]:
        """What a run records of it."""
        return {"version": self.version, "sha256": self.sha256}

    @property
    def title(self) -> str:
        return str(self.manifest.get("title") or self.name)

    @property
    def warning(self) -> str:
        """Why not to use it: said by an operator, or in the manifest."""
        return self.deprecated or str(self.manifest.get("deprecated", ""))


class ToolInstallation(models.Model):
    """A version that a project has; several stand side by side, and one is what it means."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(
        "registry.Project", on_delete=models.CASCADE, related_name="installations"
    )
    tool = models.ForeignKey(ToolVersion, on_delete=models.PROTECT, related_name="installations")
    name = models.CharField(max_length=128, editable=False)
    is_pinned = models.BooleanField(
        default=False, help_text="The version that the name alone stands for."
    )
    enabled = models.BooleanField(default=True)
    installed_by = models.ForeignKey(
        "registry.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    installed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("name", "-is_pinned", "-installed_at")
        constraints = (
            models.UniqueConstraint("project", "tool", name="installation_unique"),
            models.UniqueConstraint(
                fields=("project", "name"),
                condition=models.Q(is_pinned=True),
                name="installation_one_pin",
            ),
        )

    def __str__(self) -> str:
        return f"{self.tool} in {self.project}"
