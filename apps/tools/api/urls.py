"""Addresses of the tools app's API."""

from django.urls import path

from apps.tools.api import openapi, secrets

app_name = "tools_api"

urlpatterns = [
    path("secrets", secrets.PlatformSecretList.as_view(), name="platform_secrets"),
    path("secrets/<str:name>", secrets.PlatformSecretDetail.as_view(), name="platform_secret"),
    path("projects/<slug:slug>/secrets", secrets.ProjectSecretList.as_view(), name="secrets"),
    path(
        "projects/<slug:slug>/secrets/<str:name>",
        secrets.ProjectSecretDetail.as_view(),
        name="secret",
    ),
    path("projects/<slug:slug>/openapi", openapi.OpenApiList.as_view(), name="openapi_documents"),
    path(
        "projects/<slug:slug>/openapi/<str:document>",
        openapi.OpenApiDetail.as_view(),
        name="openapi_document",
    ),
]
