"""Rows of the registry, one file per noun."""

from apps.registry.models.audit import AuditAction, AuditEntry
from apps.registry.models.idempotency import IdempotencyRecord
from apps.registry.models.project import Membership, Project, ProjectUserObjectPermission
from apps.registry.models.session import Session
from apps.registry.models.token import ApiToken, Scope
from apps.registry.models.user import User

__all__ = [
    "ApiToken",
    "AuditAction",
    "AuditEntry",
    "IdempotencyRecord",
    "Membership",
    "Project",
    "ProjectUserObjectPermission",
    "Scope",
    "Session",
    "User",
]
