"""Follows a run's stream: every event once, in order, over any number of lost connections."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omni.contracts.errors import ErrorCategory, OmniError, PermissionDenied, Unavailable

if TYPE_CHECKING:
    from omni.cli.client import Client

PAUSES = (0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 5.0, 5.0)
# What a new attempt may mend: a broken connection, a server that is away for a moment.
PASSING = (ErrorCategory.UNAVAILABLE, ErrorCategory.RATE_LIMITED)
ENDING = ("end", "revoked", "refused")


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the stream; `data` is the very text that the server sent."""

    event: str
    id: str
    data: str

    @property
    def content(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.data)
        return content


def follow_run(client: Client, run_id: str, *, after: int = 0) -> Iterator[Message]:
    """Messages until the run ends; the last one is `end`."""
    last, losses = after, 0
    while True:
        try:
            for message in _connection(client, run_id, last):
                losses = 0
                last = int(message.id or last)
                yield message
                if message.event in ENDING:
                    return _check(message)
        except OmniError as error:
            if error.category not in PASSING:
                raise
            if losses == len(PAUSES):
                raise Unavailable(
                    f"{client.target.url} does not answer any more.",
                    remedy=f"Go on later with `omni runs tail {run_id} --after {last}`.",
                ) from error
        time.sleep(PAUSES[min(losses, len(PAUSES) - 1)])
        losses += 1


def _connection(client: Client, run_id: str, last: int) -> Iterator[Message]:
    from omni.cli.client import path_of

    with client.stream(
        path_of("runs", run_id, "stream"), Accept="text/event-stream", Last_Event_ID=str(last)
    ) as response:
        yield from _messages(response.iter_lines())


def _messages(lines: Iterable[str]) -> Iterator[Message]:
    fields: dict[str, str] = {}
    for line in lines:
        if not line:
            if "data" in fields:
                yield Message(fields.get("event", ""), fields.get("id", ""), fields["data"])
            fields = {}
        elif not line.startswith(":"):
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")


def _check(message: Message) -> None:
    if message.event == "revoked":
        raise PermissionDenied("Access to this run was withdrawn.")
    if message.event == "refused":
        raise OmniError(str(message.content.get("detail", "The server ended the stream.")))
