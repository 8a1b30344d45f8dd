"""What people fill in; the services decide what is accepted."""

from __future__ import annotations

import zoneinfo
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib.auth.forms import (
    AuthenticationForm,
    PasswordChangeForm,
    PasswordResetForm,
    SetPasswordForm,
)

from apps.registry.models import Scope, User
from apps.registry.roles import DESCRIPTIONS, Role
from apps.registry.services.passwords import change_password
from apps.registry.services.people import record_mailed_link
from omni import config

if TYPE_CHECKING:
    _SetPasswordForm = SetPasswordForm[User]
else:
    _SetPasswordForm = SetPasswordForm

LIFETIMES = (7, 30, 90, 180, 365)


class SignInForm(AuthenticationForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.error_messages = {
            "invalid_login": "The address and the password do not belong together. Check both.",
            "inactive": "This account is switched off. Ask an operator.",
        }
        self.fields["username"].label = "Email address"
        self.fields["username"].widget = forms.EmailInput(
            attrs={"autocomplete": "username", "autofocus": True, "maxlength": 254}
        )


class ForgottenPasswordForm(PasswordResetForm):
    email = forms.EmailField(
        label="Email address",
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "email", "autofocus": True}),
    )

    def send_mail(self, *args: Any, **kwargs: Any) -> None:
        super().send_mail(*args, **kwargs)
        context = kwargs.get("context") or args[2]
        record_mailed_link(user=context["user"])


class NewPasswordForm(_SetPasswordForm):
    """Behind a link that an operator or a mail gave."""

    def save(self, commit: bool = True) -> User:
        change_password(user=self.user, password=self.cleaned_data["new_password1"])
        return self.user


class ChangePasswordForm(PasswordChangeForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        wrong = "This is not your present password."
        self.error_messages = {**self.error_messages, "password_incorrect": wrong}
        self.fields["old_password"].label = "Present password"


class ProjectForm(forms.Form):
    name = forms.CharField(max_length=120, widget=forms.TextInput(attrs={"autofocus": True}))
    slug = forms.CharField(
        label="Short name",
        max_length=63,
        required=False,
        help_text="In addresses and for programs: lower-case letters, digits, hyphens. "
        "Made from the name if left empty; it cannot be changed later.",
        widget=forms.TextInput(attrs={"spellcheck": "false", "autocapitalize": "none"}),
    )
    description = forms.CharField(
        max_length=4000, required=False, widget=forms.Textarea(attrs={"rows": 4})
    )


class ProjectSettingsForm(forms.Form):
    name = forms.CharField(max_length=120)
    description = forms.CharField(
        max_length=4000, required=False, widget=forms.Textarea(attrs={"rows": 4})
    )


def _role_field() -> forms.TypedMultipleChoiceField:
    return forms.TypedMultipleChoiceField(
        coerce=Role,
        choices=[(role.value, DESCRIPTIONS[role]) for role in Role],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one role."},
    )


class RolesForm(forms.Form):
    roles = _role_field()


class AddMemberForm(forms.Form):
    email = forms.EmailField(
        label="Email address",
        help_text="They need an account already.",
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )
    roles = _role_field()


class ProfileForm(forms.Form):
    email = forms.CharField(
        label="Email address", disabled=True, required=False, help_text="An operator can change it."
    )
    name = forms.CharField(
        max_length=120,
        required=False,
        help_text="How others see you.",
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    time_zone = forms.ChoiceField(help_text="Times in the workspace are shown in it.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        zones = sorted(zoneinfo.available_timezones())
        self.fields["time_zone"].choices = [(zone, zone.replace("_", " ")) for zone in zones]  # type: ignore[attr-defined]


class TokenForm(forms.Form):
    name = forms.CharField(
        max_length=80,
        help_text="What uses it, such as “nightly import”.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    days = forms.TypedChoiceField(label="Expires after", coerce=int, initial=90)
    scopes = forms.TypedMultipleChoiceField(
        coerce=Scope,
        choices=Scope.choices,
        initial=[Scope.READ],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one scope."},
        help_text="Never more than you may do yourself.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        longest = config.current().token_max_days
        lifetimes = sorted({*(days for days in LIFETIMES if days < longest), longest})
        self.fields["days"].choices = [(days, f"{days} days") for days in lifetimes]  # type: ignore[attr-defined]
