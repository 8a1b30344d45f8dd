"""What people fill in: secrets, whose value never comes back, manifests, policies, questions."""

from __future__ import annotations

from typing import Any

from django import forms

from apps.tools.services.secrets import MAX_BYTES
from omni.contracts.errors import InvalidInput
from omni.contracts.parsing import parse


class ReplaceSecretForm(forms.Form):
    value = forms.CharField(
        max_length=MAX_BYTES,
        strip=False,
        help_text="Stored encrypted. Nobody can read it here again.",
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "new-password"}),
    )


class SecretForm(ReplaceSecretForm):
    name = forms.CharField(
        max_length=64,
        help_text="Tools refer to it as secret://NAME.",
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "spellcheck": "false", "placeholder": "GITHUB_TOKEN"}
        ),
    )
    description = forms.CharField(max_length=200, required=False)

    field_order = ("name", "value", "description")


class JsonTextField(forms.CharField):
    """JSON that people write; what is wrong with it is said with its line."""

    def __init__(self, **options: Any) -> None:
        look = {"rows": 22, "spellcheck": "false", "autocomplete": "off", "class": "code"}
        options.setdefault("widget", forms.Textarea(attrs=look))
        super().__init__(strip=False, **options)

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if not text.strip():
            return {}
        try:
            found = parse(text)
        except InvalidInput as error:
            raise forms.ValidationError(error.message) from None
        if not isinstance(found, dict):
            raise forms.ValidationError("Write a JSON object: { … }.")
        return found


class ManifestForm(forms.Form):
    document = JsonTextField(
        label="Manifest", help_text="A tool manifest; Schemas → ToolManifest explains each field."
    )


class PolicyForm(forms.Form):
    document = JsonTextField(
        label="Policy", help_text="Schemas → Policy explains each field. Raise the version."
    )
    put_in_force = forms.BooleanField(label="Put it in force at once", required=False, initial=True)


class WhyForm(forms.Form):
    tool = forms.ChoiceField()
    version = forms.CharField(
        max_length=100, required=False, help_text="The pinned one when empty; ranges work too."
    )
    arguments = JsonTextField(
        required=False,
        help_text="What the tool is called with, as JSON.",
        widget=forms.Textarea(
            attrs={"rows": 6, "spellcheck": "false", "class": "code", "placeholder": "{}"}
        ),
    )
    agent = forms.CharField(max_length=128, required=False)
    mode = forms.ChoiceField(
        choices=(("normal", "Normal"), ("analysis_only", "Analysis only"), ("dry_run", "Dry run"))
    )

    def __init__(self, *args: Any, tools: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["tool"].choices = [(name, name) for name in tools]  # type: ignore[attr-defined]
