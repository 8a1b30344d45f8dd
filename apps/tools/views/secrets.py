"""The secrets of a project: names and dates, never a value."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from apps.registry.models import Project
from apps.registry.permissions import may, require
from apps.registry.roles import Permission
from apps.registry.views.doors import member_page, signed_in, status_of, submit
from apps.tools.forms import ReplaceSecretForm, SecretForm
from apps.tools.selectors import secrets_of
from apps.tools.services.secrets import delete_secret, set_secret


@member_page
@sensitive_post_parameters("value")
@require_http_methods(["GET", "POST"])
def project_secrets(request: HttpRequest, project: Project) -> HttpResponse:
    user = signed_in(request)
    form = SecretForm(request.POST if request.method == "POST" else None)
    if request.method == "POST":
        require(user, Permission.MANAGE_SECRETS, project)
        if submit(form, lambda data: set_secret(actor=user, project=project, **data)):
            messages.success(request, f"The secret {form.cleaned_data['name']} is set.")
            return redirect("tools:project_secrets", slug=project.slug)
    context = {
        "project": project,
        "secrets": secrets_of(user, project),
        "form": form,
        "can_manage": may(user, Permission.MANAGE_SECRETS, project),
    }
    return render(request, "tools/project_secrets.html", context, status=status_of(form))


@member_page
@sensitive_post_parameters("value")
@require_http_methods(["GET", "POST"])
def replace(request: HttpRequest, project: Project, name: str) -> HttpResponse:
    user = signed_in(request)
    require(user, Permission.MANAGE_SECRETS, project)
    secret = get_object_or_404(secrets_of(user, project), name=name)
    form = ReplaceSecretForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and submit(
        form,
        lambda data: set_secret(actor=user, project=project, name=name, value=data["value"]),
    ):
        messages.success(request, f"The secret {name} is replaced.")
        return redirect("tools:project_secrets", slug=project.slug)
    context = {"project": project, "secret": secret, "form": form}
    return render(request, "tools/secret_replace.html", context, status=status_of(form))


@member_page
@require_http_methods(["GET", "POST"])
def delete(request: HttpRequest, project: Project, name: str) -> HttpResponse:
    user = signed_in(request)
    require(user, Permission.MANAGE_SECRETS, project)
    secret = get_object_or_404(secrets_of(user, project), name=name)
    if request.method == "POST":
        delete_secret(actor=user, project=project, name=secret.name)
        messages.success(request, f"The secret {name} is deleted.")
        return redirect("tools:project_secrets", slug=project.slug)
    context = {
        "title": f"Delete {name}?",
        "message": "Tools that refer to it fail from now on. The value cannot be brought back.",
        "confirm_label": "Delete secret",
        "danger": True,
        "cancel_url": reverse("tools:project_secrets", args=[project.slug]),
    }
    return render(request, "workspace/_confirm.html", context)
