"""The tools app in the admin console."""

from apps.tools.admin.openapi import OpenApiDocumentAdmin
from apps.tools.admin.secrets import SecretAdmin

__all__ = ["OpenApiDocumentAdmin", "SecretAdmin"]
