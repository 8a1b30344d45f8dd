"""Artifacts as downloads; never shown within the site, for anybody may have made them."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from apps.registry.views.doors import signed_in
from apps.runs import selectors
from apps.runs.download import download as answer
from apps.runs.models import Run
from apps.runs.services.artifacts import open_artifact
from apps.runs.views.doors import run_page


@run_page
@require_safe
def download(request: HttpRequest, run: Run, sha256: str) -> HttpResponseBase:
    use = selectors.use_of_artifact(signed_in(request), sha256, run.pk)
    stream = open_artifact(sha256)
    return answer(request, stream, size=use.artifact.size, name=use.name or sha256)
