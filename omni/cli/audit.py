"""The audit log: who did what, and what was refused."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from omni.cli import output
from omni.cli.command import Group
from omni.cli.directory import find_person
from omni.cli.options import json_option, limit_option, with_server
from omni.cli.output import Column
from omni.cli.text import clean, local_time

if TYPE_CHECKING:
    from omni.cli.client import Client

POLL_SECONDS = 2.0
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


class Moment(click.ParamType[str]):
    """`2h`, `7d`, or a date and time in ISO form, local unless it names a zone."""

    name = "WHEN"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if ago := re.fullmatch(r"(\d{1,5})([mhdw])", str(value)):
            moment = datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
            return moment.isoformat()
        try:
            return datetime.fromisoformat(str(value)).astimezone(UTC).isoformat()
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is no time, such as 2h, 7d, 2026-01-31 or 2026-01-31T08:00.")


@click.group(cls=Group, examples=("omni audit list --denied --since 7d",))
def audit() -> None:
    """Who did what, and what was refused.

    Shows what you did yourself, and what happened in projects whose audit log you may read.
    """


@audit.command(
    "list",
    examples=(
        "omni audit list --since 2h",
        "omni audit list --project apollo --denied",
        "omni audit list --action secret_set --limit 0 --json",
        "omni audit list --follow --json | jq -c 'select(.allowed | not)'",
    ),
)
@click.option("--project", "-p", metavar="SLUG", help="Only in this project.")
@click.option("--action", metavar="NAME", help="Only this action, such as signed_in.")
@click.option("--actor", metavar="EMAIL", help="Only by this person; `me` for yourself.")
@click.option("--denied", is_flag=True, help="Only what was refused.")
@click.option("--since", type=Moment(), help="Not older: 2h, 7d, or a date.")
@click.option("--until", type=Moment(), help="Not newer.")
@click.option("--follow", "-f", is_flag=True, help="Go on with new entries until Ctrl-C.")
@limit_option(50)
@with_server
@json_option
def list_entries(
    client: Client,
    actor: str | None,
    denied: bool,
    follow: bool,
    limit: int,
    as_json: bool,
    **filters: str | None,
) -> None:
    """List entries of the audit log, the newest first.

    With --follow the oldest comes first, and JSON is one object per line.
    """
    person = find_person(client, actor, filters["project"]) if actor else None
    query = {**filters, "actor": person, "allowed": "false" if denied else None}
    if follow:
        return _follow(client, query, limit=limit, as_json=as_json)
    with output.working("Reading the audit log"):
        rows = list(client.every("/api/audit", limit=limit, **query))
    if as_json:
        return output.show_json(rows)
    output.show_table(
        [Column("When"), Column("Who", wraps=True), Column("What", style="bold"),
         Column("On", wraps=True), Column("Project", wraps=True, spare=True), Column("Result")],
        [_cells(row) for row in rows],
        empty="There is nothing of that kind in the audit log.",
    )  # fmt: skip


def _follow(client: Client, query: dict[str, Any], *, limit: int, as_json: bool) -> None:
    for row in _as_they_come(client, query, limit):
        if as_json:
            output.show_json_line(row)
        else:
            click.echo("  ".join(clean(cell) for cell in _cells(row) if cell))


def _as_they_come(client: Client, query: dict[str, Any], limit: int) -> Iterator[dict[str, Any]]:
    newest = 0
    while True:
        fresh: list[dict[str, Any]] = []
        # Only the first look is limited; what comes later is never skipped.
        for row in client.every("/api/audit", limit=0 if newest else limit, **query):
            if row["id"] <= newest:
                break
            fresh.append(row)
        yield from reversed(fresh)
        newest = max([newest, *(row["id"] for row in fresh)])
        time.sleep(POLL_SECONDS)


def _cells(row: dict[str, Any]) -> list[str]:
    return [
        local_time(row["at"]),
        row["actor_label"] or "-",
        row["action"],
        row["target_label"],
        row["project"] or "",
        "done" if row["allowed"] else "refused",
    ]
