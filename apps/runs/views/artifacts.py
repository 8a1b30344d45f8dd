"""Files of runs: given, and handed out as downloads; never shown within the site."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from apps.registry.permissions import require
from apps.registry.roles import Permission
from apps.registry.views.doors import signed_in, status_of, submit
from apps.runs import selectors
from apps.runs.download import UNNAMED
from apps.runs.download import download as answer
from apps.runs.forms import FileForm
from apps.runs.models import ArtifactUse, Run
from apps.runs.services.artifacts import attach_artifact, open_artifact, receive
from apps.runs.views.doors import run_page


@run_page
@require_http_methods(["GET", "POST"])
def attach(request: HttpRequest, run: Run) -> HttpResponse:
    """Give a run a file from the browser."""
    user = signed_in(request)
    require(user, Permission.OPERATE, run.project)
    is_sent = request.method == "POST"
    form = FileForm(request.POST if is_sent else None, request.FILES if is_sent else None)

    def store(data: dict[str, Any]) -> ArtifactUse:
        file = data["file"]
        kind = file.content_type or UNNAMED
        with receive(file) as received:
            return attach_artifact(
                actor=user, run=run, received=received, media_type=kind, name=file.name
            )

    if is_sent and submit(form, store):
        messages.success(request, "The run has the file.")
        return redirect("runs:run_detail", run.pk)
    context = {
        "cancel_url": reverse("runs:run_detail", args=[run.pk]),
        "form": form,
        "title": "Give this run a file",
        "message": "It is stored under the hash of its content and noted in the run's log.",
        "confirm_label": "Attach file",
    }
    return render(request, "workspace/_confirm.html", context, status=status_of(form))


@run_page
@require_safe
def download(request: HttpRequest, run: Run, sha256: str) -> HttpResponseBase:
    use = selectors.use_of_artifact(signed_in(request), sha256, run.pk)
    stream = open_artifact(sha256)
    return answer(request, stream, size=use.artifact.size, name=use.name or sha256)
