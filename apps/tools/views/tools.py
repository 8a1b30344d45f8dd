"""The tools of a project: what it has, what it could have, and each of them in detail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.registry.models import Project, User
from apps.registry.permissions import may, require
from apps.registry.roles import Permission
from apps.registry.views.doors import member_page, signed_in, status_of
from apps.tools import selectors
from apps.tools.forms import ManifestForm
from apps.tools.models import ToolInstallation, ToolVersion
from apps.tools.policy.versions import key
from apps.tools.schema_view import rows_of
from apps.tools.services import tools
from apps.tools.views.documents import pretty, submit_document
from omni.contracts.errors import InvalidInput, NotFound


@dataclass(frozen=True, slots=True)
class Shelf:
    """One tool with the versions that a project has of it, or could have."""

    tool: ToolVersion
    others: list[str]


@member_page
@require_GET
def tool_list(request: HttpRequest, project: Project) -> HttpResponse:
    user, q = signed_in(request), request.GET.get("q", "").strip()[:100]
    rows = list(selectors.installations_of(user, project))
    words = q.lower().split()
    installed = [each for each in _installed(rows) if _says(each.tool, words)]
    have = {row.tool_id for row in rows}
    found = selectors.available_tools(user, project, q=q)
    context = {
        "project": project,
        "q": q,
        "installed": installed,
        "available": _newest([tool for tool in found if tool.pk not in have], rows),
        "can_manage": may(user, Permission.MANAGE_TOOLS, project),
    }
    return render(request, "tools/tool_list.html", context)


@member_page
@require_GET
def tool_detail(request: HttpRequest, project: Project, tool: str) -> HttpResponse:
    user, version = signed_in(request), request.GET.get("version") or None
    rows = {row.tool_id: row for row in selectors.installations_of(user, project).filter(name=tool)}
    versions = selectors.versions_of(user, project, tool)
    shown = _shown(versions, rows, version)
    manifest = shown.declared
    context = {
        "project": project,
        "tool": shown,
        "manifest": manifest,
        "installation": rows.get(shown.pk),
        "versions": [(each, rows.get(each.pk)) for each in versions],
        "inputs": rows_of(manifest["input_schema"]),
        "outputs": rows_of(manifest["output_schema"]),
        "examples": [pretty(each) for each in manifest.get("examples", [])],
        "text": pretty(shown.manifest),
        "uses": selectors.users_of_tool(user, tool),
        "can_manage": may(user, Permission.MANAGE_TOOLS, project),
        "can_call": may(user, Permission.OPERATE, project) and not project.is_archived,
    }
    return render(request, "tools/tool_detail.html", context)


@member_page
@require_http_methods(["GET", "POST"])
def tool_new(request: HttpRequest, project: Project) -> HttpResponse:
    """Publish a manifest of the project's own, and install it."""
    user = signed_in(request)
    require(user, Permission.MANAGE_TOOLS, project)
    form = ManifestForm(request.POST if request.method == "POST" else None)
    made: list[ToolVersion] = []
    if request.method == "POST" and submit_document(
        form, lambda data: made.append(_publish(user, project, data["document"]))
    ):
        messages.success(request, f"{made[0]} is published and installed.")
        return redirect("tools:tool_detail", slug=project.slug, tool=made[0].name)
    context = {"project": project, "form": form}
    return render(request, "tools/tool_form.html", context, status=status_of(form))


@member_page
@require_POST
def tool_install(request: HttpRequest, project: Project, tool: str) -> HttpResponse:
    user, version = signed_in(request), request.POST.get("version") or None
    require(user, Permission.MANAGE_TOOLS, project)
    found = selectors.available_tool(user, project, tool, version)
    tools.install_tool(actor=user, project=project, tool=found)
    messages.success(request, f"{found} is installed.")
    return redirect("tools:tool_detail", slug=project.slug, tool=tool)


@member_page
@require_POST
def tool_pin(request: HttpRequest, project: Project, tool: str) -> HttpResponse:
    version = request.POST.get("version", "")
    if not version:
        raise InvalidInput.field("version", "Choose an installed version.")
    tools.pin_tool(actor=signed_in(request), project=project, name=tool, version=version)
    messages.success(request, f"{tool} stands for version {version} from now on.")
    return redirect("tools:tool_detail", slug=project.slug, tool=tool)


@member_page
@require_http_methods(["GET", "POST"])
def tool_uninstall(request: HttpRequest, project: Project, tool: str) -> HttpResponse:
    user = signed_in(request)
    require(user, Permission.MANAGE_TOOLS, project)
    version = request.GET.get("version") or None
    wanted = f"{tool} {version}" if version else tool
    if request.method == "POST":
        tools.uninstall_tool(actor=user, project=project, name=tool, version=version)
        messages.success(request, f"{wanted} is uninstalled.")
        return redirect("tools:tool_list", slug=project.slug)
    context = {
        "title": f"Uninstall {wanted}?",
        "message": "Runs that began with it may still finish with it; new ones cannot call it.",
        "confirm_label": "Uninstall",
        "danger": True,
        "cancel_url": reverse("tools:tool_list", args=[project.slug]),
    }
    return render(request, "workspace/_confirm.html", context)


def _publish(user: User, project: Project, document: Any) -> ToolVersion:
    made, _ = tools.register_tool(actor=user, manifest=document, project=project)
    tools.install_tool(actor=user, project=project, tool=made)
    return made


def _installed(rows: list[ToolInstallation]) -> list[Shelf]:
    pinned = [row for row in rows if row.is_pinned]
    return [
        Shelf(row.tool, [o.tool.version for o in rows if o.name == row.name and not o.is_pinned])
        for row in pinned
    ]


def _newest(found: list[ToolVersion], rows: list[ToolInstallation]) -> list[Shelf]:
    """The newest of each tool that the project does not have in any version."""
    known = {row.name for row in rows}
    best: dict[str, list[ToolVersion]] = {}
    for tool in found:
        if tool.name not in known:
            best.setdefault(tool.name, []).append(tool)
    shelves = []
    for versions in best.values():
        versions.sort(key=lambda each: key(each.version), reverse=True)
        shelves.append(Shelf(versions[0], [each.version for each in versions[1:]]))
    return shelves


def _says(tool: ToolVersion, words: list[str]) -> bool:
    text = f"{tool.name} {tool.manifest.get('description', '')}".lower()
    return all(word in text for word in words)


def _shown(
    versions: list[ToolVersion], rows: dict[Any, ToolInstallation], version: str | None
) -> ToolVersion:
    for each in versions:
        row = rows.get(each.pk)
        if each.version == version or (version is None and row is not None and row.is_pinned):
            return each
    if version is None and versions:
        return versions[0]
    raise NotFound("There is no such tool here.")
