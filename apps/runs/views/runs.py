"""A run's page: what it is, what happened, and the log behind it."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.registry.permissions import permissions_of
from apps.registry.roles import Permission
from apps.registry.views.doors import signed_in
from apps.runs import eventlog, selectors
from apps.runs.models import Run
from apps.runs.selectors.runs import run_detail as detail_of
from apps.runs.timeline.items import pretty
from apps.runs.timeline.people import People
from apps.runs.timeline.words import STATUS_WORDS, costs
from apps.runs.views.doors import run_page
from apps.runs.views.timeline import timeline_of
from omni.engine.lifecycle import TERMINAL

PAGE = 25


@login_required
@require_GET
def run_list(request: HttpRequest) -> HttpResponse:
    status = request.GET.get("status", "")
    status = status if status in STATUS_WORDS else ""
    runs = selectors.visible_runs(signed_in(request), status=status)
    ordered = runs.select_related("projection").order_by("-created_at", "id")
    context = {
        "page": Paginator(ordered, PAGE).get_page(request.GET.get("page")),
        "status": status,
        "statuses": STATUS_WORDS,
        "with_project": True,
    }
    return render(request, "runs/run_list.html", context)


@run_page
@require_GET
def run_detail(request: HttpRequest, run: Run) -> HttpResponse:
    context = summary_of(request, run)
    context["timeline"] = timeline_of(request, run, context["state"])
    return render(request, "runs/run_detail.html", context)


@run_page
@require_GET
def run_summary(request: HttpRequest, run: Run) -> HttpResponse:
    """The figures and actions alone, for the page's live update."""
    return render(request, "runs/_summary.html", {**summary_of(request, run), "is_update": True})


@run_page
@require_GET
def run_event(request: HttpRequest, run: Run, seq: int) -> HttpResponse:
    """An event as it was recorded."""
    event = selectors.visible_event(run, seq)
    people = People()
    people.learn([event.actor])
    context = {
        "run": run,
        "event": event,
        "who": people.name(event.actor),
        "raw": pretty(event.as_json()),
    }
    return render(request, "runs/event.html", context)


@run_page
@require_GET
def run_verify(request: HttpRequest, run: Run) -> HttpResponse:
    context = {"run": run, "verdict": eventlog.verify(run.pk)}
    return render(request, "runs/verdict.html", context)


def summary_of(request: HttpRequest, run: Run) -> dict[str, Any]:
    user = signed_in(request)
    detail = detail_of(user, run.pk)
    held = permissions_of(user, run.project)
    has_ended = run.status in TERMINAL
    return {
        "run": run,
        "project": run.project,
        "thread": run.thread,
        "state": detail.state,
        "cost": costs(detail.state.usage.cost),
        "children": detail.children,
        "worker": None if has_ended else selectors.holder_of(run),
        "has_ended": has_ended,
        "can_operate": Permission.OPERATE in held,
        "can_cancel": not has_ended and not run.cancel_requested,
    }
