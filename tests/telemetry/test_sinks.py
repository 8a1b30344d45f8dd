"""Sinks by themselves: whole lines, bounded files, bounded queues, contained failures."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from omni.config import Config
from omni.contracts.validation import validate_event
from omni.services.doctor import Finding, _telemetry
from omni.telemetry.sinks import Counts, Pipeline, Sink
from omni.telemetry.sinks.base import Line
from omni.telemetry.sinks.build import build
from omni.telemetry.sinks.jsonl import KEPT, JsonlSink
from omni.telemetry.sinks.otlp import OtlpSink
from omni.telemetry.sinks.stdout import StdoutSink
from tests.telemetry.collector import Collector, collecting

pytestmark = pytest.mark.req("TEL-1")
ROOT = Path(__file__).resolve().parents[2]
RUN = str(uuid.UUID(int=7))
PATIENCE = 120.0


class Said:
    """An event that is in the log."""

    def __init__(self, seq: int, text: str = "Hello") -> None:
        self.seq, self.text = seq, text

    def as_json(self) -> Line:
        return {
            "run_id": RUN,
            "seq": self.seq,
            "kind": "user_message",
            "name": None,
            "payload": {"text": self.text},
            "payload_hash": "0" * 64,
            "prev_hash": "0" * 64,
            "hash": "0" * 64,
            "actor": "system",
            "at": "2026-01-05T09:30:00.000000Z",
            "schema_version": 1,
            "idempotency_key": None,
        }


class Kept:
    """A sink that remembers; `gate` makes it hang, `error` makes it fail."""

    name = "kept"

    def __init__(self, *, open: bool = True, error: Exception | None = None) -> None:
        self.lines: list[Line] = []
        self.gate = threading.Event()
        self.error = error
        self.reached = threading.Event()
        self.closed = False
        if open:
            self.gate.set()

    def write(self, batch: list[Line]) -> None:
        self.reached.set()
        self.gate.wait(PATIENCE)
        if self.error:
            raise self.error
        self.lines += batch

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def pipeline() -> Iterator[Any]:
    made: list[Pipeline] = []

    def make(*sinks: Sink, limit: int = 1000, **kw: Any) -> Pipeline:
        made.append(Pipeline(sinks, limit=limit, **kw))
        return made[-1]

    yield make
    for each in made:
        each.close(5)


def test_events_reach_every_sink_in_order(pipeline: Any) -> None:
    first, second = Kept(), Kept()
    second.name = "second"
    line = pipeline(first, second)
    for seq in range(1, 301):
        line.put([Said(seq)])
    assert line.drain(PATIENCE)
    assert [each["seq"] for each in first.lines] == list(range(1, 301))
    assert first.lines == second.lines
    assert line.counts == {"kept": Counts(written=300), "second": Counts(written=300)}
    line.close(PATIENCE)
    assert first.closed and second.closed


def test_a_sink_that_hangs_loses_events_by_count_and_holds_up_nobody(pipeline: Any) -> None:
    hanging, other = Kept(open=False), Kept()
    other.name = "other"
    line = pipeline(hanging, other, limit=50)
    line.put([Said(1)])
    assert hanging.reached.wait(PATIENCE)
    for seq in range(2, 102):
        line.put([Said(seq)])
        assert line._lanes[1].drain(line_deadline())
    assert line.counts["kept"].dropped == 50
    assert line.counts["other"] == Counts(written=101)
    hanging.gate.set()
    assert line.drain(PATIENCE)
    assert [each["seq"] for each in hanging.lines] == list(range(1, 52))


def line_deadline() -> float:
    import time

    return time.monotonic() + PATIENCE


def test_a_sink_that_fails_goes_on_with_what_follows(pipeline: Any) -> None:
    told: dict[str, int] = {}

    def report(name: str, news: Counts) -> None:
        told["failed"] = told.get("failed", 0) + news.failed
        told["written"] = told.get("written", 0) + news.written

    sink = Kept(error=RuntimeError("broken"))
    line = pipeline(sink, report=report)
    line.put([Said(1), Said(2)])
    assert line.drain(PATIENCE)
    sink.error = None
    line.put([Said(3)])
    assert line.drain(PATIENCE)
    assert [each["seq"] for each in sink.lines] == [3]
    line.close(PATIENCE)
    assert told == {"failed": 2, "written": 1}


def test_lines_are_events_and_the_file_is_private(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "events.jsonl"
    sink = JsonlSink(path, max_bytes=1 << 20)
    sink.write([Said(1, "Zwölf\nZeilen").as_json(), Said(2).as_json()])
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["payload"]["text"] for line in lines] == ["Zwölf\nZeilen", "Hello"]
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError):
        sink.write([Said(3).as_json()])
    assert not (tmp_path / "elsewhere").exists()


def test_a_full_file_is_set_aside_and_only_the_last_ones_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    sink = JsonlSink(path, max_bytes=1000)
    for seq in range(1, 41):
        sink.write([Said(seq).as_json()])
    names = {each.name for each in tmp_path.iterdir()}
    older = {f"events.jsonl.{number}" for number in range(1, KEPT + 1)}
    assert names == {"events.jsonl", "events.jsonl.lock", *older}
    ordered = [*(tmp_path / f"events.jsonl.{n}" for n in range(KEPT, 0, -1)), path]
    seqs = [json.loads(row)["seq"] for file in ordered for row in file.read_text().splitlines()]
    assert seqs == list(range(seqs[0], 41))
    assert all(file.stat().st_size <= 1000 for file in ordered)


WRITER = """
import json, sys
from pathlib import Path
from omni.telemetry.sinks.jsonl import JsonlSink
sink = JsonlSink(Path(sys.argv[1]), max_bytes=int(sys.argv[3]))
for number in range(200):
    sink.write([{"who": sys.argv[2], "number": number, "fill": "x" * (number % 90)}])
"""


def test_several_processes_share_a_file_without_tearing_lines(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    run = [sys.executable, "-c", WRITER, str(path)]
    writers = [subprocess.Popen([*run, str(n), "20000"], cwd=ROOT) for n in range(3)]
    assert [each.wait(PATIENCE) for each in writers] == [0, 0, 0]
    files = [file for file in tmp_path.iterdir() if not file.name.endswith(".lock")]
    rows = [json.loads(row) for file in files for row in file.read_text().splitlines()]
    assert len(files) > 1
    assert len(rows) == len({(row["who"], row["number"]) for row in rows}) == 600


def test_a_process_that_sleeps_with_the_file_costs_events_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("omni.telemetry.sinks.jsonl.LOCK_SECONDS", 0)
    path = tmp_path / "events.jsonl"
    sink = JsonlSink(path, max_bytes=1000)
    with (tmp_path / "events.jsonl.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(TimeoutError):
            sink.write([Said(1).as_json()])
    sink.write([Said(2).as_json()])
    assert [json.loads(row)["seq"] for row in path.read_text().splitlines()] == [2]


FULL = """
import resource, signal, sys
from pathlib import Path
from omni.telemetry.sinks.jsonl import JsonlSink
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
sink = JsonlSink(Path(sys.argv[1]), max_bytes=1 << 20)
sink.write([{"number": 1}])
try:
    sink.write([{"number": 2, "fill": "x" * 2000}, {"number": 3, "fill": "x" * 2000}])
except OSError as error:
    print(error.errno)
sink.write([{"number": 4}])
"""


def test_a_disk_that_fills_up_leaves_no_half_line(tmp_path: Path) -> None:
    """The kernel takes the first bytes of a batch and refuses the rest."""
    path = tmp_path / "events.jsonl"
    run = [sys.executable, "-c", FULL, str(path)]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "27"
    assert [json.loads(row)["number"] for row in path.read_text().splitlines()] == [1, 4]


def test_standard_output_gets_the_same_lines() -> None:
    reader, writer = os.pipe()
    with open(reader) as out:
        StdoutSink(writer).write([Said(1).as_json(), Said(2).as_json()])
        os.close(writer)
        assert [json.loads(row)["seq"] for row in out] == [1, 2]


def test_payloads_can_be_left_out(tmp_path: Path) -> None:
    settings = {"telemetry_sinks": ("jsonl",), "telemetry_payloads": False}
    config = Config(home=tmp_path, **settings)
    [sink] = build(config, find_run=lambda run_id: None)
    sink.write([Said(1, "private").as_json()])
    sink.close()
    line = json.loads((tmp_path / "logs/events.jsonl").read_text())
    assert line["payload"] is None and line["payload_hash"] == "0" * 64
    validate_event(line)


def test_commands_print_their_answers_only() -> None:
    names = ("stdout", "jsonl", "stdout")
    command, web = (Config(telemetry_sinks=names, process=each) for each in ("command", "web"))
    assert [each.name for each in build(command, find_run=lambda run_id: None)] == ["jsonl"]
    assert [each.name for each in build(web, find_run=lambda run_id: None)] == ["stdout", "jsonl"]


def ended(seq: int = 9) -> Line:
    change = {"from": "running", "to": "done"}
    return {**Said(seq).as_json(), "kind": "system_event", "name": "state_changed",
            "payload": change}  # fmt: skip


def exporter(url: str, **headers: str) -> OtlpSink:
    resource = {"service.name": "omni"}
    return OtlpSink(url, headers=headers, resource=resource, find_run=lambda run_id: None)


def test_a_collector_that_is_busy_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("omni.telemetry.sinks.otlp.PAUSE_SECONDS", 0)
    with collecting() as collector:
        sink = exporter(collector.url, authorization="Bearer abc")
        collector.statuses = [503, 429, 200]
        sink.write([Said(1).as_json(), ended()])
        assert [span.name for span in collector.spans] == ["run"]
        assert collector.headers[0]["authorization"] == "Bearer abc"
        collector.statuses = [400]
        with pytest.raises(httpx.HTTPStatusError):
            sink.write([ended()])
        sink.close()
    away = exporter(collector.url)
    with pytest.raises(httpx.TransportError):
        away.write([ended()])
    away.close()


def findings(**settings: Any) -> list[Finding]:
    return list(_telemetry(Config(**settings)))


@pytest.mark.req("OPS-2")
def test_the_doctor_looks_at_each_sink(tmp_path: Path) -> None:
    """Only warnings, for no run depends on them."""
    collector: Collector
    with collecting() as collector:
        given = {"telemetry_sinks": ("jsonl", "otlp"), "otlp_endpoint": collector.url}
        assert [each.status for each in findings(home=tmp_path, **given)] == ["ok", "ok"]
        collector.statuses = [403]
        [_, refused] = findings(home=tmp_path, **given)
        assert (refused.status, refused.detail) == ("warn", "the collector answers 403")
    [_, away] = findings(home=tmp_path, **given)
    assert (away.status, away.detail) == ("warn", "no collector answers")
    assert "OMNI_OTLP_ENDPOINT" in away.remedy
