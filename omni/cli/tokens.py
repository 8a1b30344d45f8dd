"""API tokens: a program's way in, on your behalf."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from omni.cli import output
from omni.cli.command import Group
from omni.cli.options import json_option, limit_option, with_server, yes_option
from omni.cli.output import Column
from omni.cli.text import local_time
from omni.contracts.errors import Conflict, NotFound

if TYPE_CHECKING:
    from omni.cli.client import Client

SCOPES = ("read", "write", "secrets", "admin")


@click.group(
    cls=Group,
    examples=('omni tokens create "nightly import" --scope read', "omni tokens list"),
)
def tokens() -> None:
    """API tokens of your own.

    A token can do what you can do, within its scopes: read, write, secrets (set and delete them),
    admin (members, tokens, people).
    """


@tokens.command(
    "list",
    examples=("omni tokens list", "omni tokens list --json | jq '.[] | select(.usable)'"),
)
@limit_option()
@with_server
@json_option
def list_tokens(client: Client, limit: int, as_json: bool) -> None:
    """List your tokens; the tokens themselves cannot be shown again."""
    rows = list(client.every("/api/tokens", limit=limit))
    if as_json:
        return output.show_json(rows)
    output.show_table(
        [Column("Name", wraps=True, style="bold"), Column("Starts with", spare=True),
         Column("Scopes", wraps=True), Column("State"), Column("Last used", spare=True),
         Column("Id", spare=True)],
        [[row["name"], f"{row['prefix']}…", ", ".join(row["scopes"]), _state(row),
          local_time(row["last_used_at"]), row["id"]] for row in rows],
        empty="You have no tokens. Make one with `omni tokens create NAME --scope read`.",
    )  # fmt: skip


@tokens.command(
    "create",
    examples=(
        'omni tokens create "nightly import" --scope read --days 30',
        "# Piped, only the token is written:",
        "omni tokens create ci -s read -s write > token.txt",
    ),
)
@click.argument("name")
@click.option(
    "--scope", "-s", "scopes", multiple=True, required=True, type=click.Choice(SCOPES),
    help="What it may do; repeat it for several.",
)  # fmt: skip
@click.option("--days", type=click.IntRange(min=1), default=90, show_default=True, help="Its life.")
@with_server
@json_option
def create(client: Client, name: str, scopes: tuple[str, ...], days: int, as_json: bool) -> None:
    """Make a token and show it, this once."""
    body = {"name": name, "scopes": list(scopes), "days": days}
    row = client.post("/api/tokens", body)
    if as_json:
        return output.show_json(row)
    if sys.stdout.isatty():
        output.done(f"Token {row['name']} works until {local_time(row['expires_at'])}.")
        output.note("Copy it now; it cannot be shown again:")
    click.echo(row["token"])


@tokens.command(
    "revoke",
    examples=('omni tokens revoke "nightly import"', "omni tokens revoke omni_Ab3dE --yes"),
)
@click.argument("token", metavar="NAME|ID|START")
@yes_option
@with_server
@json_option
def revoke(client: Client, token: str, yes: bool, as_json: bool) -> None:
    """End a token at once.

    Names it by its id, its name, or the characters it starts with (never the whole token).
    """
    from omni.cli.client import path_of

    row = _find(list(client.every("/api/tokens")), token)
    output.confirm(f"Revoke {row['name']} ({row['prefix']}…)? What uses it stops working.", yes=yes)
    client.delete(path_of("tokens", row["id"]))
    if as_json:
        return output.show_json({"id": row["id"], "name": row["name"], "revoked": True})
    output.done(f"Token {row['name']} is revoked.")


def _find(rows: list[dict[str, Any]], wanted: str) -> dict[str, Any]:
    exact = [row for row in rows if row["id"] == wanted]
    found = exact or [
        row
        for row in rows
        if not row["revoked_at"] and (row["name"] == wanted or row["prefix"].startswith(wanted))
    ]
    if not found:
        raise NotFound("You have no such token in use.", remedy="See `omni tokens list`.")
    if len(found) > 1:
        raise Conflict(
            f"{len(found)} of your tokens match.", remedy="Give the id from `omni tokens list`."
        )
    return found[0]


def _state(row: dict[str, Any]) -> str:
    if row["revoked_at"]:
        return "revoked"
    return f"until {local_time(row['expires_at'])[:10]}" if row["usable"] else "expired"
