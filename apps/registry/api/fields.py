"""Fields that take JSON at its word: a number is no text, and an unknown field is a mistake."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ValidationError


class Text(serializers.CharField):
    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class Email(serializers.EmailField):
    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class Whole(serializers.IntegerField):
    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid")
        return super().to_internal_value(data)


class Flag(serializers.BooleanField):
    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=str(data)[:40])
        return data


class Choice(serializers.ChoiceField):
    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str):
            self.fail("invalid_choice", input=str(data)[:40])
        return super().to_internal_value(data)


# No docstrings on these two: OpenAPI would show them as the description of every subclass.
# A body carries what it names and nothing else.
class Body(serializers.Serializer[Any]):
    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict):
            refuse_unknown(data, self.fields)
        return super().to_internal_value(data)


# A misspelt filter must not silently return everything.
class Query(serializers.Serializer[Any]):
    def to_internal_value(self, data: Any) -> Any:
        refuse_unknown(data, {*self.fields, "cursor", "page_size"})
        return super().to_internal_value(data)


def refuse_unknown(given: Any, known: Any) -> None:
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ValidationError({name[:80]: ["This field is not known."] for name in unknown[:20]})
