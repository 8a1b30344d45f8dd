"""A run's stream over a WebSocket: the frames of the SSE stream as JSON messages."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from contextlib import aclosing
from typing import Any

import structlog
from channels.generic.websocket import AsyncWebsocketConsumer
from django.core.handlers.asgi import ASGIRequest
from django.db import Error as DatabaseError

from apps.runs.live import handshake
from apps.runs.live.admission import Admission
from apps.runs.live.entries import wire
from apps.runs.live.feed import End, Revoked
from apps.runs.live.formats import Frame
from apps.runs.live.threads import in_thread
from omni.contracts.errors import ErrorCategory, InvalidInput, NotFound, OmniError, Unavailable
from omni.contracts.problem import problem_from

log = structlog.get_logger(__name__)
AUTH_SECONDS = 10.0
LONGEST_MESSAGE = 4096
GOING_AWAY = 1001
CODES = {End: 1000, Revoked: 4403}
PING = '{"type":"ping"}'


class RunConsumer(AsyncWebsocketConsumer):
    """Admitted by session, by `Authorization`, or by a first message with a token."""

    _request: ASGIRequest | None = None
    _work: asyncio.Task[None] | None = None
    _opened = False

    async def connect(self) -> None:
        try:
            self._request = handshake.request_of(self.scope)
        except OmniError:
            await self.close()  # before acceptance: the handshake fails with 403
            return
        await self.accept()
        if handshake.has_credential(self._request):
            self._open(self._request)
        else:
            self._work = asyncio.create_task(self._expect_token())

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """The token, once; whatever else a client says is not for us."""
        if self._opened or self._request is None:
            return
        try:
            token = _token_in(text_data)
        except OmniError as error:
            await self._refuse(error)
            return
        self._open(handshake.with_token(self._request, token))

    async def disconnect(self, code: int) -> None:
        await self._stop()

    def _open(self, request: ASGIRequest) -> None:
        self._opened = True
        if self._work is not None:
            self._work.cancel()
        self._work = asyncio.create_task(self._serve(request))

    async def _expect_token(self) -> None:
        await asyncio.sleep(AUTH_SECONDS)
        message = "Nobody signed in on this connection."
        remedy = 'Send {"type":"auth","token":"omni_…"} first.'
        await self._refuse(
            OmniError(message, category=ErrorCategory.UNAUTHENTICATED, remedy=remedy)
        )

    async def _serve(self, request: ASGIRequest) -> None:
        began = time.monotonic()
        run_id = self.scope["url_route"]["kwargs"]["id"]
        try:
            await self._answer(request, run_id)
        except OSError as error:
            log.debug("socket_lost", error=type(error).__name__)
        finally:
            seconds = round(time.monotonic() - began, 1)
            log.info("socket", run_id=str(run_id), seconds=seconds)

    async def _answer(self, request: ASGIRequest, run_id: uuid.UUID) -> None:
        try:
            await self._pump(await in_thread(handshake.admit, request, run_id))
        except OmniError as error:
            await self._refuse(error)
        except DatabaseError as error:
            log.warning("socket_without_database", error=type(error).__name__)
            await self._refuse(Unavailable("The database does not answer."))

    async def _pump(self, admission: Admission) -> None:
        code = GOING_AWAY
        async with aclosing(admission.told()) as told:
            async for signal, frames in told:
                for text in map(_message, frames) if frames else (PING,):
                    await self.send(text_data=text)
                code = CODES.get(type(signal), GOING_AWAY)
        await self.close(code)

    async def _refuse(self, error: OmniError) -> None:
        self._opened = True
        problem = problem_from(error)
        await self.send(text_data=wire({"type": "error", "problem": {**problem}}))
        await self.close(handshake.close_code(error))

    async def _stop(self) -> None:
        work, self._work = self._work, None
        if work is None or work is asyncio.current_task():
            return
        work.cancel()
        await asyncio.wait([work])


class UnknownSocket(AsyncWebsocketConsumer):
    """Any other address: accepted only to say so, as a refused handshake cannot."""

    async def connect(self) -> None:
        await self.accept()
        error = NotFound("There is no such address.")
        await self.send(text_data=wire({"type": "error", "problem": {**problem_from(error)}}))
        await self.close(handshake.close_code(error))


def _message(frame: Frame) -> str:
    if frame.is_control:
        return wire({"type": frame.event, **json.loads(frame.data)})
    return f'{{"type":"event","event":{frame.data}}}'


def _token_in(text: str | None) -> str:
    """The token of a first message, which must be nothing else."""
    message: Any = None
    if text is not None and len(text) <= LONGEST_MESSAGE:
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            message = None
    if not isinstance(message, dict) or message.get("type") != "auth":
        raise InvalidInput('The first message must be {"type":"auth","token":"omni_…"}.')
    token = message.get("token")
    if not isinstance(token, str) or not token.isascii() or not token.isprintable():
        raise InvalidInput("The token must be text.")
    return token
