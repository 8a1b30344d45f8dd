"""Which server you use and who you are there."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from omni.cli import credentials, output
from omni.cli.command import Command
from omni.cli.options import json_option, with_server
from omni.cli.target import Target, checked_token, normalised, refuse_leak
from omni.contracts.errors import NotFound

if TYPE_CHECKING:
    from omni.cli.client import Client


@click.command(
    cls=Command,
    examples=(
        "omni login https://omni.example.org",
        "# In a script, the token comes on standard input:",
        "omni login https://omni.example.org < token.txt",
    ),
)
@click.argument("url")
@click.option("--insecure", is_flag=True, help="Accept http to another machine.")
@json_option
def login(url: str, insecure: bool, as_json: bool) -> None:
    """Remember a server and a token for it.

    Asks for an API token (make one in the workspace under Account → API tokens), checks it, and
    saves it for this user only, in ~/.config/omni/credentials.json. Later commands use this server.
    """
    from omni.cli.client import Client

    address = normalised(url)
    refuse_leak(address, insecure=insecure)
    token = checked_token(_ask_token(address))
    with Client(Target(address, token, "login")) as client:
        me = client.get("/api/me")
    file = credentials.save(address, token=token, email=me["email"])
    if as_json:
        output.show_json({"server": address, "email": me["email"], "file": str(file)})
    else:
        output.done(f"You are {me['email']} at {address}. Saved in {file}.")
    if os.environ.get("OMNI_URL") or os.environ.get("OMNI_TOKEN"):
        output.warn("OMNI_URL and OMNI_TOKEN are set and win over the saved login.")


@click.command(cls=Command, examples=("omni logout", "omni logout https://omni.example.org"))
@click.argument("url", required=False)
@json_option
def logout(url: str | None, as_json: bool) -> None:
    """Forget the token of a server.

    Without URL, of the server you logged in to last. The token itself stays valid until it expires;
    `omni tokens revoke` ends it at once.
    """
    address = normalised(url) if url else credentials.default_server()
    if not address or not credentials.forget(address):
        raise NotFound(
            f"There is no saved login for {address}." if address else "There is no saved login.",
            remedy="`omni login URL` makes one.",
        )
    if as_json:
        output.show_json({"server": address, "forgotten": True})
    else:
        output.done(f"The token for {address} is forgotten.")


@click.command(cls=Command, examples=("omni whoami", "omni whoami --json | jq -r .email"))
@with_server
@json_option
def whoami(client: Client, as_json: bool) -> None:
    """Show who you are, and where.

    Also tells which server was chosen and where its token was found.
    """
    me: dict[str, Any] = client.get("/api/me")
    where = {"server": client.target.url, "token_from": client.target.token_from}
    if as_json:
        output.show_json({**me, **where})
        return
    output.show_record(
        {
            "Name": me.get("name"),
            "Email": me["email"],
            "Time zone": me.get("time_zone"),
            "Operator": "yes" if me.get("is_staff") else "",
            "Server": where["server"],
            "Token from": where["token_from"],
        }
    )


def _ask_token(address: str) -> str:
    if not sys.stdin.isatty():
        return sys.stdin.read(4096)
    output.note(f"Make a token at {address}/account/tokens and paste it here; it is not shown.")
    answer: str = click.prompt("Token", hide_input=True, err=True)
    return answer
