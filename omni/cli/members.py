"""Members of a project and the roles they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from omni.cli import output
from omni.cli.command import Command
from omni.cli.directory import find_member
from omni.cli.options import json_option, role_option, with_server, yes_option
from omni.cli.output import Column

if TYPE_CHECKING:
    from omni.cli.client import Client


@click.command(
    "members", cls=Command,
    examples=("omni projects members apollo", "omni projects members apollo --json | jq length"),
)  # fmt: skip
@click.argument("slug")
@with_server
@json_option
def members(client: Client, slug: str, as_json: bool) -> None:
    """List a project's members and their roles."""
    from omni.cli.client import path_of

    rows = list(client.every(path_of("projects", slug, "members")))
    if as_json:
        return output.show_json(rows)
    output.show_table(
        [Column("Email", style="bold"), Column("Name", wraps=True), Column("Roles", wraps=True)],
        [[row["email"], row["name"], ", ".join(row["roles"])] for row in rows],
    )


@click.command(
    "add-member", cls=Command,
    examples=(
        "omni projects add-member apollo eve@example.org --role viewer",
        "omni projects add-member apollo bob@example.org -r operator -r approver",
    ),
)  # fmt: skip
@click.argument("slug")
@click.argument("email")
@role_option
@with_server
@json_option
def add_member(
    client: Client, slug: str, email: str, roles: tuple[str, ...], as_json: bool
) -> None:
    """Make a person a member of a project.

    The person must have an account here; operators make one with `omni people invite`.
    """
    from omni.cli.client import path_of

    row = client.post(path_of("projects", slug, "members"), {"email": email, "roles": list(roles)})
    _say(row, f"{email} is now {' and '.join(roles)} of {slug}.", as_json=as_json)


@click.command(
    "set-roles", cls=Command,
    examples=("omni projects set-roles apollo eve@example.org --role viewer --role reviewer",),
)  # fmt: skip
@click.argument("slug")
@click.argument("email")
@role_option
@with_server
@json_option
def set_roles(client: Client, slug: str, email: str, roles: tuple[str, ...], as_json: bool) -> None:
    """Give a member exactly these roles."""
    from omni.cli.client import path_of

    member = find_member(client, slug, email)
    path = path_of("projects", slug, "members", member["user_id"])
    row = client.put(path, {"roles": list(roles)})
    _say(row, f"{email} is now {' and '.join(roles)} of {slug}.", as_json=as_json)


@click.command(
    "remove-member", cls=Command,
    examples=("omni projects remove-member apollo eve@example.org --yes",),
)  # fmt: skip
@click.argument("slug")
@click.argument("email")
@yes_option
@with_server
@json_option
def remove_member(client: Client, slug: str, email: str, yes: bool, as_json: bool) -> None:
    """Take all roles in a project from a person."""
    from omni.cli.client import path_of

    member = find_member(client, slug, email)
    output.confirm(f"Remove {email} from {slug}?", yes=yes)
    client.delete(path_of("projects", slug, "members", member["user_id"]))
    _say(
        {"email": email, "removed": True},
        f"{email} is no longer a member of {slug}.",
        as_json=as_json,
    )


def _say(row: Any, sentence: str, *, as_json: bool) -> None:
    if as_json:
        output.show_json(row)
    else:
        output.done(sentence)
