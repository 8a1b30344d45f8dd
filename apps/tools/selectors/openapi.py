"""OpenAPI documents of a project."""

from __future__ import annotations

import uuid

from django.db.models import QuerySet

from apps.registry.models import Project, User
from apps.registry.permissions import require
from apps.registry.roles import Permission
from apps.tools.models import OpenApiDocument
from omni.contracts.errors import NotFound


def openapi_documents_of(user: User, project: Project) -> QuerySet[OpenApiDocument]:
    """The project's documents without their texts."""
    require(user, Permission.VIEW, project)
    rows = OpenApiDocument.objects.filter(project=project)
    return rows.defer("text").select_related("added_by")


def openapi_document_of(user: User, project: Project, sha256: str) -> OpenApiDocument:
    """One document with its text."""
    require(user, Permission.VIEW, project)
    rows = OpenApiDocument.objects.filter(project=project, sha256=sha256)
    row = rows.select_related("added_by").first()
    if row is None:
        raise NotFound("The project has no such document.")
    return row


def openapi_text(project_id: uuid.UUID, sha256: str) -> str:
    """The text that a tool of this project is pinned to, for its executor."""
    rows = OpenApiDocument.objects.filter(project_id=project_id, sha256=sha256)
    text = rows.values_list("text", flat=True).first()
    if text is None:
        raise NotFound("The project has no such document.")
    return text
