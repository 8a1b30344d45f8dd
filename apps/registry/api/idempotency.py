"""Idempotency-Key: a POST that is repeated with the same key happens once."""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Callable
from typing import Any

from django.db import transaction
from rest_framework import status
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from apps.registry.api.authentication import signed_in
from apps.registry.selectors import visible_project
from apps.registry.services.idempotency import claim_key, keep_answer
from omni.contracts.errors import InvalidInput

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
KEPT_HEADERS = ("Location",)
_KEY = re.compile(r"[\x21-\x7e]{1,255}")

Handler = Callable[..., Response]


def idempotent(handler: Handler) -> Handler:
    """Makes a view's `post` honour the key; the schema documents what carries this mark."""

    @functools.wraps(handler)
    def answer(view: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        key = request.headers.get(HEADER)
        if key is None:
            return handler(view, request, *args, **kwargs)
        if not _KEY.fullmatch(key):
            message = "Use 1 to 255 printable ASCII characters without spaces, such as a UUID."
            raise InvalidInput.field(HEADER, message)
        slug = kwargs.get("slug")
        return _once(key, request, lambda: handler(view, request, *args, **kwargs), slug)

    answer.is_idempotent = True  # type: ignore[attr-defined]
    return answer


@transaction.atomic
def _once(key: str, request: Request, work: Callable[[], Response], slug: str | None) -> Response:
    user, asked = signed_in(request), _fingerprint(request)
    given = claim_key(user=user, key=key, request_hash=asked)
    if given is not None:
        if slug is not None and given[0] != status.HTTP_204_NO_CONTENT:
            # What was shown to a member is not shown again to somebody who is none.
            visible_project(user, slug)
        return _replay(*given)
    # A failure rises through this transaction, so that nothing of it is remembered.
    response = work()
    keep_answer(
        user=user,
        key=key,
        request_hash=asked,
        status=response.status_code,
        answer=_written(response),
    )
    return response


def _fingerprint(request: Request) -> str:
    asked = [request.method, request.get_full_path(), request.data]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def _written(response: Response) -> str:
    headers = {name: response[name] for name in KEPT_HEADERS if name in response}
    body = JSONRenderer().render(response.data).decode()
    return json.dumps({"headers": headers, "body": body})


def _replay(status: int, answer: str) -> Response:
    stored = json.loads(answer)
    data = json.loads(stored["body"]) if stored["body"] else None
    return Response(data, status=status, headers={**stored["headers"], REPLAYED: "true"})
