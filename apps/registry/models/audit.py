"""The audit log: sign-ins, permission changes, denials and sensitive actions, for good."""

from __future__ import annotations

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models


class AuditAction(models.TextChoices):
    """Closed set of what is recorded."""

    SIGNED_IN = "signed_in", "Signed in"
    SIGNED_OUT = "signed_out", "Signed out"
    SIGN_IN_FAILED = "sign_in_failed", "Sign-in failed"
    SIGN_IN_LOCKED = "sign_in_locked", "Sign-in locked"
    PASSWORD_CHANGED = "password_changed", "Password changed"
    SESSIONS_ENDED = "sessions_ended", "Other sessions signed out"
    PASSWORD_LINK_MADE = "password_link_made", "Link to set a password made"
    USER_CREATED = "user_created", "Person added"
    USER_CHANGED = "user_changed", "Person changed"
    PROJECT_CREATED = "project_created", "Project created"
    PROJECT_CHANGED = "project_changed", "Project changed"
    PROJECT_ARCHIVED = "project_archived", "Project archived"
    PROJECT_RESTORED = "project_restored", "Project restored"
    ROLES_CHANGED = "roles_changed", "Roles changed"
    MEMBER_REMOVED = "member_removed", "Member removed"
    TOKEN_CREATED = "token_created", "API token created"
    TOKEN_REVOKED = "token_revoked", "API token revoked"
    SECRET_SET = "secret_set", "Secret set"
    SECRET_DELETED = "secret_deleted", "Secret deleted"
    TOOL_REGISTERED = "tool_registered", "Tool registered"
    TOOL_DEPRECATED = "tool_deprecated", "Tool deprecated"
    TOOL_INSTALLED = "tool_installed", "Tool installed"
    TOOL_PINNED = "tool_pinned", "Tool pinned to a version"
    TOOL_UNINSTALLED = "tool_uninstalled", "Tool uninstalled"
    POLICY_PUBLISHED = "policy_published", "Policy published"
    POLICY_PUT_IN_FORCE = "policy_put_in_force", "Policy put in force"
    POLICY_WITHDRAWN = "policy_withdrawn", "Policy withdrawn"
    RULE_ADDED = "rule_added", "Rule added"
    RULE_WITHDRAWN = "rule_withdrawn", "Rule withdrawn"
    OPENAPI_ADDED = "openapi_added", "OpenAPI document added"
    OPENAPI_REMOVED = "openapi_removed", "OpenAPI document removed"
    EVENT_ERASED = "event_erased", "Payload of an event erased"
    SECRET_KEYS_ROTATED = "secret_keys_rotated", "Encryption keys rotated"
    MCP_SERVER_ADDED = "mcp_server_added", "MCP server added"
    MCP_SERVER_CHANGED = "mcp_server_changed", "MCP server changed"
    MCP_SERVER_REMOVED = "mcp_server_removed", "MCP server removed"
    MCP_ACCEPTED = "mcp_definition_accepted", "Definition of an MCP server accepted"
    MCP_REJECTED = "mcp_definition_rejected", "Definition of an MCP server rejected"
    MCP_QUARANTINED = "mcp_definition_quarantined", "Definition of an MCP server quarantined"
    AUDIT_EXPORTED = "audit_exported", "Audit log exported"
    PERMISSION_DENIED = "permission_denied", "Permission denied"
    ADMIN_CHANGED = "admin_changed", "Changed in the admin console"


class AuditEntry(models.Model):
    """One thing somebody did or was refused. A trigger refuses UPDATE, DELETE and TRUNCATE."""

    id = models.BigAutoField(primary_key=True)
    at = models.DateTimeField(db_default=models.functions.Now(), editable=False)
    actor = models.ForeignKey(
        "registry.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    actor_label = models.CharField(max_length=254, blank=True)
    action = models.CharField(max_length=32, choices=AuditAction)
    allowed = models.BooleanField(default=True)
    project = models.ForeignKey(
        "registry.Project", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    target_type = models.CharField(max_length=40, blank=True)
    target_id = models.CharField(max_length=64, blank=True)
    target_label = models.CharField(max_length=254, blank=True)
    data = models.JSONField(default=dict, blank=True, encoder=DjangoJSONEncoder)
    ip_address = models.GenericIPAddressField(null=True, blank=True)
    request_id = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ("-id",)
        verbose_name_plural = "audit entries"
        indexes = (
            models.Index(fields=["project", "-id"], name="audit_by_project"),
            models.Index(fields=["actor", "-id"], name="audit_by_actor"),
            models.Index(fields=["action", "-id"], name="audit_by_action"),
        )

    def __str__(self) -> str:
        return f"{self.get_action_display()}: {self.target_label or self.actor_label}"
