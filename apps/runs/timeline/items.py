"""What the timeline shows of one event. Pure: it depends on the event and the names of people."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from apps.runs.eventlog import Event
from apps.runs.timeline.groups import group_of
from apps.runs.timeline.words import (
    STATUS_TONES,
    STATUS_WORDS,
    bytes_in_words,
    milliseconds,
    option_word,
    spending,
)

LONG_TEXT = 2400
LONG_JSON = 6000
SAID = 240


@dataclass(frozen=True, slots=True)
class Block:
    """Something recorded that is folded away until somebody wants to see it."""

    label: str
    text: str
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of the timeline; `shape` chooses its form."""

    event: Event
    group: str
    shape: str = "line"
    icon: str = "dot"
    title: str = ""
    note: str = ""
    tone: str = ""
    who: str = ""
    text: str = ""
    rest: str = ""
    blocks: tuple[Block, ...] = ()
    run_id: str = ""
    run_label: str = ""
    approval_id: str = ""
    sha256: str = ""
    # What a screen reader is told when it arrives; most events are too small for that.
    said: str = ""


Maker = Callable[[dict[str, Any], str], dict[str, Any]]


def item_of(event: Event, who: str, tool: str = "") -> Item:
    """`who` is how people know the event's actor, `tool` what an outcome is the outcome of."""
    key = event.name or event.kind
    group = group_of(key)
    if event.payload is None:
        gone = "Its content was erased; its place in the log remains"
        return Item(event, group, icon="trash", title=gone, who=who)
    # Outcomes of tools are told in the name of the tool, everything else in its actor's.
    made = _MAKERS.get(key, _anything)(event.payload, tool or who)
    told: dict[str, Any] = {"who": who, "title": _spelled(key)} | made
    return Item(event, group, **told)


def pretty(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)


def plain(text: str) -> str:
    """Line ends as HTML keeps them: a parser turns lone carriage returns into line feeds."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _block(label: str, value: Any) -> tuple[Block, ...]:
    if value in (None, {}, [], ""):
        return ()
    text = plain(value if isinstance(value, str) else pretty(value))
    return (Block(label, text[:LONG_JSON], len(text) > LONG_JSON),)


def _cut(text: str) -> int:
    """Where a long text is folded: between two words, if there are any."""
    if len(text) <= LONG_TEXT:
        return len(text)
    space = text.rfind(" ", LONG_TEXT // 2, LONG_TEXT)
    return space + 1 if space > 0 else LONG_TEXT


def _spelled(key: str) -> str:
    return key.replace("_", " ").capitalize()


def _anything(payload: dict[str, Any], who: str) -> dict[str, Any]:
    return {"blocks": _block("Details", payload)}


def _message(payload: dict[str, Any], who: str, shape: str) -> dict[str, Any]:
    text = plain(payload["text"])
    cut = _cut(text)
    return {
        "shape": shape,
        "text": text[:cut],
        "rest": text[cut:],
        "said": f"{who}: {text[:SAID]}",
    }


def _user_message(payload: dict[str, Any], who: str) -> dict[str, Any]:
    return _message(payload, who, "said")


def _assistant_message(payload: dict[str, Any], who: str) -> dict[str, Any]:
    who = payload.get("agent", "Omni")
    return {"who": who} | _message(payload, who, "answer")


def _run_created(payload: dict[str, Any], who: str) -> dict[str, Any]:
    made = {
        "icon": "play",
        "title": f"{who} started this {payload['run_kind']} run",
        "blocks": _block("Input", payload["input"]) + _block("Pinned versions", payload["pins"]),
    }
    if parent := payload.get("parent"):
        made |= {"run_id": parent["run_id"], "run_label": "Parent run"}
    return made


def _state_changed(payload: dict[str, Any], who: str) -> dict[str, Any]:
    to = payload["to"]
    return {
        "shape": "state",
        "title": STATUS_WORDS.get(to, to),
        "note": payload.get("reason", ""),
        "tone": STATUS_TONES.get(to, ""),
        "blocks": _block("Result", payload.get("result")) + _block("Error", payload.get("error")),
        "said": f"The run is {STATUS_WORDS.get(to, to).lower()}",
    }


def _cancel_requested(payload: dict[str, Any], who: str) -> dict[str, Any]:
    return {"icon": "stop", "title": f"{who} asked it to stop", "note": payload.get("reason", "")}


def _tool_call(payload: dict[str, Any], who: str) -> dict[str, Any]:
    return {
        "shape": "card",
        "icon": "wrench",
        "title": payload["tool"],
        "note": f"version {payload['version']}",
        "blocks": _block("Arguments", payload["arguments"]),
    }


def _tool_result(payload: dict[str, Any], tool: str) -> dict[str, Any]:
    return {
        "shape": "card",
        "icon": "check",
        "tone": "good",
        "title": f"{tool} answered{' (simulated)' if payload.get('simulated') else ''}",
        "note": milliseconds(payload["duration_ms"]),
        "blocks": _block("Output", payload["output"]),
    }


def _failure(payload: dict[str, Any], what: str) -> dict[str, Any]:
    category = payload["category"].replace("_", " ")
    return {
        "shape": "card",
        "icon": "alert",
        "tone": "bad",
        "title": f"{what}: {category}",
        "text": plain(payload["message"]),
        "blocks": _block("Details", payload.get("data")),
        "said": f"{what}: {category}",
    }


def _tool_error(payload: dict[str, Any], tool: str) -> dict[str, Any]:
    return _failure(payload, f"{tool} failed")


def _model_error(payload: dict[str, Any], who: str) -> dict[str, Any]:
    return _failure(payload, "Model failed")


def _model_call(payload: dict[str, Any], who: str) -> dict[str, Any]:
    return {
        "icon": "spark",
        "title": f"Asked {payload['model']}",
        "note": payload["provider"],
        "blocks": _block("Parameters", payload.get("params")),
    }


def _model_result(payload: dict[str, Any], who: str) -> dict[str, Any]:
    used = payload["usage"]
    note = f"{used['total_tokens']:,} tokens · {milliseconds(payload['latency_ms'])}"
    return {"icon": "spark", "title": "Model answered", "note": note}


def _artifact(payload: dict[str, Any], who: str) -> dict[str, Any]:
    return {
        "shape": "artifact",
        "icon": "file",
        "title": payload.get("name") or f"{payload['sha256'][:12]}…",
        "note": f"{payload['media_type']} · {bytes_in_words(payload['size'])}",
        "sha256": payload["sha256"],
    }


def approval_blocks(detail: dict[str, Any]) -> tuple[Block, ...]:
    """What a person needs to decide: for a tool call its reason, arguments and what they change."""
    if "call_hash" not in detail:
        return _block("Details", detail)
    about = {
        "Tool": f"{detail['tool']} {detail['version']}",
        "Why it asks": detail["reason"],
        "Risk": detail["risk"],
        "It may": ", ".join(detail["capabilities"]).replace("_", " "),
        "Reaches": ", ".join(detail.get("hosts", [])),
    }
    told = "\n".join(f"{name}: {value}" for name, value in about.items() if value)
    return (
        *_block("About", told),
        *_block("Change", detail.get("preview")),
        *_block("Arguments", detail["arguments"]),
    )


def _approval_requested(payload: dict[str, Any], who: str) -> dict[str, Any]:
    return {
        "shape": "approval",
        "icon": "hand",
        "tone": "warn",
        "title": payload["title"],
        "blocks": approval_blocks(payload.get("detail", {})),
        "approval_id": payload["approval_id"],
        "said": f"Approval needed: {payload['title']}",
    }


def _approval_answered(payload: dict[str, Any], who: str) -> dict[str, Any]:
    return {
        "icon": "hand",
        "title": f"{who} answered “{option_word(payload['answer'])}”",
        "note": payload.get("reason", ""),
        "approval_id": payload["approval_id"],
        "said": f"{who} answered {option_word(payload['answer'])}",
    }


def _approval_expired(payload: dict[str, Any], who: str) -> dict[str, Any]:
    return {
        "icon": "clock",
        "tone": "bad",
        "title": "Nobody answered in time",
        "approval_id": payload["approval_id"],
    }


def _step_started(payload: dict[str, Any], who: str) -> dict[str, Any]:
    return {
        "icon": "step",
        "title": f"Step {payload.get('name') or payload['step']} began",
        "blocks": _block("Input", payload.get("input")),
    }


def _step_finished(payload: dict[str, Any], who: str) -> dict[str, Any]:
    failed = payload.get("error")
    return {
        "icon": "step",
        "tone": "bad" if failed else "",
        "title": f"Step {payload['step']} {'failed' if failed else 'done'}",
        "blocks": _block("Output", payload.get("output")) + _block("Error", failed),
    }


def _child_started(payload: dict[str, Any], who: str) -> dict[str, Any]:
    return {
        "icon": "branch",
        "title": f"Started a {payload['run_kind']} run",
        "run_id": payload["child_run_id"],
        "run_label": "Open child run",
    }


def _child_finished(payload: dict[str, Any], who: str) -> dict[str, Any]:
    status = payload["status"]
    return {
        "icon": "branch",
        "title": f"The child run is {STATUS_WORDS.get(status, status).lower()}",
        "tone": STATUS_TONES.get(status, ""),
        "run_id": payload["child_run_id"],
        "run_label": "Open child run",
        "blocks": _block("Result", payload.get("result")) + _block("Error", payload.get("error")),
    }


def _timer_set(payload: dict[str, Any], who: str) -> dict[str, Any]:
    due = payload["due_at"].replace("T", " ")[:19]
    return {"icon": "clock", "title": f"Waits until {due} UTC", "note": payload.get("reason", "")}


def _timer_fired(payload: dict[str, Any], who: str) -> dict[str, Any]:
    return {"icon": "clock", "title": "The wait is over"}


def _lease_taken(payload: dict[str, Any], who: str) -> dict[str, Any]:
    return {"icon": "cpu", "title": f"Another worker took over, attempt {payload['attempt']}"}


def _run_resumed(payload: dict[str, Any], who: str) -> dict[str, Any]:
    return {"icon": "play", "title": f"{who} set it going again", "note": payload.get("reason", "")}


def _run_retried(payload: dict[str, Any], who: str) -> dict[str, Any]:
    return {
        "icon": "retry",
        "title": f"{who} retried an earlier run",
        "note": payload.get("reason", ""),
        "run_id": payload["of_run_id"],
        "run_label": "Open the earlier run",
    }


def _payload_erased(payload: dict[str, Any], who: str) -> dict[str, Any]:
    title = f"The content of event {payload['seq']} was erased"
    return {"icon": "trash", "title": title, "note": payload["reason"]}


def _pins_recorded(payload: dict[str, Any], who: str) -> dict[str, Any]:
    return {
        "icon": "lock",
        "title": "Exact versions recorded",
        "note": payload.get("reason", ""),
        "blocks": _block("Pinned versions", payload["pins"]),
    }


def _policy_decided(payload: dict[str, Any], who: str) -> dict[str, Any]:
    words = {"allow": "Allowed", "ask": "A person is asked", "deny": "Denied"}
    rule = payload["rule"]
    by = f"rule {rule} of {payload['policy']}" if rule else payload["policy"] or "built-in rule"
    return {
        "icon": "shield",
        "tone": {"deny": "bad", "ask": "warn"}.get(payload["effect"], ""),
        "title": f"{words[payload['effect']]}: {payload['tool']}",
        "note": f"{payload['reason']} ({by})",
        "blocks": _block("Rules considered", payload["considered"]),
    }


def _budget_reserved(payload: dict[str, Any], who: str) -> dict[str, Any]:
    return {
        "icon": "lock",
        "title": f"Set aside {spending(payload['amount'])}",
        "blocks": _block("Budgets", payload.get("budgets")),
    }


def _budget_settled(payload: dict[str, Any], who: str) -> dict[str, Any]:
    return {"icon": "lock", "title": f"Spent {spending(payload['amount'])}"}


def _budget_reached(payload: dict[str, Any], who: str) -> dict[str, Any]:
    used, limit = spending(payload["used"]), spending(payload["limit"])
    asks = payload["on_reached"] == "ask"
    return {
        "icon": "alert",
        "tone": "warn" if asks else "bad",
        "title": f"The budget of the {payload['per']} is reached: {used} of {limit}",
        "note": "A person may raise it." if asks else "",
        "approval_id": payload.get("approval_id", ""),
        "blocks": _block("Details", payload),
        "said": f"The budget of the {payload['per']} is reached",
    }


def _workspace_changed(payload: dict[str, Any], who: str) -> dict[str, Any]:
    words = {"created": "Made", "modified": "Changed", "deleted": "Removed", "restored": "Restored"}
    made = {"icon": "file", "title": f"{words[payload['change']]} {payload['path']}"}
    if diff := payload.get("diff"):
        made |= {"shape": "artifact", "note": "Difference", "sha256": diff["sha256"]}
    return made


_MAKERS: dict[str, Maker] = {
    "user_message": _user_message,
    "assistant_message": _assistant_message,
    "run_created": _run_created,
    "state_changed": _state_changed,
    "cancel_requested": _cancel_requested,
    "tool_call": _tool_call,
    "tool_result": _tool_result,
    "tool_error": _tool_error,
    "model_call": _model_call,
    "model_result": _model_result,
    "model_error": _model_error,
    "artifact_ref": _artifact,
    "approval_requested": _approval_requested,
    "approval_answered": _approval_answered,
    "approval_expired": _approval_expired,
    "step_started": _step_started,
    "step_finished": _step_finished,
    "child_started": _child_started,
    "child_finished": _child_finished,
    "timer_set": _timer_set,
    "timer_fired": _timer_fired,
    "lease_taken": _lease_taken,
    "run_resumed": _run_resumed,
    "run_retried": _run_retried,
    "payload_erased": _payload_erased,
    "pins_recorded": _pins_recorded,
    "policy_decided": _policy_decided,
    "budget_reserved": _budget_reserved,
    "budget_settled": _budget_settled,
    "budget_reached": _budget_reached,
    "workspace_changed": _workspace_changed,
}
