"""The contracts, as programs read them; open to anyone, since they hold no data."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.cache import get_conditional_response
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from apps.registry.api.doors import Door
from apps.registry.api.fields import Choice, Query
from omni.contracts import catalogue
from omni.contracts.errors import NotFound

CACHING = "public, max-age=300"
NAME = OpenApiParameter(
    "name",
    str,
    OpenApiParameter.PATH,
    description="Version and name, such as `v1/tool-manifest` or `v1/payloads/tool_call`.",
)


class SchemaSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(help_text="Name of the contract.")
    version = serializers.IntegerField(help_text="Version of the contract.")
    id = serializers.CharField(help_text="Its `$id`, by which other schemas refer to it.")
    title = serializers.CharField(help_text="What it is called.")
    description = serializers.CharField(help_text="What it describes.")
    url = serializers.CharField(help_text="Where the schema is.")


class SchemaQuery(Query):
    bundle = Choice(
        required=False,
        choices=["true", "false"],
        help_text="`true` puts every schema that it refers to inside.",
    )


class SchemaList(Door):
    tag = "schemas"
    permission_classes = (AllowAny,)

    @extend_schema(operation_id="list_schemas", responses=SchemaSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the contracts: JSON Schemas (2020-12) of every document; they fit on one page."""
        self.filters()
        response = self.pagination_class().one_page(_listed(), request)
        response["Cache-Control"] = CACHING
        return response


class SchemaDetail(Door):
    tag = "schemas"
    permission_classes = (AllowAny,)

    @extend_schema(
        operation_id="read_schema",
        parameters=[NAME, SchemaQuery],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request, name: str) -> HttpResponseBase:
        """Read one contract.

        The answer has an ETag; ask again with `If-None-Match` and get 304 while it is the same.
        """
        bundled = self.filters(SchemaQuery).get("bundle") == "true"
        body, etag = _document(*_parsed(name), bundled)
        response: HttpResponseBase = HttpResponse(body, content_type="application/json")
        same = get_conditional_response(request, etag=etag)
        response = same or response
        response["ETag"] = etag
        response["Cache-Control"] = CACHING
        return response


def _parsed(name: str) -> tuple[str, int]:
    """`v1/tool-manifest` → its name and version, if there is such a schema."""
    folder, _, rest = name.partition("/")
    for version in catalogue.versions():
        if folder == f"v{version}" and rest in catalogue.names_in(version):
            return rest, version
    raise NotFound("There is no such schema.", remedy="See /api/schemas.")


@cache
def _document(name: str, version: int, bundled: bool) -> tuple[bytes, str]:
    """Body and ETag; they depend on the code alone, so they are made once."""
    body = catalogue.raw(name, version)
    if bundled:
        body = json.dumps(catalogue.bundle(name, version), ensure_ascii=False).encode()
    return body, f'"{hashlib.sha256(body).hexdigest()[:32]}"'


@cache
def _listed() -> list[dict[str, Any]]:
    rows = []
    for version in catalogue.versions():
        for name in catalogue.names_in(version):
            schema = catalogue.schema(name, version)
            row = {"name": name, "version": version, "id": schema["$id"]}
            row |= {"title": schema["title"], "description": schema["description"]}
            rows.append({**row, "url": reverse("api:schema", args=[f"v{version}/{name}"])})
    return rows
