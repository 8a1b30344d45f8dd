"""Structured logs: structlog and the standard library in one pipeline, secrets removed last."""

from __future__ import annotations

import logging.config
import sys
from collections.abc import Mapping
from typing import Any

import structlog
from structlog.contextvars import (
    bind_contextvars,
    clear_contextvars,
    get_contextvars,
    unbind_contextvars,
)
from structlog.stdlib import ProcessorFormatter
from structlog.types import EventDict, Processor, WrappedLogger

from omni.config import Config
from omni.telemetry.redaction import redact, register_config

# Ids that follow the work from a request into the tasks it sends.
CARRIED = ("request_id", "user_id", "run_id")

# A line is read from the left.
FIRST = ("timestamp", "level", "event")

_origin = {"process": "", "node": ""}


def configure(config: Config, *, process: str) -> None:
    """Set up the logs of a process that does not run Django."""
    apply(logging_config(config))
    name_process(process)


def name_process(process: str) -> None:
    """Say which part of the platform writes the lines of this process (web, worker, beat …)."""
    _origin["process"] = process


def name_worker(worker: str) -> None:
    """Say which worker writes them; its pool inherits the name."""
    _origin["worker"] = worker


def apply(settings: dict[str, Any]) -> None:
    """Django's `LOGGING_CONFIG`: takes what `logging_config` returned."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_SHARED,
            ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    logging.config.dictConfig(settings)
    logging.captureWarnings(True)


def logging_config(config: Config) -> dict[str, Any]:
    """Django's `LOGGING`; the settings' own secrets are registered for redaction on the way."""
    register_config(config)
    _origin.update(process=config.process, node=config.node_id)
    quiet: dict[str, Any] = {"handlers": [], "propagate": True}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "omni": {
                "()": ProcessorFormatter,
                "foreign_pre_chain": _SHARED,
                "processors": [
                    ProcessorFormatter.remove_processors_meta,
                    redacted,
                    renderer(config.log_format, is_terminal=sys.stderr.isatty()),
                ],
            }
        },
        "filters": {"failures": {"()": OnlyFailures}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "omni"}},
        "root": {"handlers": ["stderr"], "level": config.log_level},
        "loggers": {
            "django": quiet,
            "django.request": {**quiet, "level": "ERROR", "filters": ["failures"]},
            "django.server": {**quiet, "level": "WARNING"},
            "django.db.backends": {**quiet, "level": "INFO"},
            "uvicorn": quiet,
            "uvicorn.error": quiet,
            "uvicorn.access": {"handlers": [], "propagate": False, "level": "CRITICAL"},
            "celery": quiet,
            "httpx": {**quiet, "level": "WARNING"},
        },
    }


class OnlyFailures(logging.Filter):
    """Our request line already says 404 or 503; only an exception adds something to it."""

    def filter(self, record: logging.LogRecord) -> bool:
        return bool(record.exc_info)


def renderer(log_format: str, *, is_terminal: bool) -> Processor:
    """Readable in a terminal, JSON elsewhere, unless the setting says otherwise."""
    if log_format == "console" or (log_format == "auto" and is_terminal):
        return structlog.dev.ConsoleRenderer(
            colors=is_terminal, exception_formatter=structlog.dev.plain_traceback
        )
    return structlog.processors.JSONRenderer()


def line(event: str, *, config: Config) -> bytes:
    """One line without any logger: inside a signal handler no lock may be taken."""
    facts: EventDict = {"event": event, "level": "info", **_origin}
    stamped = structlog.processors.TimeStamper(fmt="iso", utc=True)(None, "info", facts)
    render = renderer(config.log_format, is_terminal=sys.stderr.isatty())
    return f"{render(None, 'info', stamped)!s}\n".encode()


def bind(**ids: Any) -> None:
    """Put ids on every line that this request or task writes from now on."""
    bind_contextvars(**{name: str(value) for name, value in ids.items() if value is not None})


def unbind(*names: str) -> None:
    unbind_contextvars(*names)


def unbind_all() -> None:
    clear_contextvars()


def request_id() -> str:
    """The id of the request that is being answered, if one is."""
    return str(get_contextvars().get("request_id", ""))


def carried() -> dict[str, str]:
    """The bound ids that work sent to other processes should keep."""
    bound = get_contextvars()
    return {name: str(bound[name]) for name in CARRIED if name in bound}


def restore(ids: Mapping[str, Any]) -> None:
    """Bind what `carried` returned in the process that sent the work."""
    bind(**{name: ids[name] for name in CARRIED if name in ids})


def redacted(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """The last processor before the renderer: exceptions and stack traces are text by now."""
    clean = redact(event)
    if not isinstance(clean, dict):
        return {"event": clean}
    return {**{name: clean.pop(name) for name in FIRST if name in clean}, **clean}


def _add_origin(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    for name, value in _origin.items():
        event.setdefault(name, value)
    return event


_SHARED: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    _add_origin,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.PositionalArgumentsFormatter(),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
    structlog.processors.format_exc_info,
    structlog.processors.UnicodeDecoder(),
]
