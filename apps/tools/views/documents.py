"""JSON that people write and read on pages; what is wrong with it is said with its place."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.forms import Form

from omni.contracts.errors import Conflict, InvalidInput


def pretty(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def submit_document(form: Form, action: Callable[[dict[str, Any]], object]) -> bool:
    """Run `action` on what was entered; a refusal is said at the document, with its places."""
    if not form.is_valid():
        return False
    try:
        action(form.cleaned_data)
    except InvalidInput as error:
        places: dict[str, list[str]] = error.data.get("errors") or {"": [error.message]}
        for place, messages in places.items():
            for message in messages:
                form.add_error("document", f"{place}: {message}" if place else message)
        return False
    except Conflict as error:
        form.add_error("document", str(error))
        return False
    return True
