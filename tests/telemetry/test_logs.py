"""Logs: one pipeline for our own and foreign loggers, ids on every line, secrets on none."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import structlog

from omni.config import Config
from omni.telemetry import logs

pytestmark = pytest.mark.req("TEL-3", "OPS-2")

PROGRAM = """
import logging, sys, warnings, structlog
from pathlib import Path
from omni.config import Config
from omni.telemetry import logs
from omni.telemetry.redaction import register_secret

config = Config(home=Path(sys.argv[1]), log_format=sys.argv[2], node_id="node-7",
                database_url="postgresql://omni:pw-of-the-database@db/omni")
logging.getLogger("uvicorn").addHandler(logging.StreamHandler(sys.stdout))
logs.configure(config, process="web")
register_secret("hunter2-hunter2")
logs.bind(request_id="req-1", run_id="run-1", user_id=None)
structlog.get_logger("omni.x").info("ours", api_key="abc", note="hunter2-hunter2", n=3)
for name in ("django", "uvicorn.error", "celery.worker", "some.library"):
    logging.getLogger(name).warning("foreign %s %s", name, "hunter2-hunter2")
logging.getLogger("uvicorn.access").info("GET / 200")
logging.getLogger("django.request").warning("Not Found: /x")
logging.getLogger("django.request").error("Service Unavailable: /readyz")
logging.getLogger("omni.x").debug("too detailed")
try:
    connect = "postgresql://omni:pw-of-the-database@db/omni"
    raise ValueError("cannot open " + connect + " with hunter2-hunter2")
except ValueError:
    structlog.get_logger("omni.x").exception("failed", stack_info=True)
    logging.getLogger("django.request").exception("failed too")
warnings.warn("failed to notice hunter2-hunter2", UserWarning)
"""


def run(tmp_path: Path, log_format: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), log_format],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "", "foreign handlers are replaced"
    return done.stderr


def test_every_line_is_json_with_its_origin_and_ids(tmp_path: Path) -> None:
    """Foreign loggers and warnings too; access lines and duplicate 404s and 503s are dropped."""
    lines: list[dict[str, Any]] = [json.loads(line) for line in run(tmp_path, "json").splitlines()]
    first_words = [line["event"].split()[0] for line in lines]
    assert first_words == ["ours", *["foreign"] * 4, *["failed"] * 2, "<string>:27:"]
    for line in lines:
        assert line["request_id"] == "req-1"
        assert line["run_id"] == "run-1"
        assert line["process"] == "web"
        assert line["node"] == "node-7"
        assert list(line)[:3] == ["timestamp", "level", "event"]
        assert line["logger"]
        assert "user_id" not in line
    assert lines[0]["n"] == 3


@pytest.mark.parametrize("log_format", ["json", "console", "auto"])
def test_no_secret_reaches_a_line_not_even_in_tracebacks(tmp_path: Path, log_format: str) -> None:
    """Registered values, passwords of settings and telling fields, in every format."""
    text = run(tmp_path, log_format)
    assert "hunter2" not in text
    assert "pw-of-the-database" not in text
    assert "abc" not in text
    assert text.count("[redacted]") >= 10
    assert "Traceback" in text and "ValueError" in text


def test_auto_means_readable_in_a_terminal_and_json_elsewhere() -> None:
    assert isinstance(logs.renderer("auto", is_terminal=True), structlog.dev.ConsoleRenderer)
    assert isinstance(logs.renderer("auto", is_terminal=False), structlog.processors.JSONRenderer)
    assert isinstance(logs.renderer("console", is_terminal=False), structlog.dev.ConsoleRenderer)
    assert isinstance(logs.renderer("json", is_terminal=True), structlog.processors.JSONRenderer)


def test_a_value_that_cannot_be_looked_at_is_not_logged() -> None:
    class Hostile(dict[str, Any]):
        def items(self) -> Any:
            raise RuntimeError("no")

    clean = logs.redacted(None, "info", Hostile(event="x", password="p"))
    assert clean == {"event": "[unreadable]"}


def test_the_configuration_is_what_django_expects(tmp_path: Path) -> None:
    settings = logs.logging_config(Config(home=tmp_path, log_level="WARNING"))
    assert settings["root"] == {"handlers": ["stderr"], "level": "WARNING"}
    assert settings["disable_existing_loggers"] is False
