"""Addresses of a project's secrets and MCP servers in the workspace."""

from django.urls import path

from apps.tools import views
from apps.tools.mcp import views as mcp

app_name = "tools"

_SECRETS = "projects/<slug:slug>/secrets"

_MCP = "projects/<slug:slug>/mcp"
_SERVER = f"{_MCP}/<slug:server>"
_ENTRY = f"{_SERVER}/entries/<uuid:mcp_entry>"

urlpatterns = [
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
    path(f"{_ENTRY}/reject", mcp.reject, name="mcp_reject"),
    path(_SECRETS, views.project_secrets, name="project_secrets"),
    path(f"{_SECRETS}/<str:name>/replace", views.replace, name="secret_replace"),
    path(f"{_SECRETS}/<str:name>/delete", views.delete, name="secret_delete"),
]
