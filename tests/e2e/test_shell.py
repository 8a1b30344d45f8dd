"""The shell in a real browser: panes, palette, drawer, dialogs, keyboard, theme."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.req("UI-1")]

Contexts = Callable[..., BrowserContext]


def mark(page: Page) -> None:
    """A full load would wash this away."""
    page.evaluate("window.survivor = true")


def is_marked(page: Page) -> bool:
    return bool(page.evaluate("window.survivor === true"))


def test_links_swap_the_centre_and_back_returns(page: Page) -> None:
    """A link changes centre, title, address, navigation state and focus without a full load."""
    mark(page)
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Projects").click()
    expect(page.get_by_role("heading", level=1, name="Projects")).to_be_focused()
    expect(page).to_have_url("/projects/")
    expect(page).to_have_title("Projects · Omni")
    expect(page.locator("#nav a[aria-current=page]")).to_have_text("Projects")
    expect(page.locator("#announcer")).to_have_text("Projects · Omni")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Ada")
    expect(page).to_have_title("Home · Omni")
    expect(page.locator("#nav a[aria-current=page]")).to_have_text("Home")
    page.go_forward()
    expect(page.get_by_role("heading", level=1, name="Projects")).to_be_visible()
    assert is_marked(page)
    assert page.evaluate("sessionStorage.getItem('htmx-history-cache')") is None


def test_tabs_of_a_project_are_links_with_their_state(page: Page) -> None:
    page.goto("/projects/apollo/")
    tabs = page.get_by_role("navigation", name="Apollo")
    mark(page)
    tabs.get_by_role("link", name="Secrets").click()
    expect(page).to_have_url("/projects/apollo/secrets")
    expect(tabs.locator("[aria-current=page]")).to_have_text("Secrets")
    expect(page.locator("#nav summary").first).to_contain_text("Apollo")
    assert is_marked(page)


def test_palette_finds_a_project_by_keyboard(page: Page) -> None:
    """Ctrl-K, a few letters, Enter; Escape closes; nothing found says what to try."""
    mark(page)
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox", name="Search")
    expect(box).to_be_focused()
    box.fill("xyzzy")
    expect(page.locator("#palette-results")).to_contain_text("Nothing found for “xyzzy”")
    box.fill("apol")
    first = page.locator("#palette [role=option]").first
    expect(first).to_contain_text("Apollo")
    expect(first).to_have_attribute("aria-selected", "true")
    assert box.get_attribute("aria-activedescendant") == first.get_attribute("id")
    box.press("Enter")
    expect(page).to_have_url("/projects/apollo/")
    expect(page.get_by_role("heading", level=1, name="Apollo")).to_be_visible()
    assert is_marked(page)
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).not_to_be_visible()


def test_palette_shows_nothing_of_others(page: Page) -> None:
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search").fill("elsewhere")
    expect(page.locator("#palette-results")).to_contain_text("Nothing found")


def test_palette_arrows_reach_an_action(page: Page) -> None:
    """Switching the theme from the palette changes it at once and keeps the page."""
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox", name="Search")
    box.fill("switch theme")
    expect(page.locator("#palette [role=option]")).to_have_count(1)
    box.press("ArrowDown")
    box.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    expect(page).to_have_url("/")


def test_theme_is_rendered_by_the_server_after_a_reload(page: Page) -> None:
    """The choice is in a cookie, so the first byte of the next page has it: no flash."""
    page.goto("/account/")
    page.locator("#theme").get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    source = page.request.get("/").text()
    assert '<html lang="en" data-theme="dark"' in source
    page.reload()
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(15, 15, 18)"


def test_drawer_opens_closes_and_can_be_linked_to(page: Page) -> None:
    """Focus goes in and comes back; the address reopens it; Escape closes it."""
    page.goto("/projects/apollo/activity")
    link = page.get_by_role("link", name="Secret set: API_KEY")
    link.click()
    drawer = page.get_by_role("complementary", name="Details")
    expect(drawer.get_by_role("heading", name="Secret set")).to_be_focused()
    assert "drawer=" in page.url
    page.reload()
    expect(drawer).to_contain_text("API_KEY")
    page.keyboard.press("Escape")
    expect(drawer).not_to_be_visible()
    assert "drawer=" not in page.url
    link.click()
    expect(drawer).to_be_visible()
    drawer.get_by_role("button", name="Close").click()
    expect(link).to_be_focused()


@pytest.mark.req("SEC-1")
@pytest.mark.parametrize("path", ["//example.org/", "https://example.org/", "/healthz", "/api/"])
def test_drawer_takes_nothing_but_our_pages(page: Page, path: str) -> None:
    """A crafted link puts neither another site nor raw bytes of this one into the drawer."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"/projects/?drawer={path}")
    expect(page.get_by_role("heading", level=1, name="Projects")).to_be_visible()
    page.wait_for_load_state("networkidle")
    expect(page.locator("#drawer")).not_to_be_visible()
    assert not any("example.org" in url.split("?")[0] for url in asked)


def test_keys_work_except_while_typing(page: Page) -> None:
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(sheet).to_be_visible()
    page.keyboard.press("Escape")
    expect(sheet).not_to_be_visible()
    page.keyboard.press("g")
    page.keyboard.press("p")
    expect(page).to_have_url("/projects/")
    page.get_by_label("Find a project").fill("")
    page.keyboard.type("g d ? [")
    expect(page.get_by_label("Find a project")).to_have_value("g d ? [")
    expect(page).to_have_url("/projects/")
    expect(page.locator("html")).to_have_attribute("data-nav", "open")
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("/")
    expect(page.locator("#palette")).to_be_visible()


@pytest.mark.parametrize(
    ("key", "path", "here"),
    [("d", "/", "Home"), ("p", "/projects/", "Projects"), ("w", "/workers/", "Workers")],
)
def test_keys_lead_where_the_links_do(page: Page, key: str, path: str, here: str) -> None:
    """The navigation moves its mark, the progress bar ends, and nothing complains."""
    complaints: list[str] = []
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    page.goto("/shortcuts")
    mark(page)
    page.keyboard.press("g")
    page.keyboard.press(key)
    expect(page).to_have_url(path)
    expect(page.locator("#nav .nav-item[aria-current=page]")).to_have_text(here)
    expect(page.locator("#progress")).not_to_have_class(re.compile("is-busy"))
    assert is_marked(page)
    page.keyboard.press("g")
    page.keyboard.press("t")
    expect(page).to_have_url("/account/tokens")
    expect(page.locator("#progress")).not_to_have_class(re.compile("is-busy"))
    assert is_marked(page)
    assert complaints == []


def test_navigation_stays_folded(page: Page) -> None:
    page.keyboard.press("[")
    expect(page.locator("html")).to_have_attribute("data-nav", "collapsed")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-nav", "collapsed")
    box = page.locator("#nav").bounding_box()
    assert box is not None and box["width"] < 80


def test_dialog_asks_and_a_toast_answers(page: Page) -> None:
    """Cancel changes nothing; confirming acts, closes the dialog and moves the centre."""
    name = f"Gemini {uuid.uuid4().hex[:6]}"
    page.goto("/projects/new")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Create project").click()
    expect(page.locator("#toasts")).to_contain_text(f"{name} is ready")
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("link", name="Archive").click()
    dialog = page.get_by_role("dialog", name=f"Archive {name}?")
    expect(dialog).to_be_visible()
    dialog.get_by_role("link", name="Cancel").click()
    expect(dialog).not_to_be_visible()
    expect(page.get_by_role("heading", name="Archive this project")).to_be_visible()
    page.get_by_role("link", name="Archive").click()
    dialog.get_by_role("button", name="Archive project").click()
    expect(page).to_have_url("/projects/")
    expect(dialog).not_to_be_visible()
    expect(page.locator("#toasts")).to_contain_text(f"{name} is archived")
    expect(page.locator("#main")).not_to_contain_text(name)


def test_dialog_keeps_its_form_while_it_is_wrong(page: Page) -> None:
    page.goto("/account/security")
    page.get_by_role("link", name="Change password").click()
    dialog = page.get_by_role("dialog", name="Change password")
    dialog.get_by_label("Present password").fill("not it")
    dialog.get_by_label("New password", exact=True).fill("a-much-better-one-7")
    dialog.get_by_label("New password confirmation").fill("a-much-better-one-7")
    dialog.get_by_role("button", name="Change password").click()
    expect(dialog).to_contain_text("This is not your present password.")
    expect(page).to_have_url("/account/security")


def test_errors_are_said_beside_the_field(page: Page) -> None:
    """What was typed stays, the summary has the focus, the field names its error."""
    page.goto("/projects/new")
    page.get_by_label("Name", exact=True).fill("Another")
    page.get_by_label("Short name").fill("apollo")
    page.get_by_role("button", name="Create project").click()
    summary = page.get_by_role("alert")
    expect(summary).to_be_focused()
    field = page.get_by_label("Short name")
    expect(field).to_have_value("apollo")
    expect(field).to_have_attribute("aria-invalid", "true")
    sentence = "There is already a project with the short name apollo."
    expect(field).to_have_accessible_description(re.compile(sentence))
    address = page.url
    summary.get_by_role("link", name=f"Short name: {sentence}").click()
    expect(field).to_be_focused()
    assert page.url == address


def test_the_summary_leads_to_a_group_of_choices(page: Page) -> None:
    page.goto("/projects/apollo/members")
    page.get_by_label("Email address").fill("eve@example.org")
    page.get_by_role("button", name="Add member").click()
    page.get_by_role("alert").get_by_role("link", name="Roles: Choose at least one role.").click()
    expect(page.locator("#add-member input[type=checkbox]").first).to_be_focused()


def test_missing_page_is_shown_in_the_centre(page: Page) -> None:
    """A refusal does not throw the person out of the shell."""
    mark(page)
    page.evaluate("htmx.ajax('GET', '/projects/elsewhere/', '#main')")
    expect(page.get_by_role("heading", level=1, name="Not found")).to_be_visible()
    expect(page.locator("#nav")).to_be_visible()
    assert is_marked(page)


@pytest.mark.req("SEC-1")
def test_an_ended_session_leads_to_the_sign_in_and_back(page: Page) -> None:
    page.goto("/workers/")
    page.context.clear_cookies()
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Projects").click()
    expect(page).to_have_url(re.compile(r"/login\?next="))
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert "next=%2Fworkers%2F" in page.url


@pytest.mark.req("SEC-2")
def test_a_token_is_shown_once(page: Page) -> None:
    page.goto("/account/tokens")
    page.get_by_label("Name", exact=True).fill("From the browser")
    page.get_by_role("button", name="Create token").click()
    value = page.locator("#token-value").inner_text()
    assert value.startswith("omni_")
    page.goto("/account/tokens")
    expect(page.get_by_role("rowheader")).to_contain_text(["From the browser"])
    assert value not in page.content()


def test_everything_needed_works_without_javascript(open_context: Contexts) -> None:
    """Sign in, theme, create a project, read an audit entry, confirm an archive."""
    page = open_context(java_script_enabled=False).new_page()
    name = f"Plain {uuid.uuid4().hex[:6]}"
    page.goto("/projects/new")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Create project").click()
    expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()
    page.get_by_role("link", name=f"Project created: {name}").click()
    expect(page.get_by_role("heading", level=1, name="Project created")).to_be_visible()
    page.go_back()
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("link", name="Archive").click()
    page.get_by_role("button", name="Archive project").click()
    expect(page).to_have_url("/projects/")
    page.goto("/account/")
    page.locator("#theme").get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.goto("/search?q=apollo")
    expect(page.locator("#main").get_by_role("link", name="Apollo")).to_be_visible()
