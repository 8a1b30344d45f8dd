"""Random histories that the log would accept: legal changes, payloads that follow schemas."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from omni.engine.lifecycle import LEGAL, TERMINAL, Status

RUN = uuid.UUID("5f0c1c5e-6b0f-4a52-9d8e-6c7a3d1f2b00")
IDS = st.integers(0, 5).map(lambda number: str(uuid.uuid5(RUN, str(number))))
TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)  # fmt: skip
USAGE = st.fixed_dictionaries(
    {name: st.integers(0, 9999) for name in ("prompt_tokens", "completion_tokens", "total_tokens")},
    optional={
        "cost": st.fixed_dictionaries(
            {
                "amount": st.decimals(0, 5, places=6).map(lambda amount: format(amount, "f")),
                "currency": st.sampled_from(["USD", "EUR"]),
            }
        )
    },
)
INSTANT = "2026-01-05T09:30:00.000000Z"
ACTIONS = st.lists(
    st.one_of(
        VALUES,
        st.fixed_dictionaries(
            {"do": st.sampled_from(["step", "tool", "model", "ask", "timer", "child", "dance"])},
            optional={
                "tool": TEXT, "title": TEXT, "seconds": VALUES, "input": VALUES,
                "arguments": VALUES, "on_error": st.just("continue"), "idempotent": st.booleans(),
            },
        ),
    ),
    max_size=4,
)  # fmt: skip
INPUT = st.fixed_dictionaries({}, optional={"actions": ACTIONS, "steps": VALUES, "model": VALUES})


@dataclass(frozen=True)
class Happened:
    """An event as folding sees it."""

    seq: int
    kind: str
    name: str
    payload: dict[str, Any] | None


Draw = Callable[[Any], Any]


def _system(name: str, **fields: Any) -> Any:
    return st.tuples(st.just("system_event"), st.just(name), st.fixed_dictionaries(fields))


def _plain(kind: str, **fields: Any) -> Any:
    return st.tuples(st.just(kind), st.just(""), st.fixed_dictionaries(fields))


def _failed(**fields: Any) -> dict[str, Any]:
    categories = st.sampled_from(["outcome_unknown", "timeout", "cancelled"])
    return {"call_id": IDS, "category": categories, "message": TEXT, **fields}


ORDINARY = st.one_of(
    _plain("user_message", text=TEXT),
    _plain("assistant_message_delta", message_id=IDS, index=st.integers(0, 9), text=TEXT),
    _plain("assistant_message", message_id=IDS, text=TEXT),
    _plain(
        "tool_call", call_id=IDS, tool=st.just("fs.read"), version=st.just("1.0.0"),
        arguments=st.dictionaries(TEXT, VALUES, max_size=2), idempotent=st.booleans(),
    ),
    _plain("tool_result", call_id=IDS, output=VALUES, duration_ms=st.integers(0, 10)),
    _plain("tool_error", **_failed()),
    _plain(
        "artifact_ref", sha256=st.just("0" * 64), size=st.integers(0, 9),
        media_type=st.just("text/plain"),
    ),
    _system("model_call", call_id=IDS, provider=st.just("scripted"), model=st.just("echo")),
    _system("model_result", call_id=IDS, usage=USAGE, latency_ms=st.integers(0, 10)),
    _system("model_error", **_failed()),
    _system(
        "approval_requested", approval_id=IDS, title=TEXT.filter(str.strip),
        options=st.just(["approve", "reject"]),
    ),
    _system("approval_answered", approval_id=IDS, answer=st.sampled_from(["approve", "reject"])),
    _system("approval_expired", approval_id=IDS, policy=st.just("deny")),
    _system("timer_set", timer_id=IDS, due_at=st.just(INSTANT)),
    _system("timer_fired", timer_id=IDS),
    _system("child_started", child_run_id=IDS, call_id=IDS, run_kind=st.just("script")),
    _system(
        "child_finished", child_run_id=IDS, call_id=IDS,
        status=st.sampled_from(sorted(status.value for status in TERMINAL)),
    ),
    _system("step_started", step=st.just("s1")),
    _system("step_finished", step=st.just("s1"), output=VALUES),
    _system("cancel_requested"),
    _system("lease_taken", worker_id=IDS, epoch=st.integers(1, 9), attempt=st.integers(1, 9)),
)  # fmt: skip


@st.composite
def histories(draw: Draw, *, most: int = 25) -> list[Happened]:
    """From `run_created` on; some payloads are erased, some histories end."""
    kind = draw(st.sampled_from(["script", "echo", "unheard_of"]))
    created = {"run_kind": kind, "input": draw(INPUT), "pins": {}}
    events = [Happened(1, "run_created", "", created)]
    status = Status.QUEUED
    for seq in range(2, draw(st.integers(2, most))):
        if status in TERMINAL:
            break
        if draw(st.integers(0, 5)) == 0:
            after = draw(st.sampled_from(sorted(b for a, b in LEGAL if a is status)))
            change = {"from": status.value, "to": after.value}
            events.append(Happened(seq, "system_event", "state_changed", change))
            status = Status(after)
            continue
        kind, name, payload = draw(ORDINARY)
        erased = draw(st.integers(0, 19)) == 0
        events.append(Happened(seq, kind, name, None if erased else payload))
    return events
