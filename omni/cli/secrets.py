"""Secrets: set without showing, listed by name, resealed when their key changes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from omni.cli import output
from omni.cli.command import Group
from omni.cli.options import json_option, limit_option, project_option, with_server, yes_option
from omni.cli.output import Column
from omni.cli.rotate_key import rotate_key
from omni.cli.text import local_time
from omni.contracts.errors import InvalidInput

if TYPE_CHECKING:
    from omni.cli.client import Client

LARGEST = 64 * 1024


@click.group(
    cls=Group,
    examples=(
        "omni secrets set OPENAI_KEY --project apollo",
        "omni secrets list --project apollo",
    ),
)
def secrets() -> None:
    """Secrets of a project or the platform.

    A secret can be set, replaced and deleted; nobody can read it back. Tools receive it by its
    name. A project's own secret wins over the platform's of the same name.
    """


@secrets.command(
    "list", examples=("omni secrets list --project apollo", "omni secrets list --json")
)
@project_option
@limit_option()
@with_server
@json_option
def list_secrets(client: Client, project: str | None, limit: int, as_json: bool) -> None:
    """List names and dates of secrets, never their values."""
    rows = list(client.every(_path(project), limit=limit))
    if as_json:
        return output.show_json(rows)
    output.show_table(
        [Column("Name", style="bold"), Column("Description", wraps=True),
         Column("Set by", wraps=True), Column("Set"), Column("Last used", spare=True)],
        [[row["name"], row["description"], row["set_by"], local_time(row["updated_at"]),
          local_time(row["last_used_at"])] for row in rows],
        empty="There are no secrets here. Set one with `omni secrets set NAME`.",
    )  # fmt: skip


@secrets.command(
    "set",
    examples=(
        "# Asks for the value without showing it:",
        "omni secrets set OPENAI_KEY --project apollo",
        "# From a file or another program; one final line break is dropped:",
        "omni secrets set DEPLOY_KEY -p apollo < deploy.key",
        "pass show openai | omni secrets set OPENAI_KEY",
    ),
)
@click.argument("name")
@project_option
@click.option("--description", help="What it is for.")
@with_server
@json_option
def set_secret(
    client: Client, name: str, project: str | None, description: str | None, as_json: bool
) -> None:
    """Store or replace a secret.

    The value comes from standard input or a hidden prompt, never from the command line, where other
    users of the machine and the shell's history would see it.
    """
    body = {"value": _read_value(name)}
    if description is not None:
        body["description"] = description
    row = client.put(_path(project, name), body)
    if as_json:
        return output.show_json(row)
    output.done(f"Secret {name} of {_owner(project)} is set.")


@secrets.command(
    "delete",
    examples=("omni secrets delete OPENAI_KEY --project apollo", "omni secrets delete OLD --yes"),
)
@click.argument("name")
@project_option
@yes_option
@with_server
@json_option
def delete(client: Client, name: str, project: str | None, yes: bool, as_json: bool) -> None:
    """Delete a secret; what refers to it stops working."""
    output.confirm(f"Delete the secret {name} of {_owner(project)}?", yes=yes)
    client.delete(_path(project, name))
    if as_json:
        return output.show_json({"name": name, "project": project, "deleted": True})
    output.done(f"Secret {name} of {_owner(project)} is deleted.")


secrets.add_command(rotate_key)


def _path(project: str | None, *name: str) -> str:
    from omni.cli.client import path_of

    return path_of(*(("projects", project) if project else ()), "secrets", *name)


def _owner(project: str | None) -> str:
    return f"project {project}" if project else "the platform"


def _read_value(name: str) -> str:
    if sys.stdin.isatty():
        value: str = click.prompt(f"Value of {name}", hide_input=True, err=True)
        return value
    data = sys.stdin.buffer.read(LARGEST + 2)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise InvalidInput(
            "A secret must be text.", remedy="Encode it first, such as with `base64`."
        ) from None
    text = text.removesuffix("\n").removesuffix("\r")
    if not text:
        raise InvalidInput("A secret cannot be empty.", remedy="Pipe its value into this command.")
    return text
