"""`omni mcp`: the servers of a project that speak the Model Context Protocol."""

from __future__ import annotations

import shlex
import time
from typing import TYPE_CHECKING, Any

import click

from omni.cli import output
from omni.cli.command import Group
from omni.cli.mcp_catalog import catalog
from omni.cli.options import json_option, limit_option, with_server, yes_option
from omni.cli.output import Column
from omni.cli.text import local_time
from omni.contracts.errors import InvalidInput, OmniError, Unavailable

if TYPE_CHECKING:
    from omni.cli.client import Client

TRANSPORTS = ("streamable_http", "sse", "stdio")
PAUSE = 0.5
PATIENCE = 90.0

project_option = click.option(
    "--project", "-p", metavar="SLUG", required=True, help="The project it belongs to."
)
server_argument = click.argument("server")


@click.group(
    cls=Group,
    examples=("omni mcp servers list -p apollo", "omni mcp catalog show tickets -p apollo"),
)
def mcp() -> None:
    """MCP servers and what they offer.

    Nothing of a server is used before somebody accepts its definition.
    """


@click.group(
    cls=Group,
    examples=(
        "omni mcp servers add docs -p apollo --address https://docs.example.org/mcp",
        "omni mcp servers check docs -p apollo",
    ),
)
def servers() -> None:
    """Registered servers: how they are reached and how they fare."""


mcp.add_command(servers)
mcp.add_command(catalog)


@servers.command(
    "list", examples=("omni mcp servers list -p apollo", "omni mcp servers list -p apollo --json")
)
@project_option
@limit_option()
@with_server
@json_option
def list_servers(client: Client, project: str, limit: int, as_json: bool) -> None:
    """List the MCP servers of a project."""
    rows = list(client.every(_path(project), limit=limit))
    if as_json:
        return output.show_json(rows)
    output.show_table(
        [Column("Name", style="bold"), Column("State"), Column("Where", wraps=True),
         Column("Entries"), Column("To look at"), Column("Checked", spare=True)],
        [[row["slug"], _state(row), _where(row), row["entries"], row["waiting"],
          local_time(row["last_checked_at"])] for row in rows],
        empty="There are no MCP servers here. Add one with `omni mcp servers add NAME`.",
    )  # fmt: skip


@servers.command(
    "add",
    examples=(
        "omni mcp servers add docs -p apollo --address https://docs.example.org/mcp",
        "# With a credential, by the name of a secret:",
        "omni mcp servers add crm -p apollo --address https://crm.example.org/mcp "
        "--credential 'Authorization: Bearer secret://CRM'",
        "# A program, in the sandbox:",
        "omni mcp servers add clock -p apollo --command 'mcp-server-time'",
    ),
)
@click.argument("name")
@project_option
@click.option("--address", metavar="URL", help="Where it listens.")
@click.option("--command", metavar="WORDS", help="The program and its arguments, for stdio.")
@click.option(
    "--transport", type=click.Choice(TRANSPORTS),
    help="How it is spoken to. [default: stdio with --command, else streamable_http]",
)  # fmt: skip
@click.option("--credential", "credentials", multiple=True, metavar="PAIR",
              help="`Name: Bearer secret://NAME`; repeat it for several.")  # fmt: skip
@click.option("--value", "values", multiple=True, metavar="PAIR",
              help="A header (or variable) that is no secret: `Name: value`.")  # fmt: skip
@click.option("--egress", multiple=True, metavar="HOST", help="A host the program may reach.")
@click.option("--allow-private", multiple=True, metavar="HOST:PORT",
              help="A private place it may be at; only for operators.")  # fmt: skip
@click.option("--description", default="", help="What it is for.")
@with_server
@json_option
def add(client: Client, name: str, project: str, as_json: bool, **given: Any) -> None:
    """Register a server; a worker checks it at once."""
    row = client.post(_path(project), {"slug": name, **_body(**given)})
    if as_json:
        return output.show_json(row)
    output.done(f"MCP server {name} is registered. See how it fares: omni mcp servers show {name}")


@servers.command("show", examples=("omni mcp servers show docs -p apollo",))
@server_argument
@project_option
@with_server
@json_option
def show(client: Client, server: str, project: str, as_json: bool) -> None:
    """Show how a server is reached and how it fares."""
    row = client.get(_path(project, server))
    if as_json:
        return output.show_json(row)
    _show(row)


@servers.command(
    "check", examples=("omni mcp servers check docs -p apollo",)
)  # fmt: skip
@server_argument
@project_option
@with_server
@json_option
def check(client: Client, server: str, project: str, as_json: bool) -> None:
    """Have a worker check a server now, and say how it went.

    Exit code 1 when the server failed.
    """
    row = client.post(_path(project, server, "check"))
    until = time.monotonic() + PATIENCE
    with output.working(f"Checking {server}"):
        while row["checking"]:
            if time.monotonic() > until:
                raise Unavailable(
                    "No worker has checked it.", remedy="Look at `omni workers list`."
                )
            time.sleep(PAUSE)
            row = client.get(_path(project, server))
    last = next(iter(client.every(_path(project, server, "checks"), limit=1)), None)
    if as_json:
        output.show_json({**row, "check": last})
    elif last is not None and last["ok"]:
        output.done(f"{server} answered in {last['latency_ms']} ms; it offers {row['entries']}.")
    if last is not None and not last["ok"]:
        raise OmniError(last["message"])


@servers.command("remove", examples=("omni mcp servers remove docs -p apollo --yes",))
@server_argument
@project_option
@yes_option
@with_server
@json_option
def remove(client: Client, server: str, project: str, yes: bool, as_json: bool) -> None:
    """Remove a server with its catalog; tools pinned from it stop working."""
    output.confirm(f"Remove the MCP server {server} of project {project}?", yes=yes)
    client.delete(_path(project, server))
    if as_json:
        return output.show_json({"slug": server, "project": project, "removed": True})
    output.done(f"MCP server {server} is removed.")


def _body(
    *,
    address: str | None,
    command: str | None,
    transport: str | None,
    credentials: tuple[str, ...],
    values: tuple[str, ...],
    egress: tuple[str, ...],
    allow_private: tuple[str, ...],
    description: str,
) -> dict[str, Any]:
    if bool(address) == bool(command):
        raise click.UsageError("Say where it is: either --address or --command.")
    is_program = command is not None
    given: dict[str, Any] = {
        "transport": transport or ("stdio" if is_program else "streamable_http"),
        "url": address or "",
        "command": shlex.split(command or ""),
        "credentials": _pairs(credentials),
        "environment" if is_program else "headers": _pairs(values),
        "egress": list(egress),
        "allowed_private": list(allow_private),
        "description": description,
    }
    return {name: value for name, value in given.items() if value}


def _pairs(texts: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for text in texts:
        name, colon, value = text.partition(":")
        if not colon:
            raise InvalidInput(f"“{text}” is no pair.", remedy="Write it as `Name: value`.")
        found[name.strip()] = value.strip()
    return found


def _show(row: dict[str, Any]) -> None:
    output.show_record(
        {
            "Name": row["slug"],
            "Description": row["description"],
            "State": _state(row),
            "Transport": row["transport"],
            "Where": _where(row),
            "Credentials": ", ".join(f"{k}: {v}" for k, v in row["credentials"].items()),
            "Private places": ", ".join(row["allowed_private"]),
            "Calls itself": row["reported_name"],
            "Protocol": row["protocol"],
            "Entries": f"{row['entries']}, {row['waiting']} to look at",
            "Faults": "\n".join(row["faults"]),
            "Checked": local_time(row["last_checked_at"]),
        }
    )


def _state(row: dict[str, Any]) -> str:
    return str(row["status"]) if row["enabled"] else "off"


def _where(row: dict[str, Any]) -> str:
    return row["url"] or shlex.join(row["command"])


def _path(project: str, *parts: str) -> str:
    from omni.cli.client import path_of

    return path_of("projects", project, "mcp", "servers", *parts)
