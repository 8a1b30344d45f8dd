"""A run told as AG-UI events, for clients that speak that protocol."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import datetime
from typing import Any

from apps.runs.live.entries import Entry, wire
from omni.engine.lifecycle import TERMINAL, Status

AgUiEvent = dict[str, Any]
PREFIX = "omni."


class AgUiProjection:
    """Folds a history into AG-UI events; the same history gives the same ones.

    The protocol wants one RUN_STARTED first, one RUN_FINISHED or RUN_ERROR last, and everything
    that was opened closed in between. Our log allows more, so what is open is remembered here.
    """

    def __init__(self, run_id: uuid.UUID, thread_id: uuid.UUID) -> None:
        self._ids = {"threadId": str(thread_id), "runId": str(run_id)}
        self._at = 0
        self._over = False
        self._message = ""
        self._said = ""
        self._steps: dict[str, str] = {}
        self._out: list[AgUiEvent] = []

    def project(self, entry: Entry) -> list[AgUiEvent]:
        """What this event means to an AG-UI client; mostly one thing, sometimes several."""
        if self._over:
            return []
        self._at = int(datetime.fromisoformat(entry.envelope["at"]).timestamp() * 1000)
        handler = _HANDLERS.get(entry.name or entry.kind)
        if entry.kind == "run_created":
            self._run_created(entry)
        elif entry.envelope["payload"] is None:
            self._custom("erased", {"seq": entry.seq, "kind": entry.kind})
        elif handler is not None:
            handler(self, entry)
        else:
            self._custom(entry.name or entry.kind, entry.payload)
        return self._flush()

    def finish(self, status: str, *, reason: str = "") -> list[AgUiEvent]:
        """The end, unless the log has told it already."""
        self._end(status, {"reason": reason})
        return self._flush()

    def _flush(self) -> list[AgUiEvent]:
        out, self._out = self._out, []
        return out

    def _emit(self, type: str, **members: Any) -> None:
        self._out.append({"type": type, "timestamp": self._at, **members})

    def _custom(self, name: str, value: Any) -> None:
        self._emit("CUSTOM", name=PREFIX + name, value=value)

    def _run_created(self, entry: Entry) -> None:
        parent = entry.payload.get("parent", {}).get("run_id")
        self._emit("RUN_STARTED", **self._ids, **({"parentRunId": parent} if parent else {}))
        state = {
            "run_kind": entry.payload.get("run_kind"),
            "status": Status.QUEUED.value,
            "cancel_requested": False,
        }
        self._emit("STATE_SNAPSHOT", snapshot=state)

    def _user_message(self, entry: Entry) -> None:
        self._whole_message(self._id_of(entry), "user", entry.payload["text"])

    def _delta(self, entry: Entry) -> None:
        message_id, text = entry.payload["message_id"], entry.payload["text"]
        if message_id != self._message:
            self._close_message()
            self._message = message_id
            self._emit("TEXT_MESSAGE_START", messageId=message_id, role="assistant")
        self._content(text)

    def _assistant_message(self, entry: Entry) -> None:
        message_id, text = entry.payload["message_id"], entry.payload["text"]
        if message_id == self._message and text.startswith(self._said):
            self._content(text[len(self._said) :])
            self._close_message()
            return
        # What was streamed is not how the message begins: the client gets the right one beside it.
        fresh = message_id if message_id != self._message else self._id_of(entry)
        self._close_message()
        self._whole_message(fresh, "assistant", text)

    def _whole_message(self, message_id: str, role: str, text: str) -> None:
        self._close_message()
        self._message = message_id
        self._emit("TEXT_MESSAGE_START", messageId=message_id, role=role)
        self._content(text)
        self._close_message()

    def _content(self, text: str) -> None:
        self._said += text
        if text:
            self._emit("TEXT_MESSAGE_CONTENT", messageId=self._message, delta=text)

    def _close_message(self) -> None:
        if self._message:
            self._emit("TEXT_MESSAGE_END", messageId=self._message)
        self._message = self._said = ""

    def _tool_call(self, entry: Entry) -> None:
        self._close_message()
        call_id, tool = entry.payload["call_id"], entry.payload["tool"]
        self._emit("TOOL_CALL_START", toolCallId=call_id, toolCallName=tool)
        self._emit("TOOL_CALL_ARGS", toolCallId=call_id, delta=wire(entry.payload["arguments"]))
        self._emit("TOOL_CALL_END", toolCallId=call_id)

    def _tool_result(self, entry: Entry) -> None:
        output = entry.payload["output"]
        self._result(entry, output if isinstance(output, str) else wire(output))

    def _tool_error(self, entry: Entry) -> None:
        about = {key: entry.payload[key] for key in ("category", "message")}
        self._result(entry, wire({"error": about}))

    def _result(self, entry: Entry, content: str) -> None:
        self._emit(
            "TOOL_CALL_RESULT",
            messageId=self._id_of(entry),
            toolCallId=entry.payload["call_id"],
            content=content,
            role="tool",
        )

    def _step_started(self, entry: Entry) -> None:
        step = entry.payload["step"]
        if step not in self._steps:
            self._steps[step] = step
            self._emit("STEP_STARTED", stepName=step)

    def _step_finished(self, entry: Entry) -> None:
        self._step_started(entry)
        self._emit("STEP_FINISHED", stepName=self._steps.pop(entry.payload["step"]))

    def _state_changed(self, entry: Entry) -> None:
        self._patch("/status", entry.new_status)
        if entry.is_end:
            self._end(entry.new_status, entry.payload)

    def _cancel_requested(self, entry: Entry) -> None:
        self._patch("/cancel_requested", True)

    def _patch(self, path: str, value: Any) -> None:
        self._emit("STATE_DELTA", delta=[{"op": "replace", "path": path, "value": value}])

    def _end(self, status: str, about: dict[str, Any]) -> None:
        if self._over or status not in TERMINAL:
            return
        self._close_message()
        while self._steps:
            self._emit("STEP_FINISHED", stepName=self._steps.popitem()[1])
        self._over = True
        if status == Status.DONE:
            result = {"result": about["result"]} if "result" in about else {}
            self._emit("RUN_FINISHED", **self._ids, **result)
        else:
            reason = about.get("reason") or f"The run was {status}."
            self._emit("RUN_ERROR", message=reason, code=status)

    def _id_of(self, entry: Entry) -> str:
        return f"{entry.run_id}-{entry.seq}"


_HANDLERS: dict[str, Callable[[AgUiProjection, Entry], None]] = {
    "user_message": AgUiProjection._user_message,
    "assistant_message_delta": AgUiProjection._delta,
    "assistant_message": AgUiProjection._assistant_message,
    "tool_call": AgUiProjection._tool_call,
    "tool_result": AgUiProjection._tool_result,
    "tool_error": AgUiProjection._tool_error,
    "step_started": AgUiProjection._step_started,
    "step_finished": AgUiProjection._step_finished,
    "state_changed": AgUiProjection._state_changed,
    "cancel_requested": AgUiProjection._cancel_requested,
}
