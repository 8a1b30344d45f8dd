"""What the command palette finds: pages, projects and actions, each only if one may see it."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from apps.registry import selectors as registry
from apps.registry.models import User
from omni.workspace import navigation

LIMIT = 6
API_DOCS = "/api/docs/"


@dataclass(frozen=True, slots=True)
class Hit:
    """One line of the palette; `action` names what the browser does instead of following `url`."""

    label: str
    url: str
    icon: str
    hint: str = ""
    action: str = ""
    full_load: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    name: str
    hits: list[Hit]


def search(user: User, query: str) -> list[Group]:
    words = query.lower().split()
    groups = (
        Group("Projects", _projects(user, query)),
        Group("Go to", _pages(user, words)),
        Group("Actions", _actions(user, words)),
    )
    return [group for group in groups if group.hits]


def _pages(user: User, words: list[str]) -> list[Hit]:
    return [
        Hit(item.label, reverse(item.url_name), item.icon, item.section)
        for item in navigation.items(staff=user.is_staff)
        if _matches(words, item.label, item.keywords, item.section)
    ]


def _projects(user: User, query: str) -> list[Hit]:
    found = registry.visible_projects(user, q=query.strip()).order_by("-updated_at")
    return [
        Hit(
            project.name,
            reverse("registry:project_detail", args=[project.slug]),
            "folder",
            project.slug,
        )
        for project in found[:LIMIT]
    ]


def _actions(user: User, words: list[str]) -> list[Hit]:
    actions = [
        (Hit("New project", reverse("registry:project_create"), "plus"), "create add space"),
        (Hit("New API token", reverse("registry:account_tokens") + "#new", "key"), "create add"),
        (
            Hit("Switch theme", reverse("registry:account"), "auto", action="theme"),
            "dark light appearance colour",
        ),
        (
            Hit(
                "Keyboard shortcuts", reverse("workspace:shortcuts"), "keyboard", action="shortcuts"
            ),
            "help keys",
        ),
        (Hit("API documentation", API_DOCS, "code", full_load=True), "openapi rest reference"),
    ]
    if user.is_staff:
        admin = Hit("Open admin console", reverse("admin:index"), "console", full_load=True)
        actions.append((admin, "operate manage people"))
    return [hit for hit, keywords in actions if _matches(words, hit.label, keywords)]


def _matches(words: list[str], *texts: str) -> bool:
    haystack = " ".join(texts).lower()
    return all(word in haystack for word in words)
