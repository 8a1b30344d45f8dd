"""The contracts as people read them: every schema with its fields in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from omni.contracts import catalogue
from omni.contracts.description import Description, describe
from omni.contracts.errors import NotFound

GROUPS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("Documents", lambda name: "/" not in name and name not in catalogue.SUPPORTING),
    ("Events", lambda name: name.startswith("payloads/") and "/system/" not in name),
    ("System events", lambda name: name.startswith("payloads/system/")),
    ("Shared", lambda name: name in catalogue.SUPPORTING),
)


@dataclass(frozen=True, slots=True)
class Group:
    """Schemas of one kind, as the list shows them."""

    name: str
    schemas: list[Description]


@login_required
@require_safe
def schema_list(request: HttpRequest) -> HttpResponse:
    query = request.GET.get("q", "")[:100].strip()
    context = {"groups": groups(query), "query": query}
    return render(request, "workspace/schemas.html", context)


@login_required
@require_safe
def schema_detail(request: HttpRequest, name: str) -> HttpResponse:
    if name not in catalogue.names():
        raise NotFound("There is no such schema.", remedy="See the list of schemas.")
    return render(request, "workspace/schema.html", {"schema": describe(name)})


def groups(query: str) -> list[Group]:
    """What matches every word of the query, by kind; empty groups are left out."""
    words = query.lower().split()
    found = []
    for label, belongs in GROUPS:
        schemas = [describe(name) for name in catalogue.names() if belongs(name)]
        schemas = [each for each in schemas if all(word in _text(each) for word in words)]
        if schemas:
            found.append(Group(label, schemas))
    return found


def _text(schema: Description) -> str:
    return f"{schema.name} {schema.title} {schema.meaning}".lower()
