"""Asks an OpenAI-compatible endpoint which models it offers."""

from __future__ import annotations

import json
from dataclasses import dataclass

import httpx

SECONDS = 5.0
LARGEST_ANSWER = 2 * 2**20


@dataclass(frozen=True)
class EndpointAnswer:
    """`reason` says in a few words why there are no models."""

    ok: bool
    models: tuple[str, ...] = ()
    reason: str = ""


def list_models(url: str, *, key: str = "", seconds: float = SECONDS) -> EndpointAnswer:
    """GET {url}/models; never raises, because a model that is away must not stop anything else."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        with httpx.stream(
            "GET", f"{url.rstrip('/')}/models", headers=headers, timeout=seconds
        ) as response:
            body = _read(response)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return EndpointAnswer(False, reason=_why(error))
    if response.status_code != 200:
        return EndpointAnswer(False, reason=f"it answered {response.status_code}")
    return _understand(body)


def _read(response: httpx.Response) -> bytes:
    body = b""
    for piece in response.iter_bytes():
        body += piece
        if len(body) > LARGEST_ANSWER:
            break
    return body


def _understand(body: bytes) -> EndpointAnswer:
    try:
        names = tuple(str(entry["id"]) for entry in json.loads(body)["data"])
    except (ValueError, KeyError, TypeError):
        return EndpointAnswer(False, reason="its answer is not a list of models")
    if not names:
        return EndpointAnswer(False, reason="it offers no model")
    return EndpointAnswer(True, names)


def _why(error: Exception) -> str:
    if isinstance(error, httpx.TimeoutException):
        return "it did not answer in time"
    if isinstance(error, httpx.ConnectError):
        return "nothing listens there"
    return str(error) or type(error).__name__
