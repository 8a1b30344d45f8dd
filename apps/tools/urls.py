"""Addresses of a project's secrets, tools, policies and MCP servers in the workspace."""

from django.urls import path

from apps.tools.mcp import views as mcp
from apps.tools.views import policies, secrets, tools

app_name = "tools"

_PROJECT = "projects/<slug:slug>"
_SECRETS = f"{_PROJECT}/secrets"
_TOOLS = f"{_PROJECT}/tools"
_TOOL = f"{_TOOLS}/<str:tool>"
_POLICIES = f"{_PROJECT}/policies"
_POLICY = f"{_POLICIES}/<str:policy>"

_MCP = "projects/<slug:slug>/mcp"
_SERVER = f"{_MCP}/<slug:server>"
_ENTRY = f"{_SERVER}/entries/<uuid:mcp_entry>"

# No tool and no policy can be called “-”, so what stands behind it is free for pages.
urlpatterns = [
    path(_SECRETS, secrets.project_secrets, name="project_secrets"),
    path(f"{_SECRETS}/<str:name>/replace", secrets.replace, name="secret_replace"),
    path(f"{_SECRETS}/<str:name>/delete", secrets.delete, name="secret_delete"),
    path(_TOOLS, tools.tool_list, name="tool_list"),
    path(f"{_TOOLS}/-/new", tools.tool_new, name="tool_new"),
    path(_TOOL, tools.tool_detail, name="tool_detail"),
    path(f"{_TOOL}/install", tools.tool_install, name="tool_install"),
    path(f"{_TOOL}/pin", tools.tool_pin, name="tool_pin"),
    path(f"{_TOOL}/uninstall", tools.tool_uninstall, name="tool_uninstall"),
    path(_POLICIES, policies.policy_list, name="policy_list"),
    path(f"{_POLICIES}/-/new", policies.policy_new, name="policy_new"),
    path(f"{_POLICIES}/-/why", policies.why, name="why"),
    path(_POLICY, policies.policy_detail, name="policy_detail"),
    path(f"{_POLICY}/use", policies.policy_use, name="policy_use"),
    path(f"{_POLICY}/withdraw", policies.policy_withdraw, name="policy_withdraw"),
    path(f"{_PROJECT}/rules/<str:rule>/withdraw", policies.rule_withdraw, name="rule_withdraw"),
    path("mcp/", mcp.all_servers, name="mcp_servers"),
    path(_MCP, mcp.project_servers, name="mcp_project"),
    path(f"{_MCP}/new", mcp.add, name="mcp_add"),
    path(_SERVER, mcp.server_page, name="mcp_server"),
    path(f"{_SERVER}/state", mcp.server_state, name="mcp_state"),
    path(f"{_SERVER}/change", mcp.change, name="mcp_change"),
    path(f"{_SERVER}/check", mcp.check, name="mcp_check"),
    path(f"{_SERVER}/remove", mcp.remove, name="mcp_remove"),
    path(f"{_SERVER}/accept", mcp.accept, name="mcp_accept"),
    path(f"{_SERVER}/changes", mcp.catalog_changes, name="mcp_changes"),
    path(_ENTRY, mcp.entry_page, name="mcp_entry"),
    path(f"{_ENTRY}/pin", mcp.pin, name="mcp_pin"),
    path(f"{_ENTRY}/reject", mcp.reject, name="mcp_reject"),
]
