"""Every address of the platform."""

from __future__ import annotations

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path, re_path

from apps.registry.api.doors import UnknownAddress
from omni import celery as _celery  # noqa: F401  (doors send tasks through this application)
from omni.edge.health import healthz, readyz
from omni.edge.metrics import metrics

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
    path("admin/", admin.site.urls),
    path("api/", include("apps.registry.api.urls")),
    path("api/", include("apps.tools.api.urls")),
    path("api/", include("apps.runs.api.urls")),
    re_path(r"^api(?:/|$)", UnknownAddress.as_view(), name="api_unknown"),
    path("", include("apps.registry.urls")),
    path("", include("apps.tools.urls")),
    path("", include("apps.runs.urls")),
    path("", include("omni.workspace.urls")),
]
handler400 = "omni.edge.errors.bad_request"
handler403 = "omni.edge.errors.permission_denied"
handler404 = "omni.edge.errors.not_found"
handler500 = "omni.edge.errors.server_error"
