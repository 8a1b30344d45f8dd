"""MCP servers in the workspace: how they fare, what they offer, what changed."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.registry.models import Project
from apps.registry.permissions import may, require
from apps.registry.roles import Permission
from apps.registry.views.doors import member_page, signed_in, status_of, submit
from apps.tools.mcp import selectors
from apps.tools.mcp.chart import bars
from apps.tools.mcp.diff import compare, pretty
from apps.tools.mcp.forms import ChangeForm, ServerForm, initial_of
from apps.tools.mcp.manifest import manifest_of
from apps.tools.mcp.outline import outline
from apps.tools.models import McpEntry, McpServer
from apps.tools.services import mcp_catalog, mcp_checks, mcp_servers
from apps.tools.services.pinning import pin_mcp_entry
from omni.contracts.errors import Conflict, InvalidInput, NotFound, OmniError

SHOWN_CHECKS = 50
SHOWN_VERSIONS = 10


@login_required
@require_GET
def all_servers(request: HttpRequest) -> HttpResponse:
    servers = selectors.visible_servers(signed_in(request))
    return render(request, "tools/mcp_servers.html", {"servers": servers})


@member_page
@require_GET
def project_servers(request: HttpRequest, project: Project) -> HttpResponse:
    user = signed_in(request)
    context = {
        "project": project,
        "servers": selectors.servers_of(user, project),
        "can_manage": may(user, Permission.OPERATE, project),
    }
    return render(request, "tools/mcp_project.html", context)


@member_page
@require_http_methods(["GET", "POST"])
def add(request: HttpRequest, project: Project) -> HttpResponse:
    user = signed_in(request)
    require(user, Permission.OPERATE, project)
    form = ServerForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and submit(
        form, lambda data: mcp_servers.add_server(actor=user, project=project, **data)
    ):
        server = selectors.visible_server(user, project, form.cleaned_data["slug"])
        mcp_checks.send_check(server.pk)
        messages.success(request, f"{server.slug} is registered and is being checked.")
        return redirect("tools:mcp_server", project.slug, server.slug)
    context = {"project": project, "form": form, "cancel": _list_url(project)}
    return render(request, "tools/mcp_form.html", context, status=status_of(form))


@member_page
@require_http_methods(["GET", "POST"])
def change(request: HttpRequest, project: Project, server: str) -> HttpResponse:
    user = signed_in(request)
    require(user, Permission.OPERATE, project)
    row = selectors.visible_server(user, project, server)
    is_sent = request.method == "POST"
    form = ChangeForm(request.POST) if is_sent else ChangeForm(initial=initial_of(row))
    if is_sent and submit(
        form, lambda data: mcp_servers.change_server(actor=user, server=row, **data)
    ):
        mcp_checks.send_check(row.pk)
        messages.success(request, f"{row.slug} is changed.")
        return redirect("tools:mcp_server", project.slug, row.slug)
    context = {"project": project, "server": row, "form": form, "cancel": _url(row)}
    return render(request, "tools/mcp_form.html", context, status=status_of(form))


@member_page
@require_GET
def server_page(request: HttpRequest, project: Project, server: str) -> HttpResponse:
    return render(request, "tools/mcp_server.html", _about(request, project, server))


@member_page
@require_GET
def server_state(request: HttpRequest, project: Project, server: str) -> HttpResponse:
    """What a check changes, for the page's live update while one is under way."""
    return render(request, "tools/_mcp_state.html", _about(request, project, server))


@member_page
@require_POST
def check(request: HttpRequest, project: Project, server: str) -> HttpResponse:
    user = signed_in(request)
    row = selectors.visible_server(user, project, server)
    try:
        mcp_checks.request_check(actor=user, server=row)
        messages.success(request, f"{row.slug} is being checked.")
    except OmniError as error:
        if error.status == 403:
            raise
        messages.error(request, str(error))
    return redirect("tools:mcp_server", project.slug, row.slug)


@member_page
@require_http_methods(["GET", "POST"])
def remove(request: HttpRequest, project: Project, server: str) -> HttpResponse:
    user = signed_in(request)
    require(user, Permission.OPERATE, project)
    row = selectors.visible_server(user, project, server)
    if request.method == "POST":
        mcp_servers.remove_server(actor=user, server=row)
        messages.success(request, f"{server} is removed.")
        return redirect("tools:mcp_project", slug=project.slug)
    context = {
        "title": f"Remove {row.slug}?",
        "message": "Its catalog and what was accepted of it go with it. Tools that were pinned "
        "from it fail from now on.",
        "confirm_label": "Remove server",
        "danger": True,
        "cancel_url": _url(row),
    }
    return render(request, "workspace/_confirm.html", context)


@member_page
@require_GET
def catalog_changes(request: HttpRequest, project: Project, server: str) -> HttpResponse:
    row = selectors.visible_server(signed_in(request), project, server)
    asked = {name: _number(request, name) for name in ("before", "after")}
    older, newer, found = selectors.catalog_changes(row, **asked)
    context = {
        "project": project, "server": row, "older": older, "newer": newer, "changes": found,
        "versions": selectors.catalogs_of(row)[:SHOWN_VERSIONS],
    }  # fmt: skip
    return render(request, "tools/mcp_changes.html", context)


@member_page
@require_GET
def entry_page(
    request: HttpRequest, project: Project, server: str, mcp_entry: uuid.UUID
) -> HttpResponse:
    user = signed_in(request)
    row = selectors.visible_server(user, project, server)
    entry = selectors.visible_entry(row, mcp_entry)
    accepted = entry.accepted_definition
    differs = accepted is not None and entry.accepted_sha256 != entry.definition_sha256
    context = {
        "project": project,
        "server": row,
        "entry": entry,
        "inputs": outline(entry.definition.get("inputSchema")),
        "outputs": outline(entry.definition.get("outputSchema")),
        "raw": "\n".join(pretty(entry.definition)),
        "lines": compare(accepted, entry.definition) if differs else (),
        "manifest": _manifest(entry),
        "can_manage": may(user, Permission.OPERATE, project),
    }
    return render(request, "tools/mcp_entry.html", context)


@member_page
@require_POST
def accept(request: HttpRequest, project: Project, server: str) -> HttpResponse:
    """Accept the entries whose hashes the form carries: those that the person looked at."""
    user = signed_in(request)
    row = selectors.visible_server(user, project, server)
    expected = {}
    for pair in request.POST.getlist("entry")[:1000]:
        entry_id, _, sha256 = pair.partition(":")
        expected[_uuid(entry_id)] = sha256
    try:
        found = mcp_catalog.accept_entries(actor=user, server=row, expected=expected)
        said = found[0].name if len(found) == 1 else f"{len(found)} entries"
        messages.success(request, f"Accepted: {said}.")
    except OmniError as error:
        if error.status == 403:
            raise
        messages.error(request, str(error))
    return redirect(_back(request, row))


@member_page
@require_POST
def pin(request: HttpRequest, project: Project, server: str, mcp_entry: uuid.UUID) -> HttpResponse:
    user = signed_in(request)
    row = selectors.visible_server(user, project, server)
    entry = selectors.visible_entry(row, mcp_entry)
    try:
        tool = pin_mcp_entry(actor=user, entry=entry)
    except (Conflict, InvalidInput) as error:
        messages.error(request, str(error))
        return redirect("tools:mcp_entry", project.slug, row.slug, entry.pk)
    messages.success(request, f"{tool} is a tool of this project now.")
    return redirect("tools:tool_detail", project.slug, tool.name)


@member_page
@require_POST
def reject(
    request: HttpRequest, project: Project, server: str, mcp_entry: uuid.UUID
) -> HttpResponse:
    user = signed_in(request)
    row = selectors.visible_server(user, project, server)
    entry = selectors.visible_entry(row, mcp_entry)
    mcp_catalog.reject_entry(actor=user, entry=entry)
    messages.success(request, f"{entry.name} is not used from now on.")
    return redirect("tools:mcp_entry", project.slug, row.slug, entry.pk)


def _about(request: HttpRequest, project: Project, server: str) -> dict[str, object]:
    user = signed_in(request)
    row = selectors.visible_server(user, project, server)
    entries = list(selectors.entries_of(row).defer("definition", "accepted_definition"))
    checks = list(selectors.checks_of(row)[:SHOWN_CHECKS])
    acceptable = [each for each in entries if each.state in selectors.WAITING and not each.problem]
    return {
        "project": project,
        "server": row,
        "entries": entries,
        "acceptable": acceptable,
        "checks": checks[:10],
        "bars": bars(checks),
        "uptime": round(100 * sum(each.ok for each in checks) / len(checks)) if checks else None,
        "versions": selectors.catalogs_of(row)[:SHOWN_VERSIONS],
        "can_manage": may(user, Permission.OPERATE, project),
    }


def _manifest(entry: McpEntry) -> str:
    if entry.kind != McpEntry.Kind.TOOL or not entry.is_usable:
        return ""
    try:
        return "\n".join(pretty(manifest_of(entry)))
    except OmniError as error:
        return str(error)


def _number(request: HttpRequest, name: str) -> int | None:
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else None


def _uuid(text: str) -> uuid.UUID:
    try:
        return uuid.UUID(text)
    except ValueError:
        raise NotFound("There is no such entry.") from None


def _back(request: HttpRequest, server: McpServer) -> str:
    """To the entry's page if the form came from there."""
    entry = request.POST.get("back", "")
    if entry:
        args = [server.project.slug, server.slug, _uuid(entry)]
        return reverse("tools:mcp_entry", args=args)
    return _url(server)


def _url(server: McpServer) -> str:
    return reverse("tools:mcp_server", args=[server.project.slug, server.slug])


def _list_url(project: Project) -> str:
    return reverse("tools:mcp_project", args=[project.slug])
