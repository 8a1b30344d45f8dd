"""Events as spans, named by OpenTelemetry's conventions for generative AI.

The conventions still change, so nothing is stored by them: the mapping happens here, at export.
A run is a trace; its id is the run's, so that spans of several processes come together.
"""

from __future__ import annotations

import hashlib
import uuid
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from omni.telemetry.sinks.base import FindRun, Line, RunFacts

MOST_OPEN = 10_000
TERMINAL = ("done", "failed", "cancelled")
AGENTS = ("agent", "chat", "echo")
Value = str | int | float | bool | list[str]


@dataclass(frozen=True, slots=True)
class Span:
    """One thing that took time; `error` is its category, and empty when it went well."""

    trace_id: bytes
    span_id: bytes
    parent_id: bytes
    name: str
    start: datetime
    end: datetime
    attributes: dict[str, Value]
    error: str = ""
    is_client: bool = False
    links: tuple[tuple[bytes, bytes], ...] = ()


@dataclass(slots=True)
class Assembler:
    """Pairs what began with what ended. What it has not seen begin, it dates from the duration."""

    find_run: FindRun = lambda run_id: None
    _open: OrderedDict[tuple[str, str], tuple[datetime, dict[str, Any]]] = field(
        default_factory=OrderedDict
    )

    def spans(self, line: Line) -> list[Span]:
        """The spans that end with this event; most events end none."""
        what = line["name"] or line["kind"]
        payload = line["payload"] or {}
        if what in ("model_call", "tool_call", "step_started", "run_created"):
            self._begin(line, payload)
        elif what in ("model_result", "model_error"):
            return [self._model(line, payload)]
        elif what in ("tool_result", "tool_error"):
            return [self._tool(line, payload)]
        elif what == "step_finished":
            return [self._step(line, payload)]
        elif what == "state_changed" and payload.get("to") in TERMINAL:
            return [self._run(line, payload)]
        return []

    def _begin(self, line: Line, payload: dict[str, Any]) -> None:
        self._open[line["run_id"], _subject(payload)] = (_at(line), payload)
        while len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)

    def _begun(self, line: Line, payload: dict[str, Any]) -> tuple[datetime, dict[str, Any]]:
        found = self._open.pop((line["run_id"], _subject(payload)), None)
        if found is not None:
            return found
        spent = payload.get("duration_ms", payload.get("latency_ms", 0))
        return datetime.fromtimestamp(_at(line).timestamp() - spent / 1000, _at(line).tzinfo), {}

    def _model(self, line: Line, payload: dict[str, Any]) -> Span:
        start, call = self._begun(line, payload)
        usage = payload.get("usage", {})
        cost = usage.get("cost", {})
        attributes = _known(
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": call.get("provider"),
                "gen_ai.request.model": call.get("model"),
                "gen_ai.agent.name": call.get("agent"),
                "gen_ai.usage.input_tokens": usage.get("prompt_tokens"),
                "gen_ai.usage.output_tokens": usage.get("completion_tokens"),
                "omni.cost.amount": cost.get("amount"),
                "omni.cost.currency": cost.get("currency"),
                "omni.call.id": payload.get("call_id"),
            }
        )
        if "finish_reason" in payload:
            attributes["gen_ai.response.finish_reasons"] = [str(payload["finish_reason"])]
        name = f"chat {call['model']}" if "model" in call else "chat"
        return _span(line, payload, name, start, attributes, is_client=True)

    def _tool(self, line: Line, payload: dict[str, Any]) -> Span:
        start, call = self._begun(line, payload)
        attributes = _known(
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": call.get("tool"),
                "gen_ai.tool.call.id": payload.get("call_id"),
                "omni.tool.version": call.get("version"),
            }
        )
        name = f"execute_tool {call['tool']}" if "tool" in call else "execute_tool"
        return _span(line, payload, name, start, attributes)

    def _step(self, line: Line, payload: dict[str, Any]) -> Span:
        start, _ = self._begun(line, payload)
        step = str(payload.get("step", ""))
        return _span(line, payload, f"step {step}", start, {"omni.step": step})

    def _run(self, line: Line, payload: dict[str, Any]) -> Span:
        started, created = self._open.pop((line["run_id"], ""), (_at(line), {}))
        facts = self.find_run(line["run_id"])
        if facts is None:
            facts = RunFacts(str(created.get("run_kind", "")), started)
        operation = "invoke_agent" if facts.run_kind in AGENTS else "invoke_workflow"
        attributes = _known(
            {
                "gen_ai.operation.name": operation,
                "gen_ai.conversation.id": facts.thread_id and str(facts.thread_id),
                "omni.project.id": facts.project_id and str(facts.project_id),
                "omni.run.kind": facts.run_kind,
                "omni.run.status": payload["to"],
            }
        )
        trace, root = _trace(line["run_id"]), _span_id(line["run_id"], "")
        parent = facts.parent_id and str(facts.parent_id)
        return Span(
            trace_id=trace,
            span_id=root,
            parent_id=b"",
            name=f"run {facts.run_kind}".strip(),
            start=facts.started,
            end=_at(line),
            attributes={"omni.run.id": line["run_id"], **attributes},
            error="" if payload["to"] == "done" else payload["to"],
            links=((_trace(parent), _span_id(parent, "")),) if parent else (),
        )


def _span(
    line: Line,
    payload: dict[str, Any],
    name: str,
    start: datetime,
    attributes: dict[str, Value],
    *,
    is_client: bool = False,
) -> Span:
    run_id = line["run_id"]
    return Span(
        trace_id=_trace(run_id),
        span_id=_span_id(run_id, f"{line['seq']}"),
        parent_id=_span_id(run_id, ""),
        name=name,
        start=min(start, _at(line)),
        end=_at(line),
        attributes={"omni.run.id": run_id, "omni.event.seq": line["seq"], **attributes},
        error=str(payload.get("category", "")),
        is_client=is_client,
    )


def _subject(payload: dict[str, Any]) -> str:
    """What begins and ends: a call, a step, or with neither the run itself."""
    return str(payload.get("call_id") or payload.get("step") or "")


def _known(attributes: dict[str, Any]) -> dict[str, Value]:
    return {name: value for name, value in attributes.items() if value not in (None, "")}


def _at(line: Line) -> datetime:
    return datetime.fromisoformat(line["at"])


def _trace(run_id: str) -> bytes:
    return uuid.UUID(run_id).bytes


def _span_id(run_id: str, subject: str) -> bytes:
    return hashlib.sha256(f"{run_id}:{subject}".encode()).digest()[:8]
