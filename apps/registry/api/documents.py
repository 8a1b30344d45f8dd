"""The API's description: for programs as OpenAPI, for people as a page to try it on."""

from __future__ import annotations

import hashlib
import json
from functools import cache

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import condition, require_safe
from drf_spectacular.generators import SchemaGenerator


@cache
def document() -> tuple[bytes, str]:
    """The document and its ETag; it depends on the code alone, so it is made once."""
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    schema = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    body = json.dumps(schema, ensure_ascii=False, separators=(",", ":")).encode()
    return body, f'"{hashlib.sha256(body).hexdigest()[:32]}"'


@require_safe
@condition(etag_func=lambda request: document()[1])
def openapi(request: HttpRequest) -> HttpResponse:
    """Open to anyone: it describes shapes and holds no data."""
    response = HttpResponse(document()[0], content_type="application/json")
    response["Cache-Control"] = "public, max-age=300"
    return response


@require_safe
@ensure_csrf_cookie
def docs(request: HttpRequest) -> HttpResponse:
    return render(request, "registry/api_docs.html")
