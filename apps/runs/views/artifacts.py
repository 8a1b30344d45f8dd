"""Artifacts as downloads; never shown within the site, for anybody may have made them."""

from __future__ import annotations

from django.http import FileResponse, HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_GET

from apps.registry.views.doors import signed_in
from apps.runs import selectors
from apps.runs.models import Run
from apps.runs.services.artifacts import open_artifact
from apps.runs.views.doors import run_page


@run_page
@require_GET
def download(request: HttpRequest, run: Run, sha256: str) -> HttpResponseBase:
    use = selectors.use_of_artifact(signed_in(request), sha256, run.pk)
    response = FileResponse(
        open_artifact(sha256),
        as_attachment=True,
        filename=use.name or sha256,
        content_type="application/octet-stream",
    )
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return response
