"""The registry's pages in the admin console, one file per noun."""

from apps.registry.admin import (
    audit,
    groups,
    idempotency,
    members,
    people,
    projects,
    sessions,
    sign_ins,
    tokens,
)

__all__ = [
    "audit",
    "groups",
    "idempotency",
    "members",
    "people",
    "projects",
    "sessions",
    "sign_ins",
    "tokens",
]
