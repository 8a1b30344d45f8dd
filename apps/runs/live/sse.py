"""Server-sent events: frames as bytes, and the response that carries them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Any

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from apps.runs.live.entries import wire
from apps.runs.live.formats import Frame
from apps.runs.live.threads import release_request_thread
from omni.contracts.errors import OmniError
from omni.contracts.problem import problem_from

CONTENT_TYPE = "text/event-stream"
RETRY_MILLISECONDS = 2000
OPENING = f"retry: {RETRY_MILLISECONDS}\n\n".encode()
HEARTBEAT = b": still here\n\n"
# A proxy that buffers or changes the stream would hold it back.
HEADERS = {"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"}


class EventStreamRenderer(JSONRenderer):
    """Lets clients ask for an event stream; what is rendered here are problems, as JSON."""

    media_type = CONTENT_TYPE
    format = "event-stream"


class EventStreamResponse(StreamingHttpResponse):
    """Hands Django the generator itself, so that a lost client closes it at once."""

    def __init__(self, chunks: AsyncGenerator[bytes, None] | Iterator[bytes]) -> None:
        super().__init__(chunks, content_type=CONTENT_TYPE, headers=HEADERS)
        self._chunks = chunks

    def __aiter__(self) -> Any:
        if isinstance(self._chunks, AsyncGenerator):
            return self._chunks
        return super().__aiter__()


def encode(frames: list[Frame]) -> bytes:
    """One chunk for all frames; JSON in canonical form has no line breaks to be afraid of."""
    if not frames:
        return HEARTBEAT
    return "".join(map(_lines, frames)).encode()


def _lines(frame: Frame) -> str:
    head = f"id: {frame.id}\n" if frame.id else ""
    head += f"event: {frame.event}\n" if frame.event else ""
    return f"{head}data: {frame.data}\n\n"


def respond(
    request: Request,
    live: AsyncGenerator[list[Frame], None],
    present: Iterator[list[Frame]],
) -> HttpResponseBase:
    """The stream; under a server without an event loop only what there is now."""
    if request.method == "HEAD":
        return HttpResponse(content_type=CONTENT_TYPE, headers=HEADERS)
    if isinstance(request._request, ASGIRequest):
        return EventStreamResponse(_chunks(live))
    return EventStreamResponse(_present_chunks(present))


async def _chunks(live: AsyncGenerator[list[Frame], None]) -> AsyncGenerator[bytes, None]:
    await release_request_thread()
    yield OPENING
    try:
        async with aclosing(live) as batches:
            async for frames in batches:
                yield encode(frames)
    except OmniError as error:
        # The answer has begun, so a refusal can only be said within it.
        yield encode([Frame(wire({**problem_from(error)}), "refused", is_control=True)])


def _present_chunks(present: Iterator[list[Frame]]) -> Iterator[bytes]:
    yield OPENING
    for frames in present:
        if frames:
            yield encode(frames)
