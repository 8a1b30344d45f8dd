"""Questions of runs: listed and answered."""

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

STATES = ("pending", "answered", "expired", "withdrawn")


@click.group(
    cls=Group,
    examples=(
        "omni approvals list",
        "omni approvals answer 0b6f2c1e-6c1d-4f5a-9a3e-2f1d7c8b9a01 approve",
    ),
)
def approvals() -> None:
    """Questions that runs ask people.

    The first answer counts; the run goes on with it.
    """


@approvals.command(
    "list",
    examples=("omni approvals list", "omni approvals list --project apollo --state any --json"),
)
@click.option("--project", "-p", metavar="SLUG", help="Only of this project.")
@click.option(
    "--state", type=click.Choice([*STATES, "any"]), default="pending", show_default=True,
    help="Only in this state.",
)  # fmt: skip
@limit_option()
@with_server
@json_option
def list_approvals(
    client: Client, project: str | None, state: str, limit: int, as_json: bool
) -> None:
    """List approvals, the newest first."""
    wanted = None if state == "any" else state
    rows = list(client.every("/api/approvals", limit=limit, project=project, state=wanted))
    if as_json:
        return output.show_json(rows)
    output.show_table(
        [Column("Id"), Column("Question", wraps=True, style="bold"),
         Column("Answers", wraps=True), Column("State", spare=True),
         Column("Project", wraps=True, spare=True), Column("Asked", spare=True)],
        [[row["id"], row["title"], row["answer"] or " | ".join(row["options"]), row["state"],
          row["project"], local_time(row["requested_at"])] for row in rows],
        empty="Nothing waits for an answer.",
    )  # fmt: skip


@approvals.command(
    "answer",
    examples=(
        "omni approvals answer 0b6f2c1e-6c1d-4f5a-9a3e-2f1d7c8b9a01 approve",
        'omni approvals answer 0b6f2c1e-6c1d-4f5a-9a3e-2f1d7c8b9a01 deny --reason "Too early."',
    ),
)
@click.argument("approval", type=click.UUID)
@click.argument("answer")
@click.option("--reason", default="", help="Why; kept in the run's log.")
@with_server
@json_option
def answer_question(client: Client, approval: Any, answer: str, reason: str, as_json: bool) -> None:
    """Answer an approval with one of its options.

    Exit code 7 when somebody else answered before.
    """
    from omni.cli.client import path_of

    body = {"answer": answer} | ({"reason": reason} if reason else {})
    row = client.post(path_of("approvals", str(approval), "answer"), body)
    if as_json:
        return output.show_json(row)
    output.done(f"{row['title']} {row['answer']}")
