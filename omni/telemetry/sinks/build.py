"""The sinks that the settings name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from omni import __version__
from omni.config import Config
from omni.telemetry.sinks.base import FindRun, Line, Sink
from omni.telemetry.sinks.jsonl import JsonlSink
from omni.telemetry.sinks.stdout import StdoutSink


def build(config: Config, *, find_run: FindRun) -> list[Sink]:
    return [
        sink if name == "otlp" or config.telemetry_payloads else WithoutPayloads(sink)
        for name, sink in _named(config, find_run)
    ]


def file_of(config: Config) -> Path:
    given = config.telemetry_file
    return Path(given).expanduser().absolute() if given else config.log_dir / "events.jsonl"


def headers_of(config: Config) -> dict[str, str]:
    pairs = (each.partition("=") for each in config.otlp_headers)
    return {name: value for name, _, value in pairs}


def _named(config: Config, find_run: FindRun) -> Iterator[tuple[str, Sink]]:
    for name in dict.fromkeys(config.telemetry_sinks):
        if name == "jsonl":
            yield name, JsonlSink(file_of(config), max_bytes=config.telemetry_file_bytes)
        elif name == "otlp":
            yield name, _otlp(config, find_run)
        # What a command prints is its answer, and nothing may come between.
        elif config.process != "command":
            yield name, StdoutSink()


def _otlp(config: Config, find_run: FindRun) -> Sink:
    from omni.telemetry.sinks.otlp import OtlpSink

    return OtlpSink(
        config.otlp_endpoint,
        headers=headers_of(config),
        resource={
            "service.name": "omni",
            "service.version": __version__,
            "service.instance.id": f"{config.node_id}/{config.process}",
        },
        find_run=find_run,
    )


def sink_trouble(config: Config, name: str) -> tuple[str, str]:
    """Why a sink could not work from here and what to do; both empty when it could."""
    if name == "jsonl":
        place = file_of(config).parent
        while not place.exists():
            place = place.parent
        if not os.access(place, os.W_OK | os.X_OK):
            return f"{place} cannot be written by this user", "Correct OMNI_TELEMETRY_FILE."
    if name == "otlp":
        import httpx

        from omni.telemetry.sinks.otlp import ask

        try:
            ask(config.otlp_endpoint, headers_of(config))
        except httpx.HTTPStatusError as error:
            reason = f"the collector answers {error.response.status_code}"
            return reason, "Check OMNI_OTLP_ENDPOINT and OMNI_OTLP_HEADERS."
        except httpx.HTTPError:
            return "no collector answers", "Start it, or correct OMNI_OTLP_ENDPOINT."
    return "", ""


class WithoutPayloads:
    """What happened and when, not what was said: as if every payload were erased."""

    def __init__(self, sink: Sink) -> None:
        self.name = sink.name
        self._sink = sink

    def write(self, batch: list[Line]) -> None:
        self._sink.write([{**line, "payload": None} for line in batch])

    def close(self) -> None:
        self._sink.close()
