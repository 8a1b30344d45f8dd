"""The ports that are plugged in. Providers and tools replace these defaults."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from apps.tools.invoke import Invoker
from omni.contracts.ports import ModelPort, RunContext, ToolPort


class ScriptedModel:
    """Says back what it was told, word by word; needs no key and no network."""

    def stream(
        self, model: str, messages: list[dict[str, str]], context: RunContext
    ) -> Iterator[str]:
        words = (messages[-1]["text"] if messages else "").split(" ")
        for number, word in enumerate(words):
            yield word if number == 0 else f" {word}"

    def usage(self, messages: list[dict[str, str]], answer: str) -> dict[str, Any]:
        prompt = sum(len(message["text"].split()) for message in messages)
        completion = len(answer.split())
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "cost": {"amount": "0", "currency": "USD"},
        }


@dataclass
class Ports:
    """What a driver reaches the world through."""

    model: ModelPort = field(default_factory=ScriptedModel)
    tools: ToolPort = field(default_factory=Invoker)


_plugged = Ports()


def plugged() -> Ports:
    return _plugged


def plug(*, model: ModelPort | None = None, tools: ToolPort | None = None) -> None:
    """Replace a port for this process."""
    if model is not None:
        _plugged.model = model
    if tools is not None:
        _plugged.tools = tools
