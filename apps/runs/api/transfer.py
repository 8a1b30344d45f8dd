"""Bytes over HTTP, taken from a request in pieces."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from io import BytesIO
from typing import IO, Any

from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.registry.api.doors import Door
from apps.runs.download import UNNAMED
from apps.runs.services.artifacts import Received, receive
from omni.contracts.errors import InvalidInput

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
