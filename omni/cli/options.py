"""Options that many commands share, each with one wording."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., Any])

ROLES = ("owner", "operator", "approver", "viewer", "publisher", "reviewer")

json_option = click.option("--json", "as_json", is_flag=True, help="Answer in JSON, for programs.")
yes_option = click.option("--yes", "-y", is_flag=True, help="Do not ask first.")
project_option = click.option(
    "--project", "-p", metavar="SLUG", help="The project; without it, the whole platform."
)
role_option = click.option(
    "--role",
    "-r",
    "roles",
    multiple=True,
    required=True,
    type=click.Choice(ROLES),
    help="A role to give; repeat it for several. `omni roles` explains them.",
)


def limit_option(default: int | None = None) -> Callable[[Function], Function]:
    shown = f"{default}; 0 for all" if default else "all"
    return click.option(
        "--limit",
        "-n",
        type=click.IntRange(min=0),
        default=default or 0,
        metavar="N",
        help=f"Show at most N. [default: {shown}]",
    )


def with_server(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that name a server, and the connection as its first argument."""

    @click.option("--url", metavar="URL", help="Server to talk to. [default: see `omni --help`]")
    @click.option(
        "--token-file",
        metavar="FILE",
        type=click.Path(dir_okay=False, exists=True),
        help="File that holds the API token. [default: OMNI_TOKEN, or the saved login]",
    )
    @click.option(
        "--insecure", is_flag=True, help="Send the token over http to another machine all the same."
    )
    @functools.wraps(command)
    def connected(
        *args: Any, url: str | None, token_file: str | None, insecure: bool, **kwargs: Any
    ) -> Any:
        from omni.cli.client import Client
        from omni.cli.target import find_target

        target = find_target(url=url, token_file=token_file, insecure=insecure)
        with Client(target) as client:
            return command(client, *args, **kwargs)

    return connected
