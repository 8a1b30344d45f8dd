"""What people fill in to store a secret; its value never comes back into a form."""

from __future__ import annotations

from django import forms

from apps.tools.services.secrets import MAX_BYTES


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
