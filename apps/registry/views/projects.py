"""Projects: listed, created, looked at, changed, archived, left."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.registry import selectors
from apps.registry.forms import ProjectForm, ProjectSettingsForm
from apps.registry.models import Project
from apps.registry.permissions import permissions_of, require
from apps.registry.roles import Permission
from apps.registry.services.members import leave_project
from apps.registry.services.projects import (
    archive_project,
    create_project,
    restore_project,
    update_project,
)
from apps.registry.views.doors import member_page, signed_in, status_of, submit
from apps.registry.views.overview import overview

PAGE = 25


@login_required
@require_safe
def project_list(request: HttpRequest) -> HttpResponse:
    q = request.GET.get("q", "").strip()[:100]
    archived = request.GET.get("archived") == "1"
    found = selectors.visible_projects(
        signed_in(request), q=q, archived=None if archived else False
    )
    page = Paginator(found.order_by("-updated_at", "id"), PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "q": q, "archived": archived}
    return render(request, "registry/project_list.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def create(request: HttpRequest) -> HttpResponse:
    form = ProjectForm(request.POST if request.method == "POST" else None)
    made: list[Project] = []
    if request.method == "POST" and submit(
        form, lambda data: made.append(create_project(actor=signed_in(request), **data))
    ):
        messages.success(request, f"{made[0].name} is ready. You are its owner.")
        return redirect("registry:project_detail", slug=made[0].slug)
    return render(request, "registry/project_form.html", {"form": form}, status=status_of(form))


@member_page
@require_safe
def detail(request: HttpRequest, project: Project) -> HttpResponse:
    context = overview(signed_in(request), project)
    return render(request, "registry/project_detail.html", context)


@member_page
@require_http_methods(["GET", "HEAD", "POST"])
def project_settings(request: HttpRequest, project: Project) -> HttpResponse:
    user = signed_in(request)
    initial = {"name": project.name, "description": project.description}
    form = ProjectSettingsForm(request.POST if request.method == "POST" else None, initial=initial)
    if request.method == "POST" and submit(
        form, lambda data: update_project(actor=user, project=project, **data)
    ):
        messages.success(request, "The project is saved.")
        return redirect("registry:project_settings", slug=project.slug)
    context = {
        "project": project,
        "form": form,
        "can_change": Permission.CHANGE in permissions_of(user, project),
        "is_last_owner": selectors.is_last_owner(user, project),
    }
    return render(request, "registry/project_settings.html", context, status=status_of(form))


@member_page
@require_http_methods(["GET", "HEAD", "POST"])
def archive(request: HttpRequest, project: Project) -> HttpResponse:
    if request.method == "POST":
        archive_project(actor=signed_in(request), project=project)
        messages.success(request, f"{project.name} is archived.")
        return redirect("registry:project_list")
    require(signed_in(request), Permission.CHANGE, project)
    return _ask(
        request,
        project,
        title=f"Archive {project.name}?",
        message="It leaves the lists and takes no new work. Nothing is deleted, and it can be "
        "restored from its settings.",
        confirm_label="Archive project",
    )


@member_page
@require_POST
def restore(request: HttpRequest, project: Project) -> HttpResponse:
    restore_project(actor=signed_in(request), project=project)
    messages.success(request, f"{project.name} is back.")
    return redirect("registry:project_settings", slug=project.slug)


@member_page
@require_http_methods(["GET", "HEAD", "POST"])
def leave(request: HttpRequest, project: Project) -> HttpResponse:
    if request.method == "POST":
        leave_project(actor=signed_in(request), project=project)
        messages.success(request, f"You left {project.name}.")
        return redirect("registry:project_list")
    return _ask(
        request,
        project,
        title=f"Leave {project.name}?",
        message="You give up your roles here and no longer see the project. An owner can add you "
        "again.",
        confirm_label="Leave project",
    )


def _ask(request: HttpRequest, project: Project, **question: Any) -> HttpResponse:
    cancel = reverse("registry:project_settings", args=[project.slug])
    context = {"danger": True, "cancel_url": cancel, **question}
    return render(request, "workspace/_confirm.html", context)
