"""What the address of a list may ask for: what its filters offer, and no other column.

Django allows a lookup on every column of a row, also on those that no page shows; whoever may
look at a list could then guess a session's key or a password's hash letter by letter.
"""

from __future__ import annotations

from typing import Any

from django.contrib.admin.utils import get_fields_from_path
from django.contrib.admin.views.main import ERROR_FLAG
from django.core.exceptions import ValidationError
from django.db import DataError
from django.http import HttpRequest, HttpResponseRedirect

# What is raised for a value that no column of this kind can have, by Django or by PostgreSQL.
IMPOSSIBLE = (DataError, ValidationError, ValueError, OverflowError)

_ENDINGS = ("", "__exact", "__isnull")
_RANGE = ("_from", "_to")
_HIERARCHY = ("__year", "__month", "__day", "__gte", "__lt")


def offered(page: Any, request: HttpRequest) -> set[str]:
    """Every parameter that the filters of a list use."""
    found: set[str] = set(page.linked_lookups)
    for each in page.get_list_filter(request):
        if isinstance(each, type):
            found.add(str(each.parameter_name))  # type: ignore[attr-defined]
        else:
            found |= _of_column(page.model, each if isinstance(each, str) else each[0])
    if page.date_hierarchy:
        found |= {page.date_hierarchy + ending for ending in _HIERARCHY}
    return found


def is_possible(model: Any, name: str, value: Any) -> bool:
    """Whether a row that `name` refers to could have this key."""
    field = next((each for each in model._meta.get_fields() if each.name == name), None)
    if field is None or not field.is_relation or not hasattr(field, "target_field"):
        return True
    try:
        for each in value if isinstance(value, list) else [value]:
            field.target_field.to_python(each)
    except IMPOSSIBLE:
        return False
    return True


def without_query(request: HttpRequest) -> HttpResponseRedirect | None:
    """Where Django itself sends a list that cannot be asked this; None if nothing was asked."""
    if not request.GET or ERROR_FLAG in request.GET:
        return None
    return HttpResponseRedirect(f"{request.path}?{ERROR_FLAG}=1")


def _of_column(model: Any, path: str) -> set[str]:
    field: Any = get_fields_from_path(model, path)[-1]
    names = {path + ending for ending in (*_ENDINGS, *_RANGE)}
    if field.is_relation:
        key = f"{path}__{field.target_field.name}"
        names |= {key + ending for ending in _ENDINGS}
    return names
