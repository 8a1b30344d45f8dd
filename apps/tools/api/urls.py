"""Addresses of the tools app's API."""

from django.urls import path

from apps.tools.api import mcp, secrets

app_name = "tools_api"

_SERVERS = "projects/<slug:slug>/mcp/servers"
_SERVER = f"{_SERVERS}/<slug:server>"
_ENTRY = f"{_SERVER}/entries/<uuid:mcp_entry>"

urlpatterns = [
    path("secrets", secrets.PlatformSecretList.as_view(), name="platform_secrets"),
    path("secrets/<str:name>", secrets.PlatformSecretDetail.as_view(), name="platform_secret"),
    path("projects/<slug:slug>/secrets", secrets.ProjectSecretList.as_view(), name="secrets"),
    path(
        "projects/<slug:slug>/secrets/<str:name>",
        secrets.ProjectSecretDetail.as_view(),
        name="secret",
    ),
    path(_SERVERS, mcp.McpServerList.as_view(), name="mcp_servers"),
    path(_SERVER, mcp.McpServerDetail.as_view(), name="mcp_server"),
    path(f"{_SERVER}/check", mcp.McpServerCheck.as_view(), name="mcp_check"),
    path(f"{_SERVER}/checks", mcp.McpCheckList.as_view(), name="mcp_checks"),
    path(f"{_SERVER}/entries", mcp.McpEntryList.as_view(), name="mcp_entries"),
    path(f"{_SERVER}/accept", mcp.McpAccept.as_view(), name="mcp_accept"),
    path(f"{_SERVER}/catalogs", mcp.McpCatalogList.as_view(), name="mcp_catalogs"),
    path(f"{_SERVER}/diff", mcp.McpDiff.as_view(), name="mcp_diff"),
    path(_ENTRY, mcp.McpEntryDetail.as_view(), name="mcp_entry"),
    path(f"{_ENTRY}/manifest", mcp.McpEntryManifest.as_view(), name="mcp_manifest"),
    path(f"{_ENTRY}/reject", mcp.McpEntryReject.as_view(), name="mcp_reject"),
]
