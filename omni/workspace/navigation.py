"""Gathers what the installed apps put into the left pane and onto a project's tabs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.apps import apps
from django.urls import reverse

from omni.contracts.navigation import NavItem

# These live in the menu at the foot of the left pane and as tabs of the account pages.
ACCOUNT_SECTION = "Account"


@dataclass(frozen=True, slots=True)
class Entry:
    """An item with its address, and whether the person is there now."""

    item: NavItem
    url: str
    current: bool


@dataclass(frozen=True, slots=True)
class Section:
    name: str
    entries: list[Entry]


def items(*, staff: bool, attribute: str = "navigation") -> list[NavItem]:
    """What the apps declare, in the order in which it is shown."""
    found = [item for item in _declared(attribute) if staff or not item.staff_only]
    return sorted(found, key=lambda item: (item.order, item.label))


def sections(*, staff: bool, path: str) -> list[Section]:
    grouped: dict[str, list[Entry]] = {}
    for item in items(staff=staff):
        url = reverse(item.url_name)
        grouped.setdefault(item.section, []).append(Entry(item, url, is_current(url, path)))
    return [Section(name, entries) for name, entries in grouped.items()]


def project_tabs(slug: str, *, path: str, permissions: frozenset[str]) -> list[Entry]:
    """The tabs of one project, from each app's `project_tabs`; the longest match is current."""
    tabs = [
        (item, reverse(item.url_name, kwargs={"slug": slug}))
        for item in items(staff=False, attribute="project_tabs")
        if not item.permission or item.permission in permissions
    ]
    matching = [url for _, url in tabs if is_current(url, path)]
    current = max(matching, key=len, default="")
    return [Entry(item, url, url == current) for item, url in tabs]


def is_current(url: str, path: str) -> bool:
    """Whether `path` is the page at `url` or one below it."""
    here, there = path.rstrip("/"), url.rstrip("/")
    return here == there or (there != "" and here.startswith(f"{there}/"))


def _declared(attribute: str) -> Iterator[NavItem]:
    for app in apps.get_app_configs():
        yield from getattr(app, attribute, ())
