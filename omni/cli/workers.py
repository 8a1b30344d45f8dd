"""Workers and beat, as they last reported."""

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


@click.group(cls=Group, examples=("omni workers list",))
def workers() -> None:
    """Processes that execute runs.

    Workers execute, beat keeps the time. One that stops reporting counts as gone.
    """


@workers.command(
    "list",
    examples=("omni workers list", "omni workers list --all --kind beat"),
)
@click.option("--kind", type=click.Choice(["worker", "beat"]), help="Only this kind.")
@click.option("--all", "everything", is_flag=True, help="Those that are gone, too.")
@limit_option()
@with_server
@json_option
def list_workers(
    client: Client, kind: str | None, everything: bool, limit: int, as_json: bool
) -> None:
    """List workers and beat."""
    alive = None if everything else "true"
    rows = list(client.every("/api/workers", limit=limit, kind=kind, alive=alive))
    if as_json:
        return output.show_json(rows)
    output.show_table(
        [Column("Kind", style="bold"), Column("Machine", wraps=True), Column("Pid"),
         Column("State"), Column("Slots", spare=True), Column("Started", spare=True),
         Column("Last report")],
        [[row["kind"], row["node_id"], row["pid"], "alive" if row["alive"] else "gone",
          row["concurrency"], local_time(row["started_at"]), local_time(row["seen_at"])]
         for row in rows],
        empty="No worker is alive. Start one with `omni up`, or see `omni logs worker`.",
    )  # fmt: skip
