"""Reads of the tools app; a secret's value is in none of them."""

from apps.tools.selectors.openapi import openapi_document_of, openapi_documents_of, openapi_text
from apps.tools.selectors.secrets import secrets_of

__all__ = ["openapi_document_of", "openapi_documents_of", "openapi_text", "secrets_of"]
