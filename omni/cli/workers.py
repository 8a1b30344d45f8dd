"""Workers and beat, as they last reported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from omni.cli import output
from omni.cli.command import Group
from omni.cli.options import json_option, limit_option, with_server
from omni.cli.output import Column
from omni.cli.text import local_time

if TYPE_CHECKING:
    from omni.cli.client import Client


STATES = ("starting", "idle", "busy", "running", "draining", "stopped", "lost")


@click.group(cls=Group, examples=("omni workers list", "omni workers list --state lost"))
def workers() -> None:
    """Processes that execute runs.

    Workers execute, beat keeps the time. One that stops reporting without a word is lost.
    """


@workers.command(
    "list",
    examples=("omni workers list", "omni workers list --all --kind beat"),
)
@click.option("--kind", type=click.Choice(["worker", "beat"]), help="Only this kind.")
@click.option("--state", type=click.Choice(STATES), help="Only in this state.")
@click.option("--all", "everything", is_flag=True, help="Those that stopped or are lost, too.")
@limit_option()
@with_server
@json_option
def list_workers(
    client: Client,
    kind: str | None,
    state: str | None,
    everything: bool,
    limit: int,
    as_json: bool,
) -> None:
    """List workers and beat, and how many runs each drives now."""
    alive = None if everything or state else "true"
    rows = list(client.every("/api/workers", limit=limit, kind=kind, state=state, alive=alive))
    if as_json:
        return output.show_json(rows)
    output.show_table(
        [Column("Id", spare=True), Column("Kind", style="bold"), Column("Machine", wraps=True),
         Column("Pid"), Column("State"), Column("Runs"), Column("Slots", spare=True),
         Column("Started", spare=True), Column("Last report")],
        [[row["id"], row["kind"], row["node_id"], row["pid"], row["state"], row["busy"],
          row["concurrency"], local_time(row["started_at"]), local_time(row["seen_at"])]
         for row in rows],
        empty="There is none. Start one with `omni up`, or see `omni logs worker`.",
    )  # fmt: skip


@workers.command("show", examples=("omni workers show c4a760a8-dbcf-4e14-9f39-645a8e8b2f11",))
@click.argument("worker", type=click.UUID)
@with_server
@json_option
def show(client: Client, worker: Any, as_json: bool) -> None:
    """Show one process and the runs that it drives now."""
    from omni.cli.client import path_of

    row = client.get(path_of("workers", str(worker)))
    if as_json:
        return output.show_json(row)
    unseen = row["busy"] - len(row["current_runs"])
    runs = [f"{run['id']} ({run['project']}, {run['run_kind']})" for run in row["current_runs"]]
    output.show_record(
        {
            "Id": row["id"],
            "Kind": row["kind"],
            "State": row["state"],
            "Runs": ", ".join(runs + ([f"{unseen} that you do not see"] if unseen > 0 else [])),
            "Machine": row["node_id"],
            "Pid": row["pid"],
            "Queues": ", ".join(row["queues"]),
            "Slots": row["concurrency"],
            "Version": row["version"],
            "Started": local_time(row["started_at"]),
            "Ready": local_time(row["ready_at"], never=""),
            "Last report": local_time(row["seen_at"]),
            "Draining": local_time(row["draining_at"], never=""),
            "Stopped": local_time(row["stopped_at"], never=""),
        }
    )
