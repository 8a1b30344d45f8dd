"""Bytes over HTTP: taken from a request in pieces, and sent so that no browser interprets them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack
from io import BytesIO
from typing import IO, Any

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.registry.api.doors import Door
from apps.runs.services.artifacts import CHUNK, Received, receive
from omni.contracts.errors import InvalidInput

UNNAMED = "application/octet-stream"
FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")


class Upload(dict[str, Any]):
    """What arrived, as a request's data: its hash stands for it where requests are compared."""

    def __init__(self, source: IO[Any], media_type: str) -> None:
        self._kept = ExitStack()
        self.received: Received = self._kept.enter_context(receive(source))
        self.media_type = media_type or UNNAMED
        super().__init__(sha256=self.received.sha256, media_type=self.media_type)

    def close(self) -> None:
        self._kept.close()


class UploadParser(BaseParser):
    """Any media type but forms, which a browser may send across sites."""

    media_type = "*/*"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Upload:
        kind = media_type or ""
        if kind.partition(";")[0].strip().lower() in FORMS:
            raise UnsupportedMediaType(kind)
        upload = Upload(stream, kind)
        (parser_context or {})["view"]._upload = upload
        return upload


class UploadDoor(Door):
    """A door whose requests may carry a file; it is let go of however the request ends."""

    _upload: Upload | None = None

    def get_parsers(self) -> list[Any]:
        return [UploadParser()]

    def upload(self) -> Upload:
        data = self.request.data
        if isinstance(data, Upload):
            return data
        if "chunked" in self.request.headers.get("Transfer-Encoding", "").lower():
            raise InvalidInput("Say how long the file is, with the Content-Length header.")
        self._upload = Upload(BytesIO(), self.request.content_type)
        return self._upload

    def finalize_response(
        self, request: Request, response: Response, *args: Any, **kwargs: Any
    ) -> Response:
        if self._upload is not None:
            self._upload.close()
        return super().finalize_response(request, response, *args, **kwargs)


def download(request: Request, stream: IO[bytes], *, size: int, name: str) -> HttpResponseBase:
    headers = {
        "Content-Length": str(size),
        "Content-Disposition": content_disposition_header(True, name or "artifact") or "",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "private, no-store",
    }
    if request.method == "HEAD":
        stream.close()
        return HttpResponse(content_type=UNNAMED, headers=headers)
    # A server with an event loop would gather a plain iterator in memory first.
    is_async = isinstance(request._request, ASGIRequest)
    pieces = LaterPieces(stream) if is_async else Pieces(stream)
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
    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.close = stream.close

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while chunk := await sync_to_async(self.stream.read, thread_sensitive=False)(CHUNK):
            yield chunk
