"""Rows of the tools app."""

from apps.tools.models.secret import Secret

__all__ = ["Secret"]
