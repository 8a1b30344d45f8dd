"""What lower floors receive from higher ones: small protocols instead of imports."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any, Protocol


class RunContext(Protocol):
    """What an effect may know of the run it works for."""

    @property
    def run_id(self) -> uuid.UUID: ...

    def cancelled(self) -> bool:
        """Whether to stop now: the run is being cancelled or belongs to another worker."""
        ...

    def emit_delta(self, message_id: str, text: str) -> None:
        """Stream a piece of an answer; pieces are gathered before they are appended."""
        ...

    def put_artifact(self, data: bytes, *, media_type: str, name: str = "") -> str:
        """Store bytes, record that the run refers to them, answer their SHA-256."""
        ...


class ModelPort(Protocol):
    """Streams the pieces of an answer, and says afterwards what it used."""

    def stream(
        self, model: str, messages: list[dict[str, str]], context: RunContext
    ) -> Iterator[str]: ...

    def usage(self, messages: list[dict[str, str]], answer: str) -> dict[str, Any]: ...


class ToolPort(Protocol):
    """Carries out one call; raises OmniError when the tool failed."""

    def call(
        self, tool: str, arguments: dict[str, Any], call_id: str, context: RunContext
    ) -> Any: ...
