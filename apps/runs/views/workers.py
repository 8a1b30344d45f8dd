"""The processes behind the platform, for anybody who is signed in."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.runs import selectors

SHOWN = 50


@login_required
@require_GET
def worker_list(request: HttpRequest) -> HttpResponse:
    return render(request, "runs/worker_list.html", {"workers": selectors.workers()[:SHOWN]})


@login_required
@require_GET
def worker_rows(request: HttpRequest) -> HttpResponse:
    """The table alone, for the page's live update."""
    return render(request, "runs/_workers.html", {"workers": selectors.workers()[:SHOWN]})
