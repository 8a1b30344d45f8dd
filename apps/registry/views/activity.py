"""The audit log as members read it."""

from __future__ import annotations

import json
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.registry import selectors
from apps.registry.models import AuditAction, AuditEntry, Project
from apps.registry.permissions import require
from apps.registry.roles import Permission
from apps.registry.views.doors import member_page, signed_in

PAGE = 25


@member_page
@require_safe
def project_activity(request: HttpRequest, project: Project) -> HttpResponse:
    require(signed_in(request), Permission.VIEW_AUDIT, project)
    context = {"project": project, **_filtered(request, selectors.project_activity(project))}
    return render(request, "registry/project_activity.html", context)


@login_required
@require_safe
def own_activity(request: HttpRequest) -> HttpResponse:
    context = _filtered(request, selectors.audit_log(signed_in(request)))
    return render(request, "registry/account_activity.html", context)


@login_required
@require_safe
def entry(request: HttpRequest, entry_id: int) -> HttpResponse:
    found = selectors.audit_entry(signed_in(request), entry_id)
    data = json.dumps(found.data, indent=2, ensure_ascii=False, cls=DjangoJSONEncoder)
    context = {"entry": found, "data": data if found.data else ""}
    return render(request, "registry/_audit_entry.html", context)


def _filtered(request: HttpRequest, entries: QuerySet[AuditEntry]) -> dict[str, Any]:
    action = request.GET.get("action", "")
    refused = request.GET.get("refused") == "1"
    if action in AuditAction.values:
        entries = entries.filter(action=action)
    if refused:
        entries = entries.filter(allowed=False)
    filters = {"action": action, "refused": refused, "actions": AuditAction.choices}
    return {"page": Paginator(entries, PAGE).get_page(request.GET.get("page")), "filters": filters}
