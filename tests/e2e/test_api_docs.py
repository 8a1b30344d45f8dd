"""The API's page renders under the content security policy, and lets one try an operation."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.conf import settings
from playwright.sync_api import BrowserContext, ConsoleMessage

pytestmark = [pytest.mark.browser, pytest.mark.req("API-1"), pytest.mark.req("SEC-1")]


@pytest.mark.parametrize(
    ("scheme", "cookie", "background"),
    [
        ("light", "", "rgb(245, 245, 247)"),
        ("dark", "", "rgb(15, 15, 18)"),
        ("light", "dark", "rgb(15, 15, 18)"),
        ("dark", "light", "rgb(245, 245, 247)"),
    ],
)
def test_the_page_follows_the_theme_and_leads_back(
    open_context: Callable[..., BrowserContext], scheme: str, cookie: str, background: str
) -> None:
    """The chosen theme wins over the system's; the text is in the workspace's font."""
    context = open_context("ada", color_scheme=scheme)
    page = context.new_page()
    if cookie:
        page.goto("/account/")
        page.locator("#theme").get_by_role("button", name=cookie.title()).click()
    page.goto("/api/docs/")
    title = page.get_by_role("heading", name="Omni API")
    title.wait_for()
    seen = "getComputedStyle(document.querySelector('.swagger-ui')).backgroundColor"
    body = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert body == background
    assert page.evaluate(seen) in (background, "rgba(0, 0, 0, 0)")
    assert "Inter" in title.evaluate("each => getComputedStyle(each).fontFamily")
    page.get_by_role("link", name="Back to the workspace").click()
    page.wait_for_url("**/")


def test_the_page_renders_without_violations_and_tries_a_change(
    open_context: Callable[..., BrowserContext],
) -> None:
    """Scripts, styles and fonts come from this server; a signed-in browser needs no token."""
    page = open_context("ada").new_page()
    complaints: list[str] = []
    addresses: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            complaints.append(message.text)

    page.on("console", hear)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: addresses.append(request.url))
    page.goto("/api/docs/")
    page.get_by_role("heading", name="Omni API").wait_for()
    assert page.locator(".opblock-tag").count() == len(settings.SPECTACULAR_SETTINGS["TAGS"])
    assert page.locator(".opblock").count() >= 25

    page.locator("#operations-me-change_me .opblock-summary-control").click()
    page.locator("#operations-me-change_me textarea").fill("{}")
    page.locator("#operations-me-change_me button.execute").click()
    answer = page.locator(
        "#operations-me-change_me .live-responses-table tbody .response-col_status"
    )
    answer.first.wait_for()
    assert answer.first.inner_text().startswith("200")

    assert complaints == []
    host = page.url.split("/api/")[0]
    assert [url for url in addresses if not url.startswith((host, "data:", "blob:"))] == []
