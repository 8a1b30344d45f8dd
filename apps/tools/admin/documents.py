"""A field for JSON documents in the admin console, and what services say to them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminTextareaWidget

from apps.tools.forms import JsonTextField
from omni.contracts.errors import InvalidInput


class DocumentField(JsonTextField):
    def __init__(self, **options: Any) -> None:
        look = {"rows": 24, "spellcheck": "false", "style": "font-family: monospace"}
        super().__init__(widget=UnfoldAdminTextareaWidget(attrs=look), **options)


@contextmanager
def refusals() -> Iterator[None]:
    """A refused document is an error of its field, place by place."""
    try:
        yield
    except InvalidInput as error:
        places: dict[str, list[str]] = error.data.get("errors") or {"": [error.message]}
        raise forms.ValidationError(
            [f"{place}: {text}" for place, texts in places.items() for text in texts]
        ) from None
