"""Runs and their copies: what a sink gets, and that no sink can touch a run."""

from __future__ import annotations

import dataclasses
import json
import os
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from apps.runs import eventlog
from apps.runs.drive.driver import advance
from apps.runs.drive.ports import Ports
from apps.runs.eventlog import feed
from apps.runs.models import Run
from omni import config
from omni.telemetry.redaction import register_secret
from omni.telemetry.sinks import Pipeline
from omni.telemetry.sinks.base import Line
from omni.telemetry.sinks.stdout import StdoutSink
from tests.permitted import Permitted
from tests.telemetry.collector import collecting, values

pytestmark = [pytest.mark.req("TEL-1"), pytest.mark.django_db(transaction=True)]
PATIENCE = 120.0
Use = Callable[..., Pipeline]
MakeRun = Callable[..., Run]


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Iterator[Use]:
    """Sinks for this test, by the settings or by themselves."""

    def use(*sinks: Any, **settings: Any) -> Pipeline:
        names = settings.pop("telemetry_sinks", ("jsonl",))
        changed = dataclasses.replace(config.current(), telemetry_sinks=names, **settings)
        monkeypatch.setattr(config, "current", lambda: changed)
        if sinks:
            limit = changed.telemetry_queue
            feed._pipeline = Pipeline(sinks, limit=limit, report=feed._report)
            feed._pid = os.getpid()
        return feed._pipeline_here()

    with feed._counter() as client:
        client.delete(feed.COUNTS_KEY)
    yield use
    feed.leave()


class Tools(Permitted):
    def call(self, tool: str, arguments: dict[str, Any], call_id: str, context: Any) -> Any:
        if tool == "fail":
            raise ValueError("broken")
        return {"said": "the word is buchenlaub-99", "api_key": "hunter2"}


def drive(run: Run) -> str:
    return advance(run.pk, worker_id=uuid.uuid4(), ports=Ports(tools=Tools()))


def lines(path: Path) -> list[Line]:
    return [json.loads(row) for row in path.read_text().splitlines()]


@pytest.mark.req("TEL-3")
def test_the_file_holds_what_the_log_holds(make_run: MakeRun, use: Use, tmp_path: Path) -> None:
    """Line by line the same events, and no secret in them."""
    register_secret("buchenlaub-99")
    path = tmp_path / "events.jsonl"
    pipeline = use(telemetry_file=str(path))
    run = make_run(actions=[{"do": "tool", "tool": "t"}, {"do": "step"}])
    assert drive(run) == "done"
    assert pipeline.drain(PATIENCE)
    assert lines(path) == [event.as_json() for event in eventlog.read_all(run.pk)]
    assert "buchenlaub" not in path.read_text() and "hunter2" not in path.read_text()


@pytest.mark.req("LLM-2")
def test_spans_of_a_run_follow_the_conventions(make_run: MakeRun, use: Use) -> None:
    with collecting() as collector:
        pipeline = use(telemetry_sinks=("otlp",), otlp_endpoint=collector.url)
        talk = make_run("echo", text="hello little world")
        assert drive(talk) == "done"
        assert pipeline.drain(PATIENCE)
        run, chat = collector.named("run echo"), collector.named("chat echo")
        feed.leave()
    assert run.trace_id == chat.trace_id == talk.pk.bytes
    assert chat.parent_span_id == run.span_id and run.parent_span_id == b""
    assert run.start_time_unix_nano <= chat.start_time_unix_nano <= chat.end_time_unix_nano
    assert chat.end_time_unix_nano <= run.end_time_unix_nano
    assert values(run).items() >= {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.conversation.id": str(talk.thread_id),
        "omni.project.id": str(talk.project_id),
        "omni.run.status": "done",
    }.items()  # fmt: skip
    told = values(chat)
    assert (told["gen_ai.operation.name"], told["gen_ai.provider.name"]) == ("chat", "scripted")
    assert told["gen_ai.usage.input_tokens"] == told["gen_ai.usage.output_tokens"] == 3
    assert told["gen_ai.response.finish_reasons"] == ["stop"]
    resource = values(collector.requests[0].resource_spans[0].resource)
    assert resource["service.name"] == "omni"
    assert "hello" not in str(collector.requests), "what was said is not exported"


def test_spans_of_tools_steps_failures_and_children(make_run: MakeRun, use: Use) -> None:
    with collecting() as collector:
        pipeline = use(telemetry_sinks=("otlp",), otlp_endpoint=collector.url)
        run = make_run(actions=[{"do": "tool", "tool": "count"}, {"do": "child", "input": {}}])
        assert drive(run) == "waiting for child"
        child = run.children.get()
        assert drive(child) == "done"
        assert drive(run) == "done"
        bad = make_run(actions=[{"do": "tool", "tool": "fail"}])
        assert drive(bad) == "failed"
        assert pipeline.drain(PATIENCE)
        feed.leave()
    spans = {(span.trace_id, span.name): span for span in collector.spans}
    tool = spans[run.pk.bytes, "execute_tool count"]
    assert values(tool)["gen_ai.tool.name"] == "count" and tool.status.code == 0
    assert spans[run.pk.bytes, "step s1"].parent_span_id == tool.parent_span_id
    [link] = spans[child.pk.bytes, "run script"].links
    assert link.trace_id == run.pk.bytes
    assert link.span_id == spans[run.pk.bytes, "run script"].span_id
    failed = spans[bad.pk.bytes, "execute_tool fail"]
    assert (failed.status.code, values(failed)["error.type"]) == (2, "tool_failed")
    ended = spans[bad.pk.bytes, "run script"]
    assert (ended.status.code, values(ended)["omni.run.status"]) == (2, "failed")


class Raises:
    name = "raises"

    def write(self, batch: list[Line]) -> None:
        raise SystemError("out of order")

    def close(self) -> None:
        raise SystemError("still")


class Hangs:
    name = "hangs"

    def __init__(self) -> None:
        self.let_go = threading.Event()

    def write(self, batch: list[Line]) -> None:
        self.let_go.wait(PATIENCE)

    def close(self) -> None:
        return


class Kept:
    name = "kept"

    def __init__(self) -> None:
        self.lines: list[Line] = []

    def write(self, batch: list[Line]) -> None:
        self.lines += batch

    def close(self) -> None:
        return


def shape(run: Run) -> list[Any]:
    """All that does not differ between two runs of the same input."""
    return [
        (event.seq, event.kind, event.name, {**(event.payload or {}), "call_id": "", "pins": ""})
        for event in eventlog.read_all(run.pk)
    ]


@pytest.mark.req("RUN-10")
def test_no_sink_harms_a_run(
    make_run: MakeRun, use: Use, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One raises, one hangs, one writes to a full disk: the run has the same events as ever."""
    assert drive(plain := make_run(steps=300)) == "done"
    hangs, kept = Hangs(), Kept()
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        pipeline = use(Raises(), hangs, StdoutSink(full), kept, telemetry_queue=100)
        run = make_run(steps=300)
        assert drive(run) == "done", "while one sink still hangs"
        assert shape(run) == shape(plain)
        assert eventlog.verify(run.pk).ok
        counts = pipeline.counts
        assert counts["hangs"].dropped > 0 and counts["hangs"].written == 0
        hangs.let_go.set()
        assert pipeline.drain(PATIENCE)
        assert counts["raises"].failed > 0 and counts["stdout"].failed > 0
        for each in counts.values():
            assert each.written + each.dropped + each.failed == run_length(run)
    finally:
        hangs.let_go.set()
        feed.leave()
        os.close(full)
    page = client.get("/metrics").content.decode()
    assert 'omni_telemetry_events_total{outcome="dropped",sink="hangs"}' in page
    assert 'omni_telemetry_events_total{outcome="failed",sink="stdout"}' in page


def run_length(run: Run) -> int:
    return len(list(eventlog.read_all(run.pk)))


def test_what_is_rolled_back_reaches_no_sink(make_run: MakeRun, use: Use) -> None:
    from django.db import transaction

    kept = Kept()
    pipeline = use(kept)
    run = make_run()
    with pytest.raises(RuntimeError), transaction.atomic():
        eventlog.append(run.pk, [eventlog.NewEvent("user_message", {"text": "never"})])
        raise RuntimeError("no")
    assert pipeline.drain(PATIENCE)
    assert "never" not in str(kept.lines) and len(kept.lines) == run_length(run)
