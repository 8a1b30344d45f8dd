"""“Try it”: a form from a tool's schema; what is entered becomes an ordinary run."""

from __future__ import annotations

from typing import cast

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from apps.registry.models import Project
from apps.registry.permissions import require
from apps.registry.roles import Permission
from apps.registry.views.doors import member_page, signed_in, status_of
from apps.runs.schema_form import SchemaForm
from apps.runs.services.calls import call_tool
from apps.tools.selectors import installed_tool
from omni.contracts.errors import Conflict, InvalidInput


@member_page
@require_http_methods(["GET", "POST"])
def try_tool(request: HttpRequest, project: Project, tool: str) -> HttpResponse:
    user = signed_in(request)
    require(user, Permission.OPERATE, project)
    installed = installed_tool(project.pk, tool)
    form = SchemaForm(
        cast(dict[str, object], installed.declared["input_schema"]),
        request.POST if request.method == "POST" else None,
    )
    if request.method == "POST" and form.is_valid():
        try:
            run = call_tool(
                actor=user,
                project=project,
                tool=tool,
                arguments=form.arguments(),
                run_id=form.cleaned_data["run_id"],
                mode=form.cleaned_data["mode"] or "normal",
            )
        except InvalidInput as error:
            form.explain(error)
        except Conflict as error:
            form.add_error(None, str(error))
        else:
            return redirect("runs:run_detail", run.pk)
    context = {"project": project, "tool": installed, "manifest": installed.declared, "form": form}
    return render(request, "runs/tool_try.html", context, status=status_of(form))
