"""AG-UI: the projection is well-formed by that protocol's own rules, live and resumed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from typing import Any

import pytest

from apps.runs.live.agui import AgUiProjection
from apps.runs.live.entries import Entry
from apps.runs.models import Run
from tests.live.story import conversation
from tests.live.test_run_stream import path_of
from tests.live.web import Reader

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.req("LIVE-1")]

TEXT, LIST, ANY = str, list, object
# Members beside `type` and `timestamp`: required, then allowed.
SHAPES: dict[str, tuple[dict[str, type], set[str]]] = {
    "RUN_STARTED": ({"threadId": TEXT, "runId": TEXT}, {"parentRunId"}),
    "RUN_FINISHED": ({"threadId": TEXT, "runId": TEXT}, {"result"}),
    "RUN_ERROR": ({"message": TEXT}, {"code"}),
    "STEP_STARTED": ({"stepName": TEXT}, set()),
    "STEP_FINISHED": ({"stepName": TEXT}, set()),
    "TEXT_MESSAGE_START": ({"messageId": TEXT, "role": TEXT}, set()),
    "TEXT_MESSAGE_CONTENT": ({"messageId": TEXT, "delta": TEXT}, set()),
    "TEXT_MESSAGE_END": ({"messageId": TEXT}, set()),
    "TOOL_CALL_START": ({"toolCallId": TEXT, "toolCallName": TEXT}, {"parentMessageId"}),
    "TOOL_CALL_ARGS": ({"toolCallId": TEXT, "delta": TEXT}, set()),
    "TOOL_CALL_END": ({"toolCallId": TEXT}, set()),
    "TOOL_CALL_RESULT": ({"messageId": TEXT, "toolCallId": TEXT, "content": TEXT}, {"role"}),
    "STATE_SNAPSHOT": ({"snapshot": ANY}, set()),
    "STATE_DELTA": ({"delta": LIST}, set()),
    "CUSTOM": ({"name": TEXT, "value": ANY}, set()),
}
PAIRS = {
    "TEXT_MESSAGE": ("messageId", "CONTENT"),
    "TOOL_CALL": ("toolCallId", "ARGS"),
}


def judge(events: Iterable[dict[str, Any]]) -> None:
    """The rules by which an AG-UI client accepts or refuses a stream."""
    open_things: set[tuple[str, str]] = set()
    is_over = False
    for number, event in enumerate(events):
        kind = event["type"]
        required, allowed = SHAPES[kind]
        members = {key: event[key] for key in event if key not in ("type", "timestamp")}
        assert required.keys() <= members.keys() <= required.keys() | allowed, event
        assert all(isinstance(members[key], wanted) for key, wanted in required.items()), event
        assert isinstance(event["timestamp"], int)
        assert (kind == "RUN_STARTED") == (number == 0), event
        assert not is_over, f"{event} after the end"
        is_over = kind in ("RUN_FINISHED", "RUN_ERROR")
        for family, (key, inner) in PAIRS.items():
            _judge_pair(event, family, key, inner, open_things)
        if kind.startswith("STEP_"):
            _judge_step(event, open_things)
        if kind == "TEXT_MESSAGE_CONTENT":
            assert event["delta"], "an empty delta is refused"
        if kind == "RUN_FINISHED":
            assert not open_things
    assert is_over


def _judge_pair(
    event: dict[str, Any], family: str, key: str, inner: str, open_things: set[tuple[str, str]]
) -> None:
    thing = (family, str(event.get(key)))
    if event["type"] == f"{family}_START":
        assert thing not in open_things
        open_things.add(thing)
    elif event["type"] in (f"{family}_{inner}", f"{family}_END"):
        assert thing in open_things, event
        if event["type"].endswith("_END"):
            open_things.remove(thing)


def _judge_step(event: dict[str, Any], open_things: set[tuple[str, str]]) -> None:
    thing = ("STEP", event["stepName"])
    assert (thing in open_things) == (event["type"] == "STEP_FINISHED"), event
    open_things.symmetric_difference_update({thing})


def streamed(ada: Reader, run: Run, **headers: str) -> list[tuple[str, dict[str, Any]]]:
    with ada.open(path_of(run, "?format=ag-ui"), **headers) as stream:
        messages = list(stream.events())
    assert not any(message.event for message in messages), "clients take every message for an event"
    return [(message.id, json.loads(message.data)) for message in messages]


def test_a_recorded_history_is_well_formed(ada: Reader, run: Run) -> None:
    conversation(run, random.Random(1))
    events = [event for _, event in streamed(ada, run)]
    judge(events)
    kinds = [event["type"] for event in events]
    assert kinds[0] == "RUN_STARTED" and kinds[-1] == "RUN_ERROR"
    assert (events[0]["threadId"], events[0]["runId"]) == (str(run.thread_id), str(run.pk))
    said: dict[str, str] = {}
    for event in events:
        if event["type"] == "TEXT_MESSAGE_CONTENT":
            said[event["messageId"]] = said.get(event["messageId"], "") + event["delta"]
    assert list(said.values()) == ["Wie groß ist es?", "Let me look.", "42 by"]
    result = next(event for event in events if event["type"] == "TOOL_CALL_RESULT")
    assert json.loads(result["content"]) == {"bytes": 42}
    arguments = next(event["delta"] for event in events if event["type"] == "TOOL_CALL_ARGS")
    assert json.loads(arguments) == {"path": "/tmp/ü", "depth": 2}


def test_a_resumed_stream_goes_on_where_it_was(ada: Reader, run: Run) -> None:
    """From every event on, what follows is what the uninterrupted stream had."""
    conversation(run, random.Random(2))
    whole = streamed(ada, run)
    for seq in [id for id, _ in whole if id and id != whole[-1][0]]:
        position = [id for id, _ in whole].index(seq)
        assert streamed(ada, run, **{"Last-Event-ID": seq}) == whole[position + 1 :]


def test_any_order_of_events_stays_well_formed(run: Run) -> None:
    """Crashes leave calls without results and messages without ends; clients must not choke."""
    history = [Entry.of(event) for event in conversation(run, random.Random(3))]
    chance = random.Random(4)
    for _ in range(200):
        middle = chance.choices(history[1:-1], k=chance.randrange(20))
        projection = AgUiProjection(run.pk, run.thread_id)
        events = [each for entry in [history[0], *middle] for each in projection.project(entry)]
        events += projection.finish(chance.choice(("done", "failed", "cancelled")))
        judge(events)
        assert projection.project(history[3]) == []


def test_an_erased_event_is_named_and_nothing_more(run: Run) -> None:
    history = [Entry.of(event) for event in conversation(run, random.Random(5))]
    erased = Entry({**history[2].envelope, "payload": None})
    projection = AgUiProjection(run.pk, run.thread_id)
    projection.project(history[0])
    [event] = projection.project(erased)
    assert (event["type"], event["name"]) == ("CUSTOM", "omni.erased")
