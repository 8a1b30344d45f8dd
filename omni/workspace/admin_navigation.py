"""The admin console's navigation, by task; a person sees what their permissions open."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.shortcuts import resolve_url
from django.urls import reverse

# Title, icon, model (app and name), and optionally the query that narrows its list.
Entry = tuple[str, str, str] | tuple[str, str, str, str]

TASKS: tuple[tuple[str, tuple[Entry, ...]], ...] = (
    (
        "People and access",
        (
            ("People", "group", "registry.user"),
            ("Groups", "shield_person", "auth.group"),
            ("API tokens", "key", "registry.apitoken"),
            ("Sessions", "devices", "registry.session"),
        ),
    ),
    (
        "Projects",
        (
            ("Projects", "folder", "registry.project"),
            ("Members", "badge", "registry.membership"),
            ("Object permissions", "rule", "registry.projectuserobjectpermission"),
        ),
    ),
    (
        "Runs",
        (
            ("Approvals", "rule_settings", "runs.approval", "state__exact=pending"),
            ("Runs", "play_circle", "runs.run"),
            ("Threads", "forum", "runs.thread"),
            ("Artifacts", "attach_file", "runs.artifact"),
            ("Uses of artifacts", "link", "runs.artifactuse"),
            ("Projections", "layers", "runs.projection"),
            ("Budgets", "savings", "runs.budgetuse"),
            ("Memories", "psychology", "memory.memoryitem"),
        ),
    ),
    (
        "MCP",
        (
            ("Servers", "dns", "tools.mcpserver"),
            ("Definitions", "fact_check", "tools.mcpentry"),
            ("Health checks", "monitor_heart", "tools.mcpcheck"),
            ("Catalogs", "inventory_2", "tools.mcpcatalog"),
        ),
    ),
    (
        "Tools and policies",
        (
            ("Tools", "handyman", "tools.toolversion"),
            ("Installations", "install_desktop", "tools.toolinstallation"),
            ("Policies", "policy", "tools.policyversion"),
            ("Policies in force", "gavel", "tools.projectpolicy"),
            ("Added rules", "checklist", "tools.projectrule"),
            ("OpenAPI documents", "api", "tools.openapidocument"),
            ("Secrets", "password", "tools.secret"),
        ),
    ),
    (
        "Workers and schedules",
        (
            ("Workers", "memory", "runs.worker"),
            ("Scheduled tasks", "event_repeat", "django_celery_beat.periodictask"),
            ("Intervals", "timelapse", "django_celery_beat.intervalschedule"),
            ("Crontabs", "calendar_clock", "django_celery_beat.crontabschedule"),
            ("Clock times", "alarm", "django_celery_beat.clockedschedule"),
            ("Solar events", "wb_twilight", "django_celery_beat.solarschedule"),
        ),
    ),
    (
        "Audit",
        (
            ("Audit log", "history", "registry.auditentry"),
            ("Refusals", "block", "registry.auditentry", "allowed__exact=0"),
            ("Idempotency keys", "repeat_one", "registry.idempotencyrecord"),
        ),
    ),
    (
        "Security",
        (
            ("Locked sign-ins", "lock_clock", "axes.accessattempt"),
            ("Wrong passwords", "gpp_bad", "registry.auditentry", "action__exact=sign_in_failed"),
            ("Sign-ins", "login", "axes.accesslog"),
        ),
    ),
)


def sidebar(request: HttpRequest) -> list[dict[str, Any]]:
    """Groups for the theme; one without an open entry is left out."""
    groups = [_start()]
    for title, entries in TASKS:
        items = [_item(request, entry) for entry in entries if may_see(request.user, entry[2])]
        if items:
            groups.append({"title": title, "separator": True, "items": items})
    return groups


def may_see(user: Any, model: str) -> bool:
    app, name = model.split(".")
    return bool(user.has_perm(f"{app}.view_{name}") or user.has_perm(f"{app}.change_{name}"))


def changelist(model: str, query: str = "") -> str:
    url = reverse(f"admin:{model.replace('.', '_')}_changelist")
    return f"{url}?{query}" if query else url


def _start() -> dict[str, Any]:
    return {
        "title": "Start",
        "items": [
            {"title": "State", "icon": "monitoring", "link": reverse("admin:index")},
            {
                "title": "Workspace",
                "icon": "space_dashboard",
                "link": resolve_url("workspace:home"),
                "active": False,
            },
            {
                "title": "API documentation",
                "icon": "api",
                "link": resolve_url("api:docs"),
                "active": False,
            },
        ],
    }


def _item(request: HttpRequest, entry: Entry) -> dict[str, Any]:
    title, icon, model, *rest = entry
    query = rest[0] if rest else ""
    url = changelist(model)
    here = request.path.startswith(url)
    if model == "registry.auditentry":
        here = here and query == _narrowed(request)
    return {"title": title, "icon": icon, "link": changelist(model, query), "active": here}


def _narrowed(request: HttpRequest) -> str:
    """Which of the entries that lead to the audit log is open."""
    asked = request.GET.urlencode()
    queries = [entry[3] for _, entries in TASKS for entry in entries if len(entry) > 3]
    return next((query for query in queries if query in asked), "")
