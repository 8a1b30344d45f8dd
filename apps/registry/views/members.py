"""Members of a project and their roles."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from apps.registry import selectors
from apps.registry.forms import AddMemberForm, RolesForm
from apps.registry.models import Project
from apps.registry.permissions import may, require
from apps.registry.roles import DESCRIPTIONS, Permission, Role
from apps.registry.services.members import add_member, remove_member, set_member_roles
from apps.registry.views.doors import member_page, signed_in, status_of, submit
from omni.contracts.errors import Conflict, NotFound


@member_page
@require_http_methods(["GET", "HEAD", "POST"])
def members(request: HttpRequest, project: Project) -> HttpResponse:
    form = AddMemberForm(request.POST if request.method == "POST" else None)
    if request.method == "POST":
        require(signed_in(request), Permission.MANAGE_MEMBERS, project)
        if submit(
            form,
            lambda data: add_member(
                actor=signed_in(request),
                project=project,
                email=data["email"],
                roles=set(data["roles"]),
            ),
        ):
            messages.success(request, f"{form.cleaned_data['email']} is a member now.")
            return redirect("registry:project_members", slug=project.slug)
    context = {
        "project": project,
        "members": selectors.members_of(project),
        "form": form,
        "roles": [{"label": role.label, "description": DESCRIPTIONS[role]} for role in Role],
        "can_manage": may(signed_in(request), Permission.MANAGE_MEMBERS, project),
    }
    return render(request, "registry/project_members.html", context, status=status_of(form))


@member_page
@require_http_methods(["GET", "HEAD", "POST"])
def roles(request: HttpRequest, project: Project, user_id: uuid.UUID) -> HttpResponse:
    require(signed_in(request), Permission.MANAGE_MEMBERS, project)
    member = _member(project, user_id)
    initial = {"roles": [role.value for role in member.roles]}
    form = RolesForm(request.POST if request.method == "POST" else None, initial=initial)
    if request.method == "POST" and submit(
        form,
        lambda data: set_member_roles(
            actor=signed_in(request), project=project, user=member.user, roles=set(data["roles"])
        ),
    ):
        messages.success(request, f"The roles of {member.user} are changed.")
        return redirect("registry:project_members", slug=project.slug)
    context = {"project": project, "member": member.user, "form": form}
    return render(request, "registry/member_roles.html", context, status=status_of(form))


@member_page
@require_http_methods(["GET", "HEAD", "POST"])
def remove(request: HttpRequest, project: Project, user_id: uuid.UUID) -> HttpResponse:
    require(signed_in(request), Permission.MANAGE_MEMBERS, project)
    member = _member(project, user_id)
    if request.method == "POST":
        return _remove(request, project, member)
    context = {
        "title": f"Remove {member.user}?",
        "message": f"They no longer see {project.name} or anything in it. What they did stays.",
        "confirm_label": "Remove member",
        "danger": True,
        "cancel_url": reverse("registry:project_members", args=[project.slug]),
    }
    return render(request, "workspace/_confirm.html", context)


def _remove(request: HttpRequest, project: Project, member: selectors.Member) -> HttpResponse:
    try:
        remove_member(actor=signed_in(request), project=project, user=member.user)
    except Conflict as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{member.user} is no longer a member.")
    return redirect("registry:project_members", slug=project.slug)


def _member(project: Project, user_id: uuid.UUID) -> selectors.Member:
    found = [member for member in selectors.members_of(project) if member.user.pk == user_id]
    if not found:
        raise NotFound("This person is not a member of the project.")
    return found[0]
