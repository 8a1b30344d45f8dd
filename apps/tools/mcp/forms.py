"""What people fill in to register an MCP server, one thing per line where there are several."""

from __future__ import annotations

import shlex
from typing import Any

from django import forms

from apps.tools.models import McpServer
from apps.tools.models.mcp import SERVER_SLUG

PLAIN = {"autocomplete": "off", "spellcheck": "false"}


def lines(rows: int = 2, placeholder: str = "") -> forms.Textarea:
    return forms.Textarea(attrs={**PLAIN, "rows": rows, "placeholder": placeholder})


class ServerForm(forms.Form):
    slug = forms.CharField(
        label="Name",
        max_length=40,
        validators=[SERVER_SLUG],
        help_text="In addresses and in names of tools: mcp.NAME.tool.",
        widget=forms.TextInput(attrs={**PLAIN, "placeholder": "tickets"}),
    )
    description = forms.CharField(max_length=200, required=False)
    transport = forms.ChoiceField(
        choices=McpServer.Transport.choices,
        help_text="A program runs in the sandbox, or not at all.",
    )
    url = forms.CharField(
        label="Address",
        max_length=2000,
        required=False,
        help_text="Of a server over HTTP. Private addresses are for operators to allow.",
        widget=forms.TextInput(attrs={**PLAIN, "placeholder": "https://mcp.example.org/mcp"}),
    )
    command = forms.CharField(
        max_length=4000,
        required=False,
        help_text="Of a program: it and its arguments, as in a shell; no shell runs it.",
        widget=forms.TextInput(
            attrs={**PLAIN, "placeholder": "mcp-server-time --local-timezone UTC"}
        ),
    )
    credentials = forms.CharField(
        required=False,
        help_text="One per line: the header (or the program's variable) and a secret by its name.",
        widget=lines(placeholder="Authorization: Bearer secret://TICKETS_TOKEN"),
    )
    plain_values = forms.CharField(
        label="Headers or variables",
        required=False,
        help_text="One per line, none of them a secret.",
        widget=lines(placeholder="X-Tenant: office"),
    )
    egress = forms.CharField(
        label="Hosts",
        required=False,
        help_text="One per line: hosts that a program may reach. None means no network.",
        widget=lines(),
    )

    def clean_command(self) -> list[str]:
        try:
            return shlex.split(self.cleaned_data["command"])
        except ValueError:
            raise forms.ValidationError("A quotation mark is missing.") from None

    def clean_credentials(self) -> dict[str, str]:
        return _pairs(self.cleaned_data["credentials"])

    def clean_plain_values(self) -> dict[str, str]:
        return _pairs(self.cleaned_data["plain_values"])

    def clean_egress(self) -> list[str]:
        return str(self.cleaned_data["egress"]).split()

    def clean(self) -> dict[str, Any]:
        """As the service takes it: what is plain is a header or a variable by the transport."""
        data = super().clean() or self.cleaned_data
        values = data.pop("plain_values", {})
        is_program = data.get("transport") == McpServer.Transport.STDIO
        data["environment" if is_program else "headers"] = values
        data["headers" if is_program else "environment"] = {}
        return data


class ChangeForm(ServerForm):
    enabled = forms.BooleanField(
        label="Switched on", required=False, help_text="Off: it is neither checked nor used."
    )
    field_order = ("enabled",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["slug"]


def initial_of(server: McpServer) -> dict[str, Any]:
    """A server as its form shows it."""
    values = server.environment or server.headers
    return {
        "description": server.description,
        "transport": server.transport,
        "url": server.url,
        "command": shlex.join(server.command),
        "credentials": _text(server.credentials),
        "plain_values": _text(values),
        "egress": "\n".join(server.egress),
        "enabled": server.enabled,
    }


def _pairs(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, colon, value = line.partition(":")
        if not colon or name.strip() in found:
            raise forms.ValidationError(f"Write “Name: value”, each name once: {line[:60]}")
        found[name.strip()] = value.strip()
    return found


def _text(pairs: dict[str, str]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in pairs.items())
