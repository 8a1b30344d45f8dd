"""Reads of the tools app; those that serve people ask first what they may see."""

from apps.tools.selectors.openapi import openapi_document_of, openapi_documents_of, openapi_text
from apps.tools.selectors.policies import (
    in_force,
    platform_policies,
    policies_of,
    policy_history,
    policy_version,
    policy_versions,
    published_policies,
    rulebook_of,
    rules_of,
)
from apps.tools.selectors.secrets import secrets_of
from apps.tools.selectors.tools import (
    Use,
    available_tool,
    available_tools,
    installations_of,
    installed_tool,
    pinned_tool,
    pins_of,
    tools_of,
    users_of_tool,
    versions_of,
    visible_tools,
)

__all__ = [
    "Use",
    "available_tool",
    "available_tools",
    "in_force",
    "installations_of",
    "installed_tool",
    "openapi_document_of",
    "openapi_documents_of",
    "openapi_text",
    "pinned_tool",
    "pins_of",
    "platform_policies",
    "policies_of",
    "policy_history",
    "policy_version",
    "policy_versions",
    "published_policies",
    "rulebook_of",
    "rules_of",
    "secrets_of",
    "tools_of",
    "users_of_tool",
    "versions_of",
    "visible_tools",
]
