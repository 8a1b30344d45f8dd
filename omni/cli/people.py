"""People: added, invited and switched off by operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from omni.cli import output
from omni.cli.command import Group
from omni.cli.directory import find_account
from omni.cli.errors import ApiError
from omni.cli.options import json_option, limit_option, with_server, yes_option
from omni.cli.output import Column
from omni.cli.text import local_time
from omni.contracts.errors import ErrorCategory

if TYPE_CHECKING:
    from omni.cli.client import Client

email_argument = click.argument("email")
name_option = click.option("--name", default="", help="How others see them.")
operator_option = click.option(
    "--operator", is_flag=True, help="Let them sign in to the admin console."
)


@click.group(
    cls=Group,
    examples=("omni people invite eve@example.org --name Eve", "omni people list"),
)
def people() -> None:
    """People who may sign in.

    For operators. A person who has acted is switched off, never deleted: the audit log refers to
    them.
    """


@people.command(
    "list",
    examples=("omni people list", "omni people list --search eve", "omni people list --json"),
)
@click.option("--search", "-s", metavar="TEXT", help="Only those with TEXT in address or name.")
@click.option(
    "--active/--inactive", default=None, help="Only accounts that are switched on or off."
)
@limit_option()
@with_server
@json_option
def list_people(
    client: Client, search: str | None, active: bool | None, limit: int, as_json: bool
) -> None:
    """List everybody who has an account."""
    state = None if active is None else str(active).lower()
    rows = list(client.every("/api/people", limit=limit, q=search, active=state))
    if as_json:
        return output.show_json(rows)
    output.show_table(
        [Column("Email", style="bold"), Column("Name", wraps=True), Column("Operator"),
         Column("Active"), Column("Last sign-in", spare=True)],
        [[row["email"], row["name"], _yes(row["is_staff"]), _yes(row["is_active"]),
          local_time(row.get("last_login"))] for row in rows],
        empty="There is nobody of that kind.",
    )  # fmt: skip


@people.command("add", examples=("omni people add eve@example.org --name Eve",))
@email_argument
@name_option
@operator_option
@with_server
@json_option
def add(client: Client, email: str, name: str, operator: bool, as_json: bool) -> None:
    """Add a person, without a way to sign in yet.

    `omni people invite` adds the person and makes the link with which they choose a password.
    """
    row = _create(client, email, name, operator)
    if as_json:
        return output.show_json(row)
    output.done(f"{row['email']} is added; `omni people invite {row['email']}` makes the link.")


@people.command(
    "invite",
    examples=(
        "omni people invite eve@example.org --name Eve",
        "omni people invite eve@example.org --json | jq -r .link",
    ),
)
@email_argument
@name_option
@operator_option
@with_server
@json_option
def invite(client: Client, email: str, name: str, operator: bool, as_json: bool) -> None:
    """Add a person if need be, and make a link to choose a password.

    Hand the link over on a safe way: whoever opens it first sets the password. It works once, for
    three days. For somebody who forgot the password it works as well.
    """
    from omni.cli.client import path_of

    try:
        row = _create(client, email, name, operator)
    except ApiError as error:
        if error.category is not ErrorCategory.CONFLICT:
            raise
        row = find_account(client, email)
    link = client.post(path_of("people", row["id"], "password-link"))["link"]
    if as_json:
        return output.show_json({**row, "link": link})
    output.done(f"{row['email']} chooses a password here, once, within three days:")
    click.echo(link)


@people.command("deactivate", examples=("omni people deactivate eve@example.org --yes",))
@email_argument
@yes_option
@with_server
@json_option
def deactivate(client: Client, email: str, yes: bool, as_json: bool) -> None:
    """Switch an account off; its tokens and sessions stop working."""
    output.confirm(f"Switch off the account of {email}?", yes=yes)
    _switch(client, email, active=False, as_json=as_json)


@people.command("activate", examples=("omni people activate eve@example.org",))
@email_argument
@with_server
@json_option
def activate(client: Client, email: str, as_json: bool) -> None:
    """Switch an account on again."""
    _switch(client, email, active=True, as_json=as_json)


def _create(client: Client, email: str, name: str, operator: bool) -> dict[str, Any]:
    row: dict[str, Any] = client.post(
        "/api/people", {"email": email, "name": name, "is_staff": operator}
    )
    return row


def _switch(client: Client, email: str, *, active: bool, as_json: bool) -> None:
    from omni.cli.client import path_of

    person = find_account(client, email)
    row = client.patch(path_of("people", person["id"]), {"is_active": active})
    if as_json:
        return output.show_json(row)
    output.done(f"The account of {row['email']} is switched {'on' if active else 'off'}.")


def _yes(value: bool) -> str:
    return "yes" if value else "no"
