"""`omni mcp catalog`: what a server offers, what changed, and accepting it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from omni.cli import output
from omni.cli.command import Group
from omni.cli.options import json_option, with_server
from omni.cli.output import Column
from omni.cli.text import clean, local_time
from omni.contracts.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from omni.cli.client import Client

KINDS = ("tool", "resource", "prompt")
STATES = ("new", "accepted", "changed", "removed", "quarantined")
WAITING = ("new", "changed", "quarantined")
project_option = click.option(
    "--project", "-p", metavar="SLUG", required=True, help="The project of the server."
)


@click.group(
    cls=Group,
    examples=(
        "omni mcp catalog show docs -p apollo",
        "omni mcp catalog diff docs -p apollo",
        "omni mcp catalog accept docs search -p apollo",
    ),
)
def catalog() -> None:
    """What servers offer; only what somebody accepted is used."""


@catalog.command(
    "show",
    examples=(
        "omni mcp catalog show docs -p apollo",
        "# One entry with its definition:",
        "omni mcp catalog show docs search -p apollo --json",
    ),
)
@click.argument("server")
@click.argument("name", required=False)
@project_option
@click.option("--kind", type=click.Choice(KINDS), help="Only of this kind.")
@click.option("--state", type=click.Choice(STATES), help="Only in this state.")
@with_server
@json_option
def show(
    client: Client,
    server: str,
    name: str | None,
    project: str,
    kind: str | None,
    state: str | None,
    as_json: bool,
) -> None:
    """Show the catalog of a server, or one entry of it with its definition."""
    rows = _entries(client, project, server, kind=kind, state=state)
    if name is not None:
        return _show_one(client, project, server, _named(rows, name), as_json=as_json)
    if as_json:
        return output.show_json(rows)
    output.show_table(
        [Column("Name", style="bold", wraps=True), Column("Kind"), Column("State"),
         Column("Problem", wraps=True), Column("Accepted by", wraps=True, spare=True)],
        [[row["name"], row["kind"], row["state"], row["problem"], row["accepted_by"] or ""]
         for row in rows],
        empty="The server has shown nothing yet.",
    )  # fmt: skip


@catalog.command(
    "diff",
    examples=(
        "omni mcp catalog diff docs -p apollo",
        "omni mcp catalog diff docs -p apollo --before 3 --after 5",
    ),
)
@click.argument("server")
@project_option
@click.option("--before", type=int, help="The older version. [default: the one before]")
@click.option("--after", type=int, help="The newer version. [default: the last one]")
@with_server
@json_option
def diff(
    client: Client, server: str, project: str, before: int | None, after: int | None, as_json: bool
) -> None:
    """Show what changed between two versions of a catalog."""
    found = client.get(_path(project, server, "diff"), before=before, after=after)
    if as_json:
        return output.show_json(found)
    for change in found["changes"]:
        was = f" (was {change['was']})" if change["was"] else ""
        click.echo(clean(f"{change['what']} {change['kind']} {change['name']}{was}"))
        for line in change["lines"]:
            click.echo(clean(f"  {line['sign'] or ' '} {line['text']}"))
    if not found["changes"]:
        output.note("Nothing changed.")


@catalog.command("pin", examples=("omni mcp catalog pin docs search -p apollo",))
@click.argument("server")
@click.argument("name")
@project_option
@click.option(
    "--risk",
    type=click.Choice(("low", "medium", "high", "critical")),
    help="Your own judgement of a wrong call. [default: medium or high]",
)
@with_server
@json_option
def pin(
    client: Client, server: str, name: str, project: str, risk: str | None, as_json: bool
) -> None:
    """Pin an accepted entry as a tool of the project, like any other tool."""
    entry = _named(_entries(client, project, server, kind="tool"), name)
    body = {"risk": risk} if risk else {}
    row = client.post(_path(project, server, "entries", entry["id"], "pin"), body)
    if as_json:
        return output.show_json(row)
    output.done(f"{row['name']} {row['version']} is a tool of {project} now.")


@catalog.command(
    "accept",
    examples=(
        "omni mcp catalog accept docs search read -p apollo",
        "omni mcp catalog accept docs --all -p apollo",
    ),
)
@click.argument("server")
@click.argument("names", nargs=-1)
@project_option
@click.option("--all", "everything", is_flag=True, help="Everything that nobody accepted yet.")
@with_server
@json_option
def accept(
    client: Client,
    server: str,
    names: tuple[str, ...],
    project: str,
    everything: bool,
    as_json: bool,
) -> None:
    """Accept entries as they are now; from then on they can be used.

    Look at them first, with `omni mcp catalog show` and `omni mcp catalog diff`.
    """
    if everything == bool(names):
        raise click.UsageError("Name the entries to accept, or say --all.")
    rows = _entries(client, project, server)
    if everything:
        chosen = [row for row in rows if row["state"] in WAITING and not row["problem"]]
    else:
        chosen = [_named(rows, name) for name in names]
    if not chosen:
        raise InvalidInput("There is nothing to accept.")
    sent = [{"id": row["id"], "sha256": row["definition_sha256"]} for row in chosen]
    found = client.post(_path(project, server, "accept"), {"entries": sent})["entries"]
    if as_json:
        return output.show_json(found)
    output.done(f"Accepted: {', '.join(row['name'] for row in found)}.")


def _show_one(
    client: Client, project: str, server: str, row: dict[str, Any], *, as_json: bool
) -> None:
    import json

    entry = client.get(_path(project, server, "entries", row["id"]))
    if as_json:
        return output.show_json(entry)
    output.show_record(
        {
            "Name": entry["name"],
            "Kind": entry["kind"],
            "State": entry["state"],
            "Problem": entry["problem"],
            "SHA-256": entry["definition_sha256"],
            "Accepted by": entry["accepted_by"] or "",
            "Seen": local_time(entry["seen_at"]),
            "Definition": json.dumps(entry["definition"], indent=2, ensure_ascii=False),
        }
    )


def _named(rows: list[dict[str, Any]], name: str) -> dict[str, Any]:
    found = [row for row in rows if row["name"] == name]
    if not found:
        raise NotFound(f"The server shows no {name}.", remedy="See `omni mcp catalog show`.")
    return found[0]


def _entries(client: Client, project: str, server: str, **asked: Any) -> list[dict[str, Any]]:
    return list(client.every(_path(project, server, "entries"), **asked))


def _path(project: str, *parts: str) -> str:
    from omni.cli.client import path_of

    return path_of("projects", project, "mcp", "servers", *parts)
