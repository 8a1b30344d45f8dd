"""Bytes as an answer: in pieces, and so that no browser shows or runs what somebody else made."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import IO

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header

from apps.runs.services.artifacts import CHUNK

UNNAMED = "application/octet-stream"


def download(request: HttpRequest, stream: IO[bytes], *, size: int, name: str) -> HttpResponseBase:
    headers = {
        "Content-Length": str(size),
        "Content-Disposition": content_disposition_header(True, name) or "attachment",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "private, no-store",
    }
    if request.method == "HEAD":
        stream.close()
        return HttpResponse(content_type=UNNAMED, headers=headers)
    # A server with an event loop would gather a plain iterator in memory first.
    pieces = LaterPieces(stream) if isinstance(request, ASGIRequest) else Pieces(stream)
    return StreamingHttpResponse(pieces, content_type=UNNAMED, headers=headers)


class Pieces:
    """Django closes it with the response, also when nobody took the first piece."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.close = stream.close

    def __iter__(self) -> Iterator[bytes]:
        while chunk := self.stream.read(CHUNK):
            yield chunk


class LaterPieces:
    """The same for an event loop, which must not wait for a disk."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.close = stream.close

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while chunk := await sync_to_async(self.stream.read, thread_sensitive=False)(CHUNK):
            yield chunk
