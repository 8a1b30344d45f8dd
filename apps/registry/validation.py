"""Turns Django's validation errors into our own, so that every door tells the same story."""

from __future__ import annotations

import re
from typing import TypeVar

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db.models import CharField, Model, TextField

from omni.contracts.errors import InvalidInput

Row = TypeVar("Row", bound=Model)
# They would steer a terminal or turn the reading direction of what follows.
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
LINE_CONTROL = re.compile(CONTROL.pattern[:-1] + "\t\n\r\u2028\u2029]")


def invalid_input(error: ValidationError) -> InvalidInput:
    if hasattr(error, "error_dict"):
        errors = {
            ("" if name == NON_FIELD_ERRORS else name): messages
            for name, messages in error.message_dict.items()
        }
    else:
        errors = {"": error.messages}
    message = "; ".join(
        f"{name}: {text}" if name else text for name, texts in errors.items() for text in texts
    )
    return InvalidInput(message, data={"errors": errors})


def validated(row: Row, *, unique: bool = True) -> Row:
    """Check a row's fields; the database stays the judge of uniqueness where it is contended."""
    try:
        _refuse_control_characters(row)
        row.full_clean(validate_unique=unique, validate_constraints=unique)
    except ValidationError as error:
        raise invalid_input(error) from None
    return row


def _refuse_control_characters(row: Model) -> None:
    for field in row._meta.concrete_fields:
        if not isinstance(field, CharField | TextField):
            continue
        value = getattr(row, field.attname)
        forbidden = LINE_CONTROL if isinstance(field, CharField) else CONTROL
        if isinstance(value, str) and forbidden.search(value):
            raise ValidationError({field.name: "Control characters are not allowed here."})
