"""What every template of the workspace knows: which shell surrounds it, and what that shows."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.http import HttpRequest

from apps.registry import selectors as registry
from apps.registry.models import Project, User
from apps.registry.permissions import permissions_of
from apps.runs.selectors.inbox import pending_for
from omni import __version__
from omni.workspace import navigation

THEMES = ("auto", "light", "dark")
THEME_COOKIE = "omni_theme"
NAV_COOKIE = "omni_nav"
SWITCHER_SIZE = 8
# Set on a request once one of our templates was rendered for a pane; see `middleware`.
RENDERED = "rendered_pane"

# A page is rendered for the pane that asked for it.
FULL = "workspace/shell.html"
BARE = "workspace/bare.html"
PANES = {
    "main": "workspace/_fragment.html",
    "drawer": "workspace/_drawer.html",
    "dialog": "workspace/_dialog.html",
}


def pane(request: HttpRequest) -> str:
    """The pane that asked for this page, or nothing for a full load."""
    htmx = getattr(request, "htmx", None)
    if not htmx or htmx.history_restore_request or htmx.target not in PANES:
        return ""
    return str(htmx.target)


def theme_of(request: HttpRequest) -> str:
    chosen = request.COOKIES.get(THEME_COOKIE, "")
    return chosen if chosen in THEMES else "auto"


class Workspace:
    """What the shell shows; nothing is read before a template asks for it."""

    version = __version__

    def __init__(self, request: HttpRequest) -> None:
        self._request = request

    @property
    def user(self) -> User | None:
        user = getattr(self._request, "user", None)
        return user if isinstance(user, User) and user.is_authenticated else None

    @property
    def time_zone(self) -> str:
        return self.user.time_zone if self.user else "UTC"

    @cached_property
    def _sections(self) -> list[navigation.Section]:
        staff = bool(self.user and self.user.is_staff)
        return navigation.sections(staff=staff, path=self._request.path)

    @property
    def sections(self) -> list[navigation.Section]:
        return [each for each in self._sections if each.name != navigation.ACCOUNT_SECTION]

    @property
    def account(self) -> list[navigation.Entry]:
        found = [each for each in self._sections if each.name == navigation.ACCOUNT_SECTION]
        entries = found[0].entries if found else []
        current = max((e.url for e in entries if e.current), key=len, default="")
        return [navigation.Entry(e.item, e.url, e.url == current) for e in entries]

    @cached_property
    def projects(self) -> list[Project]:
        if self.user is None:
            return []
        return list(registry.visible_projects(self.user).order_by("-updated_at")[:SWITCHER_SIZE])

    @cached_property
    def pending_approvals(self) -> int:
        return pending_for(self.user).count() if self.user else 0

    @cached_property
    def project(self) -> Project | None:
        """The project whose pages the person is on."""
        match = self._request.resolver_match
        slug = match.kwargs.get("slug") if match else None
        if not slug or self.user is None:
            return None
        known = {project.slug: project for project in self.projects}
        if slug in known:
            return known[slug]
        return registry.visible_projects(self.user, archived=None).filter(slug=slug).first()

    @cached_property
    def project_tabs(self) -> list[navigation.Entry]:
        if self.project is None or self.user is None:
            return []
        held = frozenset(each.value for each in permissions_of(self.user, self.project))
        return navigation.project_tabs(self.project.slug, path=self._request.path, permissions=held)


def shell(request: HttpRequest) -> dict[str, Any]:
    """Context processor: pages start with `{% extends shell %}`."""
    where = pane(request)
    setattr(request, RENDERED, where)
    collapsed = request.COOKIES.get(NAV_COOKIE) == "collapsed"
    return {
        "shell": PANES.get(where, FULL),
        "pane": where,
        "workspace": Workspace(request),
        "theme": theme_of(request),
        "nav_state": "collapsed" if collapsed else "open",
    }
