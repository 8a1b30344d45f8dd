"""A run that answers the messages it was given through a model."""

from __future__ import annotations

import uuid

from omni.engine.effects import CallModel, Effect, Finish, plain_text
from omni.engine.lifecycle import Status
from omni.engine.state import RunState

MAX_ERRORS = 3


def decide_echo(run_id: uuid.UUID, state: RunState) -> Effect:
    """One model call per unanswered user message, then done."""
    asked = [message for message in state.messages if message["role"] == "user"]
    answers = [message for message in state.messages if message["role"] == "assistant"]
    if len(answers) >= len(asked):
        return Finish(Status.DONE, result={"answers": len(answers)})
    if state.errors >= MAX_ERRORS:
        return Finish(Status.FAILED, f"the model failed {MAX_ERRORS} times")
    call = uuid.uuid5(run_id, f"answer-{len(answers) + 1}-{state.usage.model_calls}")
    return CallModel(
        str(call),
        str(uuid.uuid5(call, "message")),
        plain_text(state.input.get("model", "echo")),
        _prompt(asked, answers),
    )


def _prompt(asked: list[dict[str, str]], answers: list[dict[str, str]]) -> list[dict[str, str]]:
    """Questions and answers in turn, up to the first question without an answer."""
    turns = [turn for pair in zip(asked, answers, strict=False) for turn in pair]
    return [*turns, asked[len(answers)]]
