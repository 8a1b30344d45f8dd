"""Addresses of the tools app's API."""

from django.urls import path

from apps.tools.api import mcp, openapi, policies, secrets, tools

app_name = "tools_api"

_PROJECT = "projects/<slug:slug>"
_TOOL = f"{_PROJECT}/tools/<str:tool>"
_POLICY = f"{_PROJECT}/policies/<str:policy>"
_SERVERS = f"{_PROJECT}/mcp/servers"
_SERVER = f"{_SERVERS}/<slug:server>"
_ENTRY = f"{_SERVER}/entries/<uuid:mcp_entry>"

urlpatterns = [
    path("secrets", secrets.PlatformSecretList.as_view(), name="platform_secrets"),
    path("secrets/<str:name>", secrets.PlatformSecretDetail.as_view(), name="platform_secret"),
    path(f"{_PROJECT}/secrets", secrets.ProjectSecretList.as_view(), name="secrets"),
    path(f"{_PROJECT}/secrets/<str:name>", secrets.ProjectSecretDetail.as_view(), name="secret"),
    path("tools", tools.ToolList.as_view(), name="all_tools"),
    path("tools/validate", tools.ToolValidation.as_view(), name="tool_validation"),
    path("tools/<uuid:id>", tools.ToolDetail.as_view(), name="tool_version"),
    path("tools/<uuid:id>/deprecate", tools.ToolDeprecation.as_view(), name="tool_deprecation"),
    path(f"{_PROJECT}/tools", tools.ProjectToolList.as_view(), name="tools"),
    path(f"{_PROJECT}/available-tools", tools.ProjectCatalogue.as_view(), name="available_tools"),
    path(_TOOL, tools.ProjectTool.as_view(), name="tool"),
    path(f"{_TOOL}/pin", tools.ProjectToolPin.as_view(), name="tool_pin"),
    path("policies", policies.PlatformPolicyList.as_view(), name="platform_policies"),
    path(
        "policies/<str:policy>/use",
        policies.PlatformPolicyUse.as_view(),
        name="platform_policy_use",
    ),
    path(f"{_PROJECT}/policies", policies.ProjectPolicyList.as_view(), name="policies"),
    path(_POLICY, policies.ProjectPolicyDetail.as_view(), name="policy"),
    path(f"{_POLICY}/use", policies.ProjectPolicyUse.as_view(), name="policy_use"),
    path(f"{_PROJECT}/rules", policies.RuleList.as_view(), name="rules"),
    path(f"{_PROJECT}/rules/<str:rule>", policies.RuleDetail.as_view(), name="rule"),
    path(f"{_PROJECT}/decisions", policies.DecisionDoor.as_view(), name="decisions"),
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
    path(f"{_ENTRY}/pin", mcp.McpEntryPin.as_view(), name="mcp_pin"),
    path(f"{_ENTRY}/reject", mcp.McpEntryReject.as_view(), name="mcp_reject"),
    path("projects/<slug:slug>/openapi", openapi.OpenApiList.as_view(), name="openapi_documents"),
    path(
        "projects/<slug:slug>/openapi/<str:document>",
        openapi.OpenApiDetail.as_view(),
        name="openapi_document",
    ),
    path(
        "projects/<slug:slug>/openapi/<str:document>/install",
        openapi.OpenApiInstall.as_view(),
        name="openapi_install",
    ),
]
