"""The settings in effect, and the page of documentation made from them."""

from __future__ import annotations

import os
from dataclasses import fields
from typing import Any
from urllib.parse import urlsplit

import click

from omni import config
from omni.cli import output
from omni.cli.command import Command
from omni.cli.options import json_option
from omni.cli.output import Column

MASK = "••••••••"


@click.command(
    cls=Command,
    examples=(
        "omni settings",
        "omni settings --json | jq '.[] | select(.source != \"default\")'",
        "omni settings --markdown > docs/settings.md",
    ),
)
@click.option("--markdown", is_flag=True, help="Print docs/settings.md: every setting, explained.")
@json_option
def settings(markdown: bool, as_json: bool) -> None:
    """Show every setting in effect.

    Names where each value comes from: the environment, the file .env beside manage.py, or the
    default. Values that are secret are masked.
    """
    if markdown:
        from omni.cli.settings_page import page

        return click.echo(page(), nl=False)
    rows = _effective()
    if as_json:
        return output.show_json(rows)
    output.show_table(
        [Column("Setting", style="bold"), Column("Value", wraps=True), Column("From", spare=True)],
        [[row["name"], row["value"], row["source"]] for row in rows],
    )


def _effective() -> list[dict[str, Any]]:
    from dotenv import dotenv_values

    current = config.load()
    written = dotenv_values(config.ROOT / ".env")
    rows = []
    for spec in fields(config.Config):
        name = f"OMNI_{spec.name.upper()}"
        value = getattr(current, spec.name)
        source = "default"
        if os.environ.get(name, "").strip():
            source = "environment"
        elif name not in os.environ and (written.get(name) or "").strip():
            source = ".env"
        hidden = spec.metadata["secret"]
        rows.append(
            {
                "name": name,
                "value": masked(value) if hidden else as_text(value),
                "source": source,
                "section": spec.metadata["section"],
                "secret": hidden,
            }
        )
    return rows


def as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(value)
    return str(value)


def masked(value: Any) -> str:
    """Enough of an address to recognise it; nothing of anything else."""
    if isinstance(value, tuple):
        return ", ".join(MASK for _ in value)
    if "://" not in str(value):
        return MASK if value else ""
    parts = urlsplit(value)
    user = f"{parts.username or ''}:{MASK}@" if parts.password else ""
    try:
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        port = ""
    return f"{parts.scheme}://{user}{parts.hostname or ''}{port}{parts.path}"
