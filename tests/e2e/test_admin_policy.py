"""The admin console under its content security policy, in real Chromium."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page

pytestmark = [pytest.mark.browser, pytest.mark.req("SEC-1", "ADM-1")]

Contexts = Callable[..., BrowserContext]


def listen(page: Page) -> list[str]:
    heard: list[str] = []
    page.on(
        "console",
        lambda said: heard.append(f"{page.url} {said.text}") if said.type == "error" else None,
    )
    page.on("pageerror", lambda error: heard.append(f"{page.url} {error}"))
    return heard


def test_an_inline_script_is_really_refused(open_context: Contexts) -> None:
    """On the widest page we have; it also shows that listening can hear something."""
    page = open_context("grace").new_page()
    heard = listen(page)
    page.goto("/admin/", wait_until="networkidle")
    page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'window.hit = 1';"
        " document.head.append(s) }"
    )
    assert page.evaluate("window.hit") is None
    assert any("Content Security Policy" in each for each in heard)
