"""Threads, runs and approvals in real Chromium, with a worker at work."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.conftest import ROOT
from tests.e2e.test_every_page import complaints_about, listen

pytestmark = [pytest.mark.browser, pytest.mark.req("UI-1")]

Contexts = Callable[..., BrowserContext]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
STORY = "Tell me this again, please: <b>one</b> two three HOLD four five six seven eight nine ten."
HALF = STORY[: STORY.index(" four")]
ASK = {
    "actions": [
        {"do": "ask", "title": "Publish it?", "detail": {"to": "everyone"}, "seconds": 3600},
        {"do": "tool", "tool": "no.such", "arguments": {"path": "/x"}, "on_error": "continue"},
        {"do": "child", "input": {"steps": 1}},
    ]
}
# What the timeline holds, without the panels that show where an approval stands by now.
TIMELINE = """() => {
  const copy = document.querySelector('[data-events]').cloneNode(true);
  for (const panel of copy.querySelectorAll('.approval')) {
    panel.innerHTML = '';
    panel.className = '';
  }
  copy.querySelectorAll('details').forEach((each) => { each.open = false; });
  return copy.innerHTML;
}"""


@pytest.fixture(scope="module")
def worker(site: str, site_environ: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.e2e.worker"]
    pipe: Any = subprocess.PIPE
    environ = {**site_environ, "OMNI_PROCESS": "worker"}
    process = subprocess.Popen(command, cwd=ROOT, env=environ, stdin=pipe, stdout=pipe, text=True)
    assert process.stdin and process.stdout
    yield process
    process.stdin.close()
    process.terminate()
    process.wait(timeout=120)
    process.stdout.close()


def say(worker: subprocess.Popen[str], what: Any) -> None:
    assert worker.stdin is not None
    worker.stdin.write(json.dumps(what) + "\n")
    worker.stdin.flush()


@pytest.fixture
def start(worker: subprocess.Popen[str]) -> Callable[..., str]:
    """A worker runs; call this to start a script run of Ada's and get its address."""

    def begin(**about: Any) -> str:
        say(worker, about)
        for line in worker.stdout or ():
            if re.fullmatch(r"[0-9a-f-]{36}\n", line):
                return f"/runs/{line.strip()}"
        raise AssertionError("The worker has died.")

    return begin


@pytest.fixture
def release(worker: subprocess.Popen[str]) -> Callable[[], None]:
    """Lets a model go on that holds in the middle of its text."""
    return lambda: say(worker, "release")


def badge(page: Page, text: str) -> None:
    expect(page.locator("#run-summary .badge").first).to_have_text(text)


@pytest.mark.req("UI-2", "UI-3", "LIVE-2")
def test_a_message_is_answered_live_and_a_reload_shows_the_same(
    page: Page, release: Callable[[], None]
) -> None:
    """From the composer to the answer, growing in one bubble; nothing twice, nothing lost."""
    heard = listen(page)
    page.goto("/projects/apollo/threads")
    page.get_by_role("link", name=re.compile("thread")).filter(
        has_text=re.compile("New|Begin")
    ).first.click()
    page.get_by_label("Title").fill("First words")
    page.get_by_role("button", name="Begin thread").click()
    page.get_by_role("heading", level=1, name="First words").wait_for()
    page.get_by_label("Message", exact=True).fill(STORY)
    page.get_by_label("Message", exact=True).press("Control+Enter")
    # It is shown up to where the model holds; the rest does not exist yet.
    expect(page.locator(".draft .bubble-text")).to_have_text(HALF)
    expect(page.locator(".draft")).to_have_count(1)
    release()
    badge(page, "Done")
    expect(page.locator(".event-answer")).to_have_count(1)
    expect(page.locator(".event-answer .bubble-text")).to_have_text(STORY)
    expect(page.locator("#announcer")).to_contain_text("Omni: Tell me this again")
    expect(page.get_by_role("link", name="Retry")).to_be_visible()
    streamed = page.evaluate(TIMELINE)
    page.reload()
    assert page.evaluate(TIMELINE) == streamed
    assert streamed.count('id="e') > 5
    page.get_by_role("link", name="Messages", exact=True).click()
    page.wait_for_url("**?show=messages")
    expect(page.locator("[data-events] > li")).to_have_count(2)
    page.reload()
    expect(page.locator("[data-events] > li")).to_have_count(2)
    assert heard == []


@pytest.mark.req("LIVE-2")
def test_a_reload_in_the_middle_goes_on_where_it_was(
    page: Page, start: Callable[..., str], release: Callable[[], None]
) -> None:
    address = start(actions=[{"do": "model", "text": STORY}])
    page.goto(address)
    expect(page.locator(".draft .bubble-text")).to_have_text(HALF)
    page.reload()
    expect(page.locator(".draft .bubble-text")).to_have_text(HALF)
    release()
    badge(page, "Done")
    expect(page.locator(".event-answer .bubble-text")).to_have_text(STORY)
    streamed = page.evaluate(TIMELINE)
    page.reload()
    assert page.evaluate(TIMELINE) == streamed


@pytest.mark.req("UI-2", "LIVE-4")
def test_an_approval_is_counted_answered_in_place_and_settled(
    page: Page, open_context: Contexts, start: Callable[..., str]
) -> None:
    """The number in the navigation and the run's page follow without a reload."""
    page.goto("/approvals/")
    expect(page.locator(".nav-number")).to_have_count(0)
    address = start(**ASK)
    expect(page.locator(".nav-number")).to_have_text("1")
    expect(page.get_by_role("link", name="Publish it?", exact=True)).to_be_visible()
    page.goto(address)
    panel = page.locator(".approval")
    panel.get_by_label("Reason").fill("Looks right")
    panel.get_by_role("button", name="Approve").click()
    # The thanks, or already what the live update says of it.
    expect(panel).to_contain_text(re.compile("Your answer is recorded|Approve\\s+Ada Lovelace"))
    expect(panel).to_be_focused()
    expect(page.get_by_text("Ada Lovelace answered “approve”")).to_be_visible()
    badge(page, "Done")
    expect(page.locator(".nav-number")).to_have_count(0)
    streamed = page.evaluate(TIMELINE)
    page.reload()
    assert page.evaluate(TIMELINE) == streamed
    page.goto("/approvals/")
    expect(page.locator("#approvals")).to_contain_text("Looks right")


@pytest.mark.req("UI-2")
def test_an_answer_from_the_inbox(page: Page, start: Callable[..., str]) -> None:
    page.goto("/")
    address = start(**ASK)
    expect(page.locator("#tiles .tile", has_text="Approvals").locator(".tile-value")).to_have_text(
        "1"
    )
    page.get_by_role("link", name="Approvals").first.click()
    page.get_by_role("link", name=re.compile("Answer.*Publish it")).click()
    page.locator("#dialog").get_by_role("button", name="Reject").click()
    expect(page.locator("#dialog")).to_be_hidden()
    page.get_by_role("heading", level=1, name="Approvals").wait_for()
    page.goto(address)
    badge(page, "Failed")


@pytest.mark.req("UI-2", "RUN-9")
def test_cancel_stops_the_words(page: Page, start: Callable[..., str]) -> None:
    page.goto(start(actions=[{"do": "model", "text": "word word HOLD" + " word" * 200}]))
    draft = page.locator(".draft .bubble-text")
    expect(draft).to_have_text("word word HOLD")
    page.get_by_role("link", name="Cancel run").click()
    page.get_by_label("Reason").fill("Enough")
    page.locator("#dialog").get_by_role("button", name="Cancel run").click()
    badge(page, "Cancelled")
    expect(page.locator(".draft-broken")).to_be_visible()
    said = draft.inner_text()
    page.wait_for_timeout(600)
    assert draft.inner_text() == said
    expect(page.get_by_text("Enough")).to_be_visible()


def test_a_viewer_watches_without_buttons(
    open_context: Contexts, start: Callable[..., str]
) -> None:
    page = open_context("alan").new_page()
    page.goto(start(**ASK))
    expect(page.locator(".approval")).to_contain_text("an owner or an approver")
    expect(page.get_by_role("link", name="Cancel run")).to_have_count(0)
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)


@pytest.mark.req("UI-3")
def test_it_reads_without_scripts(open_context: Contexts, start: Callable[..., str]) -> None:
    """Filters, the recorded event, the verdict and an answer are plain pages and forms."""
    page = open_context(java_script_enabled=False).new_page()
    address = start(**ASK)
    for _ in range(400):
        page.goto(f"{address}?show=approvals")
        if page.locator(".event-approval").count():
            break
        page.wait_for_timeout(100)
    expect(page.locator("[data-events] > li")).to_have_count(1)
    page.get_by_role("link", name="as recorded").click()
    expect(page.locator("#raw")).to_contain_text("approval_requested")
    page.goto(address)
    page.get_by_role("link", name="Verify log").click()
    expect(page.get_by_role("heading", name="The log holds")).to_be_visible()
    page.goto(address)
    page.get_by_role("link", name="See and answer").click()
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("Your answer is recorded")).to_be_visible()


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_pages_are_accessible_and_fit(
    open_context: Contexts, start: Callable[..., str], look: str
) -> None:
    options: dict[str, Any] = PHONE if look == "phone" else {"color_scheme": look}
    page = open_context(**options).new_page()
    heard = listen(page)
    address = start(**ASK)
    page.goto(address)
    page.locator(".approval-form").wait_for()
    approval = (page.locator(".approval").get_attribute("id") or "").removeprefix("approval-")
    thread = page.locator(".crumbs a").last.get_attribute("href")
    ended = start(actions=[*ASK["actions"][1:], {"do": "model", "text": "x" * 400}])
    pages = [
        address,
        ended,
        f"{address}/events/1",
        f"{address}/verify",
        f"{address}/timeline",
        f"{address}/cancel",
        f"{address}?show=tools",
        "/runs/",
        "/runs/?status=queued",
        thread,
        "/projects/apollo/threads",
        "/projects/apollo/threads/new",
        "/approvals/",
        f"/approvals/{approval}",
        f"{address}?drawer={address}/events/1",
    ]
    problems = []
    for path in pages:
        page.goto(str(path))
        page.wait_for_timeout(400)
        page.evaluate("document.querySelectorAll('details.fold').forEach(each => each.open = true)")
        problems += [f"{path} {each}" for each in [*complaints_about(page), *heard]]
        heard.clear()
        width = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        if width > 0:
            problems.append(f"{path} is {width} too wide")
    assert problems == []
