"""What people fill in about threads, runs and approvals; the services decide what is accepted."""

from __future__ import annotations

import uuid

from django import forms

from apps.runs.schema_form import JsonField

# An event holds at most 64 KiB; characters may take four bytes each.
LONGEST_MESSAGE = 16_000


class ThreadForm(forms.Form):
    title = forms.CharField(
        max_length=200,
        help_text="What it is about, such as “Plan the launch”.",
        widget=forms.TextInput(attrs={"autofocus": True, "autocomplete": "off"}),
    )


class MessageForm(forms.Form):
    """The composer; leading and trailing space of a message is the writer's business."""

    text = forms.CharField(
        label="Message",
        max_length=LONGEST_MESSAGE,
        error_messages={"required": "Write something first."},
        widget=forms.Textarea(attrs={"rows": 3, "placeholder": "Write a message"}),
    )


class CancelForm(forms.Form):
    reason = forms.CharField(
        max_length=500,
        required=False,
        help_text="Kept in the run's log.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


class RetryForm(forms.Form):
    """Names the run to be, so that a second click does not start a second one."""

    run_id = forms.UUIDField(required=False, widget=forms.HiddenInput, initial=uuid.uuid4)


class FileForm(forms.Form):
    file = forms.FileField(
        max_length=255, allow_empty_file=True, help_text="Kept as it is, under its own name."
    )


class AnswerForm(forms.Form):
    answer = forms.CharField(max_length=40)
    arguments = JsonField(required=False)
    reason = forms.CharField(
        max_length=1000,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
