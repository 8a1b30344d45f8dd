"""Every page, in both themes and on a phone: accessible, quiet, and equal to its fragment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page

pytestmark = [pytest.mark.browser, pytest.mark.req("UI-1")]

Contexts = Callable[..., BrowserContext]

PAGES = (
    "/",
    "/projects/",
    "/projects/?q=nothing-like-this",
    "/projects/new",
    "/projects/apollo/",
    "/projects/apollo/members",
    "/projects/apollo/secrets",
    "/projects/apollo/tools",
    "/projects/apollo/tools/text.count",
    "/projects/apollo/tools/-/new",
    "/projects/apollo/policies",
    "/projects/apollo/policies/default",
    "/projects/apollo/policies/-/new",
    "/projects/apollo/policies/-/why?tool=text.count",
    "/projects/apollo/activity",
    "/projects/apollo/settings",
    "/projects/apollo/archive",
    "/projects/apollo/secrets/API_KEY/replace",
    "/mcp/",
    "/projects/apollo/mcp",
    "/projects/apollo/mcp/new",
    "/projects/apollo/mcp/tickets",
    "/projects/apollo/mcp/tickets/changes",
    "/account/",
    "/account/security",
    "/account/tokens",
    "/account/activity",
    "/password/change",
    "/activity/1",
    "/workers/",
    "/schemas/",
    "/schemas/tool-manifest",
    "/schemas/payloads/run_created",
    "/search?q=ap",
    "/shortcuts",
)
OUTSIDE = ("/login", "/password/reset", "/password/set/done")

# What the centre says, without what must differ from one answer to the next.
FRAGMENT_TEXT = """async (path) => {
  const text = (root) => [...root.querySelectorAll('.topbar, .page')]
    .map((part) => part.textContent.replace(/\\s+/g, ' ').trim()).join('|')
    .replace(/just now|\\d+ (min|h) ago/g, 'ago');
  const headers = {'HX-Request': 'true', 'HX-Target': 'main'};
  const answer = await fetch(path, {headers});
  const fragment = new DOMParser().parseFromString(await answer.text(), 'text/html');
  return {
    full: text(document),
    fragment: text(fragment),
    title: [document.title, fragment.title],
    hasDocument: fragment.querySelector('.shell') !== null,
    vary: answer.headers.get('Vary'),
  };
}"""


def complaints_about(page: Page) -> list[str]:
    violations: list[dict[str, Any]] = Axe().run(page).response["violations"]
    return [f"{each['id']}: {node['html'][:140]}" for each in violations for node in each["nodes"]]


def listen(page: Page) -> list[str]:
    heard: list[str] = []
    page.on("console", lambda said: heard.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: heard.append(str(error)))
    return heard


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_accessible_and_quiet(open_context: Contexts, scheme: str) -> None:
    """axe-core finds nothing, and neither script nor policy (CSP) complains."""
    page = open_context(color_scheme=scheme).new_page()
    heard = listen(page)
    problems = []
    for path in PAGES:
        page.goto(path)
        problems += [f"{path} {each}" for each in complaints_about(page)]
        problems += [f"{path} {each}" for each in heard]
        heard.clear()
    assert problems == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_outside_are_accessible_and_quiet(open_context: Contexts, scheme: str) -> None:
    page = open_context(None, color_scheme=scheme).new_page()
    heard = listen(page)
    problems = []
    for path in OUTSIDE:
        page.goto(path)
        problems += [f"{path} {each}" for each in [*complaints_about(page), *heard]]
        heard.clear()
    assert problems == []


def test_overlays_are_accessible(open_context: Contexts) -> None:
    """The palette, a dialog, the drawer and an open menu, each while it is shown."""
    page = open_context().new_page()
    page.goto("/projects/apollo/activity?drawer=/activity/1")
    page.locator("#drawer h2").wait_for()
    problems = [f"drawer {each}" for each in complaints_about(page)]
    page.keyboard.press("Control+k")
    page.locator("#palette [role=option]").first.wait_for()
    problems += [f"palette {each}" for each in complaints_about(page)]
    page.goto("/projects/apollo/members")
    page.get_by_role("link", name="Change roles of Alan Turing").click()
    page.locator("#dialog h2").wait_for()
    problems += [f"dialog {each}" for each in complaints_about(page)]
    page.goto("/")
    page.locator("#nav summary").last.click()
    problems += [f"menu {each}" for each in complaints_about(page)]
    assert problems == []


def test_fragment_and_page_say_the_same(open_context: Contexts) -> None:
    """What a link swaps in is what a reload shows, and caches can tell the two apart."""
    page = open_context().new_page()
    for path in PAGES:
        page.goto(path)
        seen = page.evaluate(FRAGMENT_TEXT, path)
        assert seen["fragment"] == seen["full"] != "", path
        assert seen["title"][0] == seen["title"][1], path
        assert not seen["hasDocument"], path
        assert "HX-Request" in seen["vary"] and "HX-Target" in seen["vary"], path


def test_phone_shows_every_page_without_sideways_scrolling(open_context: Contexts) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    page = open_context(**phone).new_page()
    wide = []
    for path in PAGES:
        page.goto(path)
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > 390:
            wide.append(f"{path}: {width}")
        assert complaints_about(page) == [], path
    assert wide == []


def test_long_unbroken_words_stay_inside_a_phone(open_context: Contexts) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    page = open_context("eve", **phone).new_page()
    page.goto("/projects/new")
    page.get_by_label("Name", exact=True).fill("W" * 120)
    page.get_by_label("Short name").fill("long-words")
    page.get_by_label("Description").fill("x" * 300)
    page.get_by_role("button", name="Create project").click()
    page.wait_for_url("**/projects/long-words/")
    for path in ("", "members", "settings", "activity"):
        page.goto(f"/projects/long-words/{path}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
        head = page.locator(".page-head").bounding_box()
        title = page.locator(".page-head h1").bounding_box()
        assert head and title and title["width"] <= head["width"], path
    page.get_by_role("button", name="Navigation").click()
    page.locator("#nav summary").first.click()
    entry = page.locator("#nav .menu-item", has_text="WWW").locator(".nav-text").bounding_box()
    assert entry is not None and entry["height"] < 50


def test_phone_has_sheets_instead_of_panes(open_context: Contexts) -> None:
    """The navigation slides in and away; the drawer rises from the bottom edge."""
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    page = open_context(**phone).new_page()
    page.goto("/")
    navigation = page.locator("#nav")
    assert not navigation.is_visible()
    page.get_by_role("button", name="Navigation").click()
    navigation.wait_for(state="visible")
    page.keyboard.press("Escape")
    navigation.wait_for(state="hidden")
    page.get_by_role("button", name="Navigation").click()
    navigation.get_by_role("link", name="Projects").click()
    page.get_by_role("heading", level=1, name="Projects").wait_for()
    navigation.wait_for(state="hidden")
    page.goto("/activity/1")
    page.goto("/projects/apollo/activity?drawer=/activity/1")
    page.locator("#drawer h2").wait_for()
    # It rises to its place; where it comes to rest is what counts.
    page.wait_for_function(
        """() => { const box = document.getElementById("drawer").getBoundingClientRect();
                   return box.width >= 388 && Math.abs(box.bottom - innerHeight) < 2; }"""
    )
