"""A real site in its own process and database, and real Chromium to look at it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.e2e.seed import PASSWORD, PEOPLE

ROOT = Path(__file__).resolve().parents[2]
CANDIDATES = ("chromium", "chromium-browser", "google-chrome")
START_SECONDS = 240
# How long a page may take before a test fails; nothing here is about speed.
PATIENCE_MILLISECONDS = 45_000
expect.set_options(timeout=PATIENCE_MILLISECONDS)


@pytest.fixture(scope="session")
def site_environ(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of an installation of its own, for every process that belongs to it."""
    url, drop = _database(f"omni_e2e_{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}")
    home = tmp_path_factory.mktemp("site")
    yield {
        **os.environ,
        "OMNI_HOME": str(home),
        "OMNI_DATABASE_URL": url,
        "OMNI_PORT": str(_free_port()),
        "OMNI_PROCESS": "web",
        # The seeded worker never reports again, and a page must not change while it is looked at.
        "OMNI_HEARTBEAT_SECONDS": "300",
        "DJANGO_SETTINGS_MODULE": "tests.settings",
    }
    drop()


@pytest.fixture(scope="session")
def site(site_environ: dict[str, str]) -> Iterator[str]:
    """The address of a running, seeded installation; its process ends with the session."""
    seed = [sys.executable, "-m", "tests.e2e.seed"]
    subprocess.run(seed, cwd=ROOT, env=site_environ, check=True)
    port, log = site_environ["OMNI_PORT"], Path(site_environ["OMNI_HOME"]) / "web.log"
    command = [sys.executable, "-m", "uvicorn", "omni.asgi:application", "--port", port]
    with log.open("wb") as file:
        process = subprocess.Popen(command, cwd=ROOT, env=site_environ, stdout=file, stderr=file)
    try:
        address = f"http://127.0.0.1:{port}"
        _wait(address, process, log)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=120)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Per module: Playwright's event loop must not outlive the tests that use it."""
    executable = os.environ.get("OMNI_CHROMIUM") or next(
        filter(None, map(shutil.which, CANDIDATES)), None
    )
    if executable is None:
        reason = "Chromium is not installed (apt-get install chromium), so no browser test ran."
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=executable, args=["--no-sandbox", "--disable-gpu"]
        )
        yield running
        running.close()


@pytest.fixture(scope="module")
def cookies_of(browser: Browser, site: str) -> Callable[[str], Any]:
    """Signs a person in through the form, once per module."""
    known: dict[str, Any] = {}

    def get(who: str) -> Any:
        if who not in known:
            known[who] = sign_in(browser, site, who)
        return known[who]

    return get


@pytest.fixture
def open_context(
    browser: Browser, site: str, cookies_of: Callable[[str], Any]
) -> Iterator[Callable[..., BrowserContext]]:
    """Makes a fresh browser profile; with `who`, one in which that person is signed in."""
    opened: list[BrowserContext] = []

    def make(who: str | None = "ada", **options: Any) -> BrowserContext:
        options = {"viewport": {"width": 1360, "height": 860}, "reduced_motion": "reduce"} | options
        if who is not None:
            options["storage_state"] = cookies_of(who)
        context = browser.new_context(base_url=site, **options)
        context.set_default_timeout(PATIENCE_MILLISECONDS)
        opened.append(context)
        return context

    yield make
    for context in opened:
        context.close()


@pytest.fixture
def page(open_context: Callable[..., BrowserContext]) -> Page:
    """Ada is signed in, on a desktop, and looks at the dashboard."""
    page = open_context().new_page()
    page.goto("/")
    return page


def sign_in(browser: Browser, site: str, who: str) -> Any:
    context = browser.new_context(base_url=site)
    context.set_default_timeout(PATIENCE_MILLISECONDS)
    page = context.new_page()
    page.goto("/login")
    page.get_by_label("Email address").fill(PEOPLE[who]["email"])
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/")
    state = context.storage_state()
    context.close()
    return state


def _database(name: str) -> tuple[str, Callable[[], None]]:
    parts = urlsplit(os.environ["OMNI_DATABASE_URL"])
    admin = urlunsplit(parts)

    def run(statement: str) -> None:
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute(statement)

    run(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
    run(f'CREATE DATABASE "{name}"')
    return urlunsplit(parts._replace(path=f"/{name}")), lambda: run(
        f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(f"{address}/login", timeout=60).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise RuntimeError(f"The site did not start:\n{log.read_text()[-3000:]}")
