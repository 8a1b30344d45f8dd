"""Rows of the tools app."""

from apps.tools.models.openapi import OpenApiDocument
from apps.tools.models.secret import Secret

__all__ = ["OpenApiDocument", "Secret"]
