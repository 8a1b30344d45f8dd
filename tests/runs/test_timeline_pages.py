"""The timeline: what a reload shows is, byte for byte, what was streamed."""

from __future__ import annotations

import html
import json
import random
import re
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from apps.registry.models import User
from apps.runs import eventlog
from apps.runs.eventlog import NewEvent, system
from apps.runs.models import Run
from apps.runs.timeline import items
from apps.runs.timeline.groups import LABELS, shown_from
from omni.contracts import catalogue

pytestmark = [pytest.mark.django_db, pytest.mark.req("LIVE-2"), pytest.mark.req("UI-3")]

TEXTS = (
    "plain",
    " leading and trailing ",
    "\n\nlines\r\nof\rall\u2028kinds\x85",
    "<script>alert(1)</script></li></ol><!-- ",
    "{% now 'Y' %}{{ x }}&amp;&#10;",
    "\u202eright to left\u2069 🙂 \x7f",
    "data: x\nid: 7\nevent: end\n\n",
    "word " * 900,
    "x" * 3000,
)


class History:
    """Appends random but legal events, a few at a time."""

    def __init__(self, run: Run, seed: int) -> None:
        self.run = run
        self.dice = random.Random(seed)
        self.open_messages: dict[str, int] = {}
        self.calls = 0

    def go_on(self) -> None:
        events = [self._event() for _ in range(self.dice.randint(1, 6))]
        eventlog.append(self.run.pk, events, actor=self._actor())

    def _actor(self) -> str:
        return self.dice.choice(["system", f"worker:{uuid.uuid4()}", f"user:{self._person()}"])

    def _person(self) -> Any:
        return self.dice.choice([self.run.created_by_id, uuid.uuid4()])

    def _text(self) -> str:
        return self.dice.choice(TEXTS)

    def _event(self) -> NewEvent:
        return self.dice.choice(
            [
                self._said,
                self._piece,
                self._piece,
                self._answer,
                self._call,
                self._outcome,
                self._step,
                self._timer,
                self._artifact,
                self._question,
                self._model,
            ]
        )()

    def _said(self) -> NewEvent:
        return NewEvent("user_message", {"text": self._text()})

    def _piece(self) -> NewEvent:
        if not self.open_messages or self.dice.random() < 0.3:
            self.open_messages[str(uuid.uuid4())] = 0
        message = self.dice.choice(list(self.open_messages))
        index = self.open_messages[message]
        self.open_messages[message] += 1
        piece = {"message_id": message, "index": index, "text": self._text()[:500]}
        return NewEvent("assistant_message_delta", piece)

    def _answer(self) -> NewEvent:
        message = next(iter(self.open_messages), str(uuid.uuid4()))
        self.open_messages.pop(message, None)
        return NewEvent("assistant_message", {"message_id": message, "text": self._text()})

    def _call(self) -> NewEvent:
        self.calls += 1
        call = {"call_id": f"c{self.calls}", "tool": "files.read", "version": "1.0.0"}
        arguments = {self._text()[:50]: self._text()}
        return NewEvent("tool_call", {**call, "arguments": arguments, "idempotent": True})

    def _outcome(self) -> NewEvent:
        call = f"c{self.dice.randint(1, self.calls + 1)}"
        if self.dice.random() < 0.5:
            return NewEvent(
                "tool_result", {"call_id": call, "output": self._text(), "duration_ms": 3}
            )
        failed = {"call_id": call, "category": "tool_failed", "message": self._text()[:200].strip()}
        return NewEvent("tool_error", failed | {"message": failed["message"] or "failed"})

    def _step(self) -> NewEvent:
        return system("step_finished", {"step": "s1", "output": {"text": self._text()}})

    def _timer(self) -> NewEvent:
        return system("timer_set", {"timer_id": "t", "due_at": "2030-01-01T00:00:00.000000Z"})

    def _artifact(self) -> NewEvent:
        name = self.dice.choice(["a.txt", "<b>.html"])
        about = {
            "sha256": "a" * 64,
            "size": self.dice.randint(0, 10**9),
            "media_type": "text/plain",
        }
        return NewEvent("artifact_ref", {**about, "name": name})

    def _question(self) -> NewEvent:
        about = {"approval_id": str(uuid.uuid4()), "options": ["approve", "reject"]}
        return system("approval_requested", {**about, "title": "<i>May I?</i>"})

    def _model(self) -> NewEvent:
        failed = {"call_id": "m", "category": "timeout", "message": "It did not answer."}
        return system("model_error", failed)


def frames(content: Iterator[bytes]) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """(event, number, data) of each message; a frame that breaks the stream's form is an error."""
    for block in b"".join(content).decode().split("\n\n"):
        lines = [line for line in block.split("\n") if line and not line.startswith(":")]
        fields = dict(line.split(": ", 1) for line in lines)
        if "data" in fields:
            yield fields.get("event", ""), int(fields.get("id", 0)), json.loads(fields["data"])


class Browser:
    """What timeline.js does, in a few lines."""

    def __init__(self, client: Client, run: Run, show: str) -> None:
        self.client, self.run, self.show = client, run, show
        self.upto, self.shown = 0, ""
        self.drafts: dict[str, str] = {}

    def follow(self) -> None:
        address = f"/runs/{self.run.pk}/timeline/stream?after={self.upto}"
        answer = self.client.get(address + (f"&show={self.show}" if self.show else ""))
        assert answer.status_code == 200, answer.content
        for event, seq, about in frames(answer.streaming_content):
            assert seq == self.upto + 1
            self.upto = seq
            if event == "piece":
                before = self.drafts.get(about["message"], "")
                self.drafts[about["message"]] = before + about["text"]
            elif event == "entry":
                self.drafts.pop(about.get("message", ""), None)
                self.shown += about["html"]


def reload(client: Client, run: Run, show: str) -> tuple[str, dict[str, str]]:
    page = client.get(f"/runs/{run.pk}" + (f"?show={show}" if show else "")).content.decode()
    listed = re.search(r'<ol class="events" data-events>(.*?)</ol>', page, re.S)
    assert listed is not None
    drafts = page.split("data-drafts>")[1].split("<template")[0]
    found = re.findall(r'data-message="([^"]+)".*?dir="auto">(.*?)</div>', drafts, re.S)
    return listed[1], {message: html.unescape(text) for message, text in found}


@pytest.fixture
def ada(client: Client, user: User) -> Client:
    client.force_login(user)
    return client


@pytest.mark.parametrize("seed", range(10))
def test_a_reload_is_what_was_streamed(
    ada: Client, make_run: Callable[..., Run], seed: int
) -> None:
    """Random histories, cut at random points, with random filters and hostile texts."""
    run = make_run("echo", text=TEXTS[seed % len(TEXTS)])
    history = History(run, seed)
    groups = history.dice.sample(list(LABELS), history.dice.randint(0, 3))
    browsers = [Browser(ada, run, show) for show in ("", ",".join(groups))]
    for _ in range(12):
        history.go_on()
        for browser in browsers:
            browser.follow()
            listed, drafts = reload(ada, run, browser.show)
            assert listed == browser.shown
            assert drafts == browser.drafts


def test_the_stream_ends_with_the_run(ada: Client, make_run: Callable[..., Run]) -> None:
    run = make_run("echo", text="hello")
    ada.post(f"/runs/{run.pk}/cancel")
    answer = ada.get(f"/runs/{run.pk}/timeline/stream?after=2")
    told = list(frames(answer.streaming_content))
    assert [event for event, *_ in told] == ["entry", "entry", "end"]
    assert told[1][2]["changes"] is True
    assert ada.get(f"/runs/{run.pk}/timeline/stream?after=99").status_code == 400
    assert ada.get(f"/runs/{run.pk}/timeline/stream?after=x").status_code == 400


def test_every_event_has_words_of_its_own() -> None:
    """A new kind or name of event must say how people read it."""
    told = {*catalogue.event_kinds(), *catalogue.system_event_names()}
    told -= {"system_event", "assistant_message_delta"}
    assert told == items._MAKERS.keys()


def test_filters_know_every_event() -> None:
    every = {*catalogue.event_kinds(), *catalogue.system_event_names()}
    apart = [shown_from(group).keys for group in LABELS]
    assert frozenset().union(*apart) == every - {"assistant_message_delta"}
    assert sum(map(len, apart)) == len(every) - 1
