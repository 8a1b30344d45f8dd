"""The admin console as a site: who gets in, what its pages may load, its frame and front page."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from csp.constants import UNSAFE_EVAL, UNSAFE_INLINE
from csp.decorators import csp_update
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied as DjangoPermissionDenied
from django.http import HttpRequest, HttpResponseRedirect
from django.shortcuts import resolve_url
from django.templatetags.static import static
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from apps.registry.models import User
from apps.registry.services import audit
from omni import __version__, config
from omni.contracts.errors import PermissionDenied
from omni.workspace import admin_state
from omni.workspace.context import theme_of

if TYPE_CHECKING:
    from django.contrib.admin import AdminSite as Site
else:
    from unfold.sites import UnfoldAdminSite as Site

# Unfold's Alpine evaluates expressions in attributes and its pages carry style elements; our own
# pages do neither, so only this console's policy is wider. Inline scripts stay forbidden.
_wider_policy = csp_update({"script-src": [UNSAFE_EVAL], "style-src": [UNSAFE_INLINE]})


class OmniAdminSite(Site):
    """Signs in on the workspace's page and tells everybody else plainly that it is not theirs."""

    index_title = "State of the platform"

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        inner = super().admin_view(view, cacheable)

        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            if request.user.is_authenticated and not self.has_permission(request):
                self._refuse(request)
            try:
                return inner(request, *args, **kwargs)
            except DjangoPermissionDenied:
                _record(request, PermissionDenied("You may not do this."))
                raise

        return _wider_policy(guarded)

    def login(self, request: HttpRequest, extra_context: Any = None) -> Any:
        index = reverse("admin:index")
        wanted = request.GET.get("next", "")
        ours = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, request.is_secure())
        target = wanted if ours else index
        if self.has_permission(request):
            return HttpResponseRedirect(target)
        if request.user.is_authenticated:
            self._refuse(request)
        return redirect_to_login(target)

    def password_change(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """The workspace's page checks and records the change."""
        return HttpResponseRedirect(resolve_url("registry:account_security"))

    def password_change_done(self, request: HttpRequest, extra_context: Any = None) -> Any:
        return self.password_change(request)

    def _refuse(self, request: HttpRequest) -> None:
        error = PermissionDenied(
            "The admin console is for operators, and your account is not one.",
            remedy="Ask an administrator, or go on in the workspace.",
            data={"permission": "admin console"},
        )
        _record(request, error)
        raise error


def _record(request: HttpRequest, error: PermissionDenied) -> None:
    if isinstance(request.user, User):
        audit.record_denial(
            error, actor=request.user, method=request.method or "", path=request.path
        )


# --- what the theme asks for, named in the settings ----------------------------------------------


def front_page(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    return {**context, "state": admin_state.State(request.user)}


def environment(request: HttpRequest) -> list[str]:
    """The label in the corner, so that nobody takes a trial for the real thing."""
    current = config.current()
    if current.debug:
        return ["Development", "danger"]
    if current.is_https:
        return [f"Production · {__version__}", "info"]
    return [f"Local · {__version__}", "warning"]


def theme(request: HttpRequest) -> str | None:
    """What was chosen in the workspace; nothing leaves the choice to the console's own menu."""
    chosen = theme_of(request)
    return chosen if chosen in ("light", "dark") else None


def mark(request: HttpRequest) -> str:
    return static("workspace/mark.svg")


def stylesheet(request: HttpRequest) -> str:
    return static("workspace/admin.css")


def account_links(request: HttpRequest) -> list[dict[str, str]]:
    return [
        {"title": "Profile", "link": resolve_url("registry:account")},
        {"title": "Password and sessions", "link": resolve_url("registry:account_security")},
        {"title": "API tokens", "link": resolve_url("registry:account_tokens")},
    ]


def site_menu(request: HttpRequest) -> list[dict[str, Any]]:
    return [
        {"title": "Workspace", "link": resolve_url("workspace:home"), "icon": "space_dashboard"},
        {"title": "API documentation", "link": resolve_url("api:docs"), "icon": "api"},
        {"title": "Admin console", "link": reverse("admin:index"), "icon": "admin_panel_settings"},
    ]
