"""The shell's own pages: dashboard, search, theme, shortcuts."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from apps.registry import selectors as registry
from apps.registry.views.doors import signed_in
from omni.workspace import dashboard, palette
from omni.workspace.context import THEME_COOKIE, THEMES

YEAR = 365 * 24 * 3600
SHOWN = 5


@login_required
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    user = signed_in(request)
    tokens = registry.tokens_of(user)
    steps = dashboard.steps(user, has_token=any(token.is_usable for token in tokens))
    checks = dashboard.checks() if user.is_staff else []
    context = {
        "greeting": dashboard.greeting(user, timezone.localtime()),
        "tiles": dashboard.tiles(user),
        "projects": registry.visible_projects(user).order_by("-updated_at")[:SHOWN],
        "runs": dashboard.recent_runs(user),
        "workers": dashboard.workers(),
        "activity": registry.recent_activity(user, limit=8),
        "checks": checks,
        "all_ok": all(check.ok for check in checks),
        "onboarding": steps,
        "onboarding_done": sum(step.done for step in steps),
    }
    return render(request, "workspace/home.html", context)


@login_required
@require_safe
def home_tiles(request: HttpRequest) -> HttpResponse:
    context = {"tiles": dashboard.tiles(signed_in(request))}
    return render(request, "workspace/_tiles.html", context)


@login_required
@require_safe
def home_runs(request: HttpRequest) -> HttpResponse:
    context = {"runs": dashboard.recent_runs(signed_in(request))}
    return render(request, "workspace/_home_runs.html", context)


@login_required
@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """The palette's results, or a page with them."""
    query = request.GET.get("q", "")[:200]
    context = {"query": query, "groups": palette.search(signed_in(request), query)}
    in_palette = request.headers.get("HX-Target") == "palette-results"
    template = "_palette_results.html" if in_palette else "search.html"
    return render(request, f"workspace/{template}", context)


@login_required
@require_safe
def shortcuts(request: HttpRequest) -> HttpResponse:
    return render(request, "workspace/shortcuts.html")


@require_POST
def set_theme(request: HttpRequest) -> HttpResponse:
    """Without JavaScript; with it, the browser sets the same cookie itself."""
    back = request.headers.get("Referer", "")
    is_ours = url_has_allowed_host_and_scheme(
        back, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    response = redirect(back if is_ours else "workspace:home")
    theme = request.POST.get("theme", "")
    if theme in THEMES:
        response.set_cookie(
            THEME_COOKIE, theme, max_age=YEAR, samesite="Lax", secure=request.is_secure()
        )
    return response
