"""A form from the schema of a tool's input: one field per property, JSON for what is nested."""

from __future__ import annotations

import json
import uuid
from typing import Any

from django import forms

from omni.contracts.errors import InvalidInput
from omni.contracts.parsing import parse

LONG_TEXT = 200
PREFIX = "arg-"


class SchemaForm(forms.Form):
    """What a person enters becomes arguments; the schema itself is checked by the service."""

    run_id = forms.UUIDField(required=False, widget=forms.HiddenInput, initial=uuid.uuid4)
    mode = forms.ChoiceField(
        choices=[
            ("normal", "Do it"),
            ("dry_run", "Dry run: say what it would do"),
            ("analysis_only", "Analysis only: refuse changes"),
        ],
        required=False,
    )

    def __init__(self, schema: dict[str, Any], data: Any = None) -> None:
        super().__init__(data)
        self.schema = schema
        self.properties: dict[str, Any] = schema.get("properties", {})
        required = set(schema.get("required", []))
        made = {
            PREFIX + name: _field(name, self._resolved(part), required=name in required)
            for name, part in self.properties.items()
        }
        if not made:
            made[PREFIX] = _json("Arguments", "An object with the arguments.", required=False)
        self.fields = {**made, "mode": self.fields["mode"], "run_id": self.fields["run_id"]}

    def arguments(self) -> dict[str, Any]:
        """What was entered; an empty optional field is left out."""
        if not self.properties:
            return self.cleaned_data.get(PREFIX) or {}
        return {
            name: value
            for name in self.properties
            if (value := self.cleaned_data.get(PREFIX + name)) not in (None, "")
        }

    def explain(self, error: InvalidInput) -> None:
        """Say what is wrong beside the field it is about."""
        for pointer, messages in (error.data.get("errors") or {"": [str(error)]}).items():
            name = PREFIX + pointer.strip("/").split("/")[0]
            for message in messages:
                self.add_error(name if name in self.fields else None, message)

    def _resolved(self, part: Any) -> dict[str, Any]:
        """A property that refers to a definition of the same schema."""
        if isinstance(part, dict) and str(part.get("$ref", "")).startswith("#/$defs/"):
            found = self.schema.get("$defs", {}).get(part["$ref"].rpartition("/")[2], {})
            return {**found, **part} if isinstance(found, dict) else part
        return part if isinstance(part, dict) else {}


class JsonField(forms.CharField):
    """Text that is JSON, of one type or of any."""

    def __init__(self, *, types: frozenset[str] = frozenset(), **options: Any) -> None:
        widget = forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "class": "code"})
        super().__init__(widget=widget, **options)
        self.types = types

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if not text:
            return None
        try:
            found = parse(text.encode())
        except InvalidInput as error:
            if self.types and "string" in self.types:
                return text
            raise forms.ValidationError(f"This is not JSON: {error.message}") from None
        return found


def _field(name: str, schema: dict[str, Any], *, required: bool) -> forms.Field:
    common: dict[str, Any] = {
        "label": str(schema.get("title") or name),
        "help_text": str(schema.get("description", ""))[:300],
        "required": required,
        "initial": schema.get("default"),
    }
    kind = schema.get("type")
    if isinstance(schema.get("enum"), list):
        return _choice(schema["enum"], common)
    if kind == "boolean":
        return _choice([True, False], common, words={True: "Yes", False: "No"})
    if kind == "integer":
        return forms.IntegerField(**common)
    if kind == "number":
        return forms.FloatField(**common)
    if kind == "string":
        return _text(schema, common)
    types = frozenset(kind) if isinstance(kind, list) else frozenset()
    if common["initial"] is not None:
        common["initial"] = json.dumps(common["initial"])
    return JsonField(
        types=types, **{**common, "help_text": f"{common['help_text']} (JSON)".strip()}
    )


def _text(schema: dict[str, Any], common: dict[str, Any]) -> forms.Field:
    long = int(schema.get("maxLength", LONG_TEXT + 1)) > LONG_TEXT and "pattern" not in schema
    name = str(common["label"])
    short = name in ("path", "url", "name", "sha256") or "format" in schema
    rows = {"rows": 2 if not long else 4, "spellcheck": "false"}
    widget = forms.TextInput() if short or not long else forms.Textarea(attrs=rows)
    return forms.CharField(strip=False, widget=widget, **common)


def _choice(
    values: list[Any], common: dict[str, Any], words: dict[Any, str] | None = None
) -> forms.Field:
    choices = [(json.dumps(value), (words or {}).get(value, str(value))) for value in values]
    if not common["required"]:
        choices.insert(0, ("", "–"))
    if common["initial"] is not None:
        common["initial"] = json.dumps(common["initial"])
    return forms.TypedChoiceField(choices=choices, coerce=json.loads, empty_value=None, **common)


def _json(label: str, help_text: str, *, required: bool) -> forms.Field:
    return JsonField(label=label, help_text=help_text, required=required)
