"""Pages of a list by cursor: stable while rows come and go, and the last as fast as the first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.core import signing
from django.db.models import Model, Q
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import remove_query_param, replace_query_param

if TYPE_CHECKING:
    # DRF's views import this module while they are being loaded.
    from rest_framework.views import APIView

DEFAULT_SIZE = 50
MAX_SIZE = 200


class Pages(BasePagination):
    """A view names its `ordering`, whose last field is unique; a cursor is the row at the edge.

    Cursors are signed: a forged one could otherwise carry values that the database refuses.
    """

    def paginate_queryset(
        self, queryset: Any, request: Request, view: APIView | None = None
    ) -> list[Any]:
        self.request = request
        self.ordering: Sequence[str] = view.ordering  # type: ignore[union-attr]
        size = _size(request.query_params.get("page_size"))
        back, edge = self._decode(request.query_params.get("cursor"))
        ordered = queryset.order_by(*(_turned(self.ordering) if back else self.ordering))
        if edge is not None:
            ordered = ordered.filter(_beyond(self.ordering, edge, back=back))
        rows = list(ordered[: size + 1])
        more, rows = len(rows) > size, rows[:size]
        self.page = rows[::-1] if back else rows
        self.has_next = bool(rows) and (back or more)
        self.has_previous = bool(rows) and (more if back else edge is not None)
        return self.page

    def one_page(self, rows: Any, request: Request) -> Response:
        """A list that always fits on one page; what is asked is checked all the same."""
        _size(request.query_params.get("page_size"))
        if "cursor" in request.query_params:
            raise _foreign_cursor()
        return Response({"results": rows, "next": None, "previous": None})

    def get_paginated_response(self, data: Any) -> Response:
        return Response(
            {
                "results": data,
                "next": self._link(self.page[-1], back=False) if self.has_next else None,
                "previous": self._link(self.page[0], back=True) if self.has_previous else None,
            }
        )

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        link = {"type": ["string", "null"], "format": "uri"}
        return {
            "type": "object",
            "required": ["results", "next", "previous"],
            "properties": {
                "results": schema,
                "next": {**link, "description": "Address of the next page, or null on the last."},
                "previous": {**link, "description": "Address of the page before, or null."},
            },
        }

    def get_schema_operation_parameters(self, view: APIView) -> list[dict[str, Any]]:
        return [
            {
                "name": "cursor",
                "in": "query",
                "required": False,
                "description": "Where the page starts; taken from `next` or `previous`.",
                "schema": {"type": "string"},
            },
            {
                "name": "page_size",
                "in": "query",
                "required": False,
                "description": "Number of results on a page.",
                "schema": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MAX_SIZE,
                    "default": DEFAULT_SIZE,
                },
            },
        ]

    def _link(self, row: Model, *, back: bool) -> str:
        edge = [str(getattr(row, _name(field))) for field in self.ordering]
        cursor = signing.dumps([back, edge], salt=self._salt)
        url = remove_query_param(self.request.build_absolute_uri(), "cursor")
        return replace_query_param(url, "cursor", cursor)

    def _decode(self, cursor: str | None) -> tuple[bool, list[str] | None]:
        if cursor is None:
            return False, None
        try:
            back, edge = signing.loads(cursor, salt=self._salt)
        except signing.BadSignature:
            raise _foreign_cursor() from None
        return bool(back), edge

    @property
    def _salt(self) -> str:
        return f"omni.cursor:{self.request.path}:{','.join(self.ordering)}"


def _foreign_cursor() -> ValidationError:
    message = "This cursor is not from this list; start with the first page."
    return ValidationError({"cursor": [message]})


def _size(given: str | None) -> int:
    if given is None:
        return DEFAULT_SIZE
    if not (given.isascii() and given.isdigit() and len(given) <= 4):
        raise ValidationError({"page_size": ["A whole number is needed."]})
    if not 1 <= int(given) <= MAX_SIZE:
        raise ValidationError({"page_size": [f"Choose between 1 and {MAX_SIZE}."]})
    return int(given)


def _beyond(ordering: Sequence[str], edge: Sequence[str], *, back: bool) -> Q:
    """Rows after `edge` (before it when going back), comparing field by field."""
    found, same = Q(pk__in=[]), Q()
    for field, value in zip(ordering, edge, strict=True):
        lookup = "lt" if field.startswith("-") != back else "gt"
        found |= same & Q(**{f"{_name(field)}__{lookup}": value})
        same &= Q(**{_name(field): value})
    return found


def _name(field: str) -> str:
    return field.removeprefix("-")


def _turned(ordering: Sequence[str]) -> list[str]:
    return [_name(field) if field.startswith("-") else f"-{field}" for field in ordering]
