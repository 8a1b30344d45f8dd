"""Finds every page of the admin console, so that a new one is walked without being named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.urls import URLPattern, URLResolver, get_resolver, reverse

# Their rows are listed only: the address of a session's page would hold its key.
LISTED_ONLY = {"registry.session"}


def label(model: Any) -> str:
    return str(model._meta.label_lower)


def name(model: Any, page: str) -> str:
    return f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}"


def changelist(model: Any) -> str:
    return reverse(name(model, "changelist"))


def registered() -> dict[str, tuple[Any, Any]]:
    return {label(model): (model, page) for model, page in admin.site._registry.items()}


def patterns_of(model: Any) -> Iterator[str]:
    """Names of all pages of one model, its actions' pages included."""
    site: Any = next(
        each
        for each in get_resolver().url_patterns
        if isinstance(each, URLResolver) and each.namespace == "admin"
    )
    prefix = f"{model._meta.app_label}_{model._meta.model_name}_"
    for resolver in site.url_patterns:
        for pattern in getattr(resolver, "url_patterns", ()):
            if isinstance(pattern, URLPattern) and (pattern.name or "").startswith(prefix):
                yield f"admin:{pattern.name}"


def addresses(model: Any, key: Any) -> Iterator[str]:
    """All addresses of one model, with `key` where a page is about one row."""
    from django.urls import NoReverseMatch

    for pattern in patterns_of(model):
        try:
            yield reverse(pattern)
        except NoReverseMatch:
            yield reverse(pattern, args=[key])


def filter_queries(changelist: Any) -> Iterator[str]:
    """A query for each filter of a list: its first choices and its last one."""
    for spec in changelist.filter_specs:
        choices = list(spec.choices(changelist))
        for choice in [*choices[:2], *choices[2:][-1:]]:
            if "query_string" in choice:
                yield choice["query_string"]
            for field, bound in getattr(choice.get("form"), "fields", {}).items():
                for value in _values(bound):
                    yield "?" + urlencode({field: value})


def _values(field: Any) -> list[str]:
    if hasattr(field, "choices"):
        return [str(value) for value, _ in list(field.choices)[:2] if value != ""]
    return ["2026-01-31"]
