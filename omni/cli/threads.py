"""Threads: listed and begun."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from omni.cli import output
from omni.cli.command import Group
from omni.cli.options import json_option, limit_option, with_server
from omni.cli.output import Column
from omni.cli.text import local_time

if TYPE_CHECKING:
    from omni.cli.client import Client


@click.group(
    cls=Group,
    examples=("omni threads list apollo", 'omni threads create apollo "Landing sites"'),
)
def threads() -> None:
    """Lines of work within a project.

    Runs belong to a thread, as messages belong to a conversation.
    """


@threads.command(
    "list",
    examples=("omni threads list apollo", "omni threads list apollo --search sites --archived any"),
)
@click.argument("project")
@click.option("--search", "-s", metavar="TEXT", help="Only those with TEXT in the title.")
@click.option(
    "--archived", type=click.Choice(["false", "true", "any"]), default="false", show_default=True,
    help="Archived ones: hide, only, or both.",
)  # fmt: skip
@limit_option()
@with_server
@json_option
def list_threads(
    client: Client, project: str, search: str | None, archived: str, limit: int, as_json: bool
) -> None:
    """List the threads of a project, the latest active first."""
    from omni.cli.client import path_of

    where = path_of("projects", project, "threads")
    rows = list(client.every(where, limit=limit, q=search, archived=archived))
    if as_json:
        return output.show_json(rows)
    output.show_table(
        [Column("Id"), Column("Title", wraps=True, style="bold"), Column("Runs", spare=True),
         Column("Active", spare=True)],
        [[row["id"], row["title"], row["runs"], local_time(row["updated_at"])] for row in rows],
        empty="There are no such threads. `omni runs start` begins one.",
    )  # fmt: skip


@threads.command("create", examples=('omni threads create apollo "Landing sites"',))
@click.argument("project")
@click.argument("title")
@with_server
@json_option
def create(client: Client, project: str, title: str, as_json: bool) -> None:
    """Begin a thread, to start runs in."""
    from omni.cli.client import path_of

    row = client.post(path_of("projects", project, "threads"), {"title": title})
    if as_json:
        return output.show_json(row)
    output.done(f"Thread {row['title']} has the id {row['id']}.")
