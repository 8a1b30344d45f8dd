"""The processes behind the platform, for anybody who is signed in."""

from __future__ import annotations

import uuid

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.registry.views.doors import signed_in
from apps.runs import selectors

SHOWN = 50


@login_required
@require_GET
def worker_list(request: HttpRequest) -> HttpResponse:
    return _render(request, "runs/worker_list.html")


@login_required
@require_GET
def worker_rows(request: HttpRequest) -> HttpResponse:
    """The table alone, for the page's live update."""
    return _render(request, "runs/_workers.html")


@login_required
@require_GET
def worker_detail(request: HttpRequest, worker_id: uuid.UUID) -> HttpResponse:
    """One process, in the drawer or on its own; a run is shown only to those who may see it."""
    worker = selectors.worker_seen_by(signed_in(request), worker_id)
    return render(request, "runs/worker.html", {"worker": worker})


def _render(request: HttpRequest, template: str) -> HttpResponse:
    found = selectors.workers_seen_by(signed_in(request))[:SHOWN]
    return render(request, template, {"workers": found})
