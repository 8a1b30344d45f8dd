"""Log lines as people read them in a terminal."""

from __future__ import annotations

import json

import pytest

from omni.telemetry.readable import readable

pytestmark = pytest.mark.req("TEL-3")


def test_a_line_is_words_and_facts_without_what_the_reader_knows() -> None:
    """The time, what happened, ids and figures; process and node stand before the line already."""
    line = {
        "timestamp": "2026-11-18T15:49:21.912432Z",
        "level": "info",
        "event": "request",
        "path": "/readyz",
        "status": 503,
        "request_id": "a007",
        "ip": None,
        "process": "web",
        "node": "vm",
        "logger": "omni.request",
    }
    (words,) = readable(json.dumps(line))
    assert words.endswith(" request path=/readyz status=503 request_id=a007")
    assert ":21 " in words


def test_a_warning_says_so_and_a_traceback_keeps_its_lines() -> None:
    line = {"event": "request_failed", "level": "error", "exception": "Traceback\n  in x\nBoom"}
    assert readable(json.dumps(line)) == [
        "ERROR request_failed",
        "    Traceback",
        "      in x",
        "    Boom",
    ]


@pytest.mark.parametrize("line", ["", "web started", "{broken", "[1]", "{}", '{"a": 1}'])
def test_what_is_no_log_line_of_ours_stays_as_it_is(line: str) -> None:
    assert readable(line) == [line]
