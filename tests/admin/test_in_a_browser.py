"""The admin console in a real browser, under its content security policy."""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.admin import pages

pytestmark = [
    pytest.mark.req("ADM-1"),
    pytest.mark.req("SEC-1"),
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
]

CHROMIUM = os.environ.get("OMNI_CHROMIUM", "/usr/bin/chromium")


@pytest.fixture
def addresses(furnished: SimpleNamespace) -> list[str]:
    """The front page and, of every model, its list and the pages of its first row."""
    found = ["/admin/"]
    for label, (model, _) in pages.registered().items():
        row = model._default_manager.first()
        own = [pages.changelist(model)] if label in pages.LISTED_ONLY else None
        found += own or pages.addresses(model, row.pk)
    # These answer with data, a redirect, or a refusal that is no page of the console.
    return [url for url in found if not url.endswith(("/history/", "/delete/"))]


@pytest.fixture
def session(administrator: Any) -> str:
    from django.test import Client

    client = Client()
    client.force_login(administrator)
    return client.cookies["omni_session"].value


@pytest.fixture
def browser(addresses: list[str], session: str, live_server: Any) -> Iterator[Any]:
    """Started last: while Playwright runs, this thread must not use the database."""
    if not os.path.exists(CHROMIUM):
        if os.environ.get("CI"):
            pytest.fail("Chromium is not installed.")
        pytest.skip("Chromium is not installed, so the browser part did not run.")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_every_page_is_quiet_and_fits(
    browser: Any, addresses: list[str], session: str, live_server: Any, scheme: str, width: int
) -> None:
    """No error in the console, no violation of the policy, nothing wide or faint."""
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
    context.add_cookies([{"name": "omni_session", "value": session, "url": live_server.url}])
    page = context.new_page()
    complaints: list[str] = []
    page.on(
        "console",
        lambda message: (
            complaints.append(f"{page.url}: {message.text}")
            if message.type in ("error", "warning")
            else None
        ),
    )
    page.on("pageerror", lambda error: complaints.append(f"{page.url}: {error}"))
    seen = 0
    for url in addresses:
        answer = page.goto(live_server.url + url)
        if answer.status == 403:  # an add page of rows that only the platform writes
            complaints = [each for each in complaints if url not in each]
            continue
        seen += 1
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, f"{url} is {wide} wide"
    assert seen > 50
    assert not complaints
    page.goto(live_server.url + "/admin/")
    page.wait_for_function("Chart.getChart(document.querySelector('canvas.chart')) !== undefined")
    faint = []
    for url in ("/admin/", "/admin/registry/user/", "/admin/registry/auditentry/"):
        page.goto(live_server.url + url)
        found = Axe().run(page, options={"runOnly": ["color-contrast"]}).response["violations"]
        faint += [f"{url} {node['html'][:120]}" for each in found for node in each["nodes"]]
    assert not faint
    dark = page.evaluate("document.documentElement.classList.contains('dark')")
    assert dark == (scheme == "dark")
    context.close()
