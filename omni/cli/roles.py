"""Roles: what each of them may do in a project."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from omni.cli import output
from omni.cli.command import Command
from omni.cli.options import json_option, with_server
from omni.cli.output import Column

if TYPE_CHECKING:
    from omni.cli.client import Client


@click.command(cls=Command, examples=("omni roles", "omni roles --json | jq -r '.[].name'"))
@with_server
@json_option
def roles(client: Client, as_json: bool) -> None:
    """What each role in a project may do."""
    rows = list(client.every("/api/roles"))
    if as_json:
        return output.show_json(rows)
    output.show_table(
        [Column("Role", style="bold"), Column("What it is for", wraps=True),
         Column("Permissions", wraps=True)],
        [[row["name"], row["description"], ", ".join(each["name"] for each in row["permissions"])]
         for row in rows],
    )  # fmt: skip
