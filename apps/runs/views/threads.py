"""Threads of a project: listed, begun, and talked in."""

from __future__ import annotations

import uuid
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from apps.registry.models import Project
from apps.registry.permissions import may, require
from apps.registry.roles import Permission
from apps.registry.views.doors import member_page, signed_in, status_of, submit
from apps.runs import selectors
from apps.runs.forms import MessageForm, ThreadForm
from apps.runs.models import Run, Thread
from apps.runs.services.runs import create_run, create_thread
from omni.contracts.errors import NotFound

PAGE = 25


@member_page
@require_GET
def thread_list(request: HttpRequest, project: Project) -> HttpResponse:
    user = signed_in(request)
    q = request.GET.get("q", "")[:200].strip()
    threads = selectors.visible_threads(user, project, q=q).order_by("-updated_at", "id")
    context = {
        "project": project,
        "page": Paginator(threads, PAGE).get_page(request.GET.get("page")),
        "q": q,
        "can_operate": _can_start(request, project),
    }
    return render(request, "runs/thread_list.html", context)


@member_page
@require_http_methods(["GET", "POST"])
def thread_create(request: HttpRequest, project: Project) -> HttpResponse:
    user = signed_in(request)
    require(user, Permission.OPERATE, project)
    form = ThreadForm(request.POST if request.method == "POST" else None)
    made: list[Thread] = []
    if request.method == "POST" and submit(
        form, lambda data: made.append(create_thread(actor=user, project=project, **data))
    ):
        return redirect("runs:thread_detail", slug=project.slug, thread_id=made[0].pk)
    context = {"project": project, "form": form}
    return render(request, "runs/thread_form.html", context, status=status_of(form))


@member_page
@require_http_methods(["GET", "POST"])
def thread_detail(request: HttpRequest, project: Project, thread_id: uuid.UUID) -> HttpResponse:
    """The runs of a thread; a message starts another one."""
    thread = _thread(request, project, thread_id)
    form = MessageForm(request.POST if request.method == "POST" else None)
    started: list[Run] = []

    def start(data: dict[str, Any]) -> None:
        user = signed_in(request)
        started.append(
            create_run(actor=user, thread=thread, run_kind="echo", input={}, text=data["text"])
        )

    if request.method == "POST":
        require(signed_in(request), Permission.OPERATE, project)
        if submit(form, start):
            return redirect("runs:run_detail", started[0].pk)
    context = {
        "project": project,
        "thread": thread,
        "page": _runs(request, thread),
        "form": form,
        "can_operate": _can_start(request, project),
    }
    return render(request, "runs/thread_detail.html", context, status=status_of(form))


@member_page
@require_GET
def thread_runs(request: HttpRequest, project: Project, thread_id: uuid.UUID) -> HttpResponse:
    """The table alone, for the page's live update."""
    thread = _thread(request, project, thread_id)
    context = {"thread": thread, "page": _runs(request, thread)}
    return render(request, "runs/_runs.html", context)


def _thread(request: HttpRequest, project: Project, thread_id: uuid.UUID) -> Thread:
    thread = selectors.visible_thread(signed_in(request), thread_id)
    if thread.project_id != project.pk:
        raise NotFound("There is no such thread.")
    return thread


def _runs(request: HttpRequest, thread: Thread) -> Any:
    runs = selectors.visible_runs(signed_in(request), thread=thread.pk)
    ordered = runs.select_related("projection").order_by("-created_at", "id")
    return Paginator(ordered, PAGE).get_page(request.GET.get("page"))


def _can_start(request: HttpRequest, project: Project) -> bool:
    return not project.is_archived and may(signed_in(request), Permission.OPERATE, project)
