"""API tokens: shown once, kept as a digest, limited by scope and time."""

from __future__ import annotations

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone


class Scope(models.TextChoices):
    """What a token may do, within what its owner may do."""

    READ = "read", "Read what you can see"
    WRITE = "write", "Create and change what you may"
    SECRETS = "secrets", "Set and delete secrets"
    ADMIN = "admin", "Manage members, tokens and people"


class ApiToken(models.Model):
    """A program's way in, on behalf of a person."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey("registry.User", on_delete=models.CASCADE, related_name="api_tokens")
    parent = models.ForeignKey(
        "self",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        editable=False,
        related_name="children",
        help_text="The token that made this one; they end together.",
    )
    name = models.CharField(max_length=80, help_text="What uses it, such as “nightly import”.")
    prefix = models.CharField(max_length=16, editable=False)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    scopes = ArrayField(models.CharField(max_length=16, choices=Scope))
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        verbose_name = "API token"
        ordering = ("-created_at", "id")

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @property
    def is_usable(self) -> bool:
        return self.revoked_at is None and self.expires_at > timezone.now()
