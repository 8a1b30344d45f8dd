"""Runs: found, started, followed, steered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from omni.cli import output
from omni.cli.audit import Moment
from omni.cli.command import Group
from omni.cli.errors import ExitCode
from omni.cli.options import json_option, limit_option, with_server
from omni.cli.output import Column
from omni.cli.proof import events, rebuild, verify
from omni.cli.text import local_time
from omni.cli.timeline import UNTOLD, line_of

if TYPE_CHECKING:
    from omni.cli.client import Client

STATUSES = ("queued", "running", "waiting_permission", "done", "failed", "cancelled")
run_argument = click.argument("run", type=click.UUID)


@click.group(
    cls=Group,
    examples=(
        'omni runs start apollo "What is left to do?"',
        "omni runs list --project apollo --status running",
        "omni runs verify 5ec739f3-d22b-4c55-aaff-1484091887d4",
    ),
)
def runs() -> None:
    """Runs: start, follow, steer and prove them.

    A run is one execution with its own log. RUN is its id, as `omni runs list` shows it.
    """


@runs.command(
    "list",
    examples=(
        "omni runs list",
        "omni runs list --project apollo --status failed --since 7d",
        "omni runs list --json | jq -r '.[].id'",
    ),
)
@click.option("--project", "-p", metavar="SLUG", help="Only of this project.")
@click.option("--thread", metavar="ID", help="Only of this thread.")
@click.option("--status", type=click.Choice(STATUSES), help="Only in this state.")
@click.option("--kind", "run_kind", metavar="KIND", help="Only of this kind, such as echo.")
@click.option("--since", type=Moment(), help="Started since: 2h, 7d, or a date.")
@limit_option(50)
@with_server
@json_option
def list_runs(client: Client, limit: int, as_json: bool, **filters: str | None) -> None:
    """List runs, the newest first."""
    rows = list(client.every("/api/runs", limit=limit, **filters))
    if as_json:
        return output.show_json(rows)
    output.show_table(
        [Column("Id"), Column("Status", style="bold"), Column("Kind"),
         Column("Project", wraps=True, spare=True), Column("Events", spare=True),
         Column("Started", spare=True)],
        [[row["id"], row["status"], row["run_kind"], row["project"], row["last_seq"],
          local_time(row["created_at"])] for row in rows],
        empty="There are no such runs. Start one with `omni runs start PROJECT TEXT`.",
    )  # fmt: skip


@runs.command("show", examples=("omni runs show 5ec739f3-d22b-4c55-aaff-1484091887d4",))
@run_argument
@with_server
@json_option
def show(client: Client, run: Any, as_json: bool) -> None:
    """Show a run: its state, what it used, what it waits for."""
    from omni.cli.client import path_of

    row = client.get(path_of("runs", str(run)))
    if as_json:
        return output.show_json(row)
    usage = row["usage"]
    output.show_record(
        {
            "Id": row["id"],
            "Status": f"{row['status']} {row['reason']}".strip(),
            "Waits for": row["waits_for"],
            "Kind": row["run_kind"],
            "Project": row["project"],
            "Thread": row["thread"],
            "Parent": row["parent"],
            "Worker": row["worker"],
            "Children": ", ".join(f"{each['id']} ({each['status']})" for each in row["children"]),
            "Approvals": ", ".join(f"{a['title']} ({a['id']})" for a in row["pending_approvals"]),
            "Events": row["last_seq"],
            "Steps": row["steps_done"] or "",
            "Model calls": usage["model_calls"] or "",
            "Tokens": usage["total_tokens"] or "",
            "Cost": ", ".join(f"{amount} {unit}" for unit, amount in usage["cost"].items()),
            "Started": local_time(row["created_at"]),
            "Ended": local_time(row["ended_at"], never=""),
        }
    )


@runs.command(
    "start",
    examples=(
        'omni runs start apollo "What is left to do?"',
        "omni runs start apollo --kind script --input @steps.json --detach",
        'omni runs start apollo "And then?" --thread 13dbabbe-4bf7-46a4-bea1-21ca9fd74460',
    ),
)
@click.argument("project")
@click.argument("text", default="")
@click.option("--thread", metavar="ID", help="The thread it belongs to. [default: a new one]")
@click.option("--kind", default="echo", show_default=True, help="What decides its course.")
@click.option("--input", "given", metavar="@FILE|-", help="JSON that the kind works on.")
@click.option(
    "--mode",
    type=click.Choice(("normal", "analysis_only", "dry_run")),
    default="normal",
    help="Refuse what would change something, or only say what it would do.",
)
@click.option("--detach", "-d", is_flag=True, help="Do not follow it.")
@with_server
@json_option
def start(
    client: Client,
    project: str,
    text: str,
    thread: str | None,
    kind: str,
    given: str | None,
    mode: str,
    detach: bool,
    as_json: bool,
) -> int:
    """Start a run and follow it to its end.

    Exit code 0 when it is done, 1 when it failed or was cancelled. Ctrl-C stops following, not the
    run. With --json the events come one per line; with --detach the run itself.
    """
    from omni.cli.api import read_data
    from omni.cli.client import path_of

    content = read_data(given, "--input") if given else {}
    if thread is None:
        title = (text or f"{kind} run").strip()[:80] or kind
        thread = client.post(path_of("projects", project, "threads"), {"title": title})["id"]
    body = {"run_kind": kind, "input": content} | ({"text": text} if text else {})
    if mode != "normal":
        body["mode"] = mode
    row = client.post(path_of("threads", str(thread), "runs"), body)
    if detach:
        if as_json:
            output.show_json(row)
        else:
            output.done(f"Run {row['id']} is queued. Follow it: `omni runs tail {row['id']}`")
        return ExitCode.OK
    if not as_json:
        output.note(f"Run {row['id']} of thread {thread}")
    return follow_to_end(client, row["id"], after=0, everything=False, as_json=as_json)


@runs.command(
    "tail",
    examples=(
        "omni runs tail 5ec739f3-d22b-4c55-aaff-1484091887d4",
        "omni runs tail 5ec739f3-d22b-4c55-aaff-1484091887d4 --json | jq -c .payload",
    ),
)
@run_argument
@click.option("--after", type=click.IntRange(min=0), default=0, help="Leave out events up to this.")
@click.option("--all", "everything", is_flag=True, help="Also deltas and changes of worker.")
@with_server
@json_option
def tail(client: Client, run: Any, after: int, everything: bool, as_json: bool) -> int:
    """Follow a run to its end.

    Every event once, also over lost connections. With --json each is one line, in the very bytes of
    the server. Exit code 0 when the run is done, 1 when it failed or was cancelled.
    """
    return follow_to_end(client, str(run), after=after, everything=everything, as_json=as_json)


@runs.command(
    "cancel", examples=('omni runs cancel 5ec739f3-d22b-4c55-aaff-1484091887d4 --reason "Done."',)
)
@run_argument
@click.option("--reason", default="", help="Why; kept in its log.")
@with_server
@json_option
def cancel(client: Client, run: Any, reason: str, as_json: bool) -> None:
    """Stop a run and its children; twice or too late is harmless."""
    from omni.cli.client import path_of

    answer = client.post(path_of("runs", str(run), "cancel"), {"reason": reason} if reason else {})
    if as_json:
        return output.show_json(answer)
    if answer["cancelled"]:
        return output.done(f"Run {run} is being cancelled.")
    output.note(f"Nothing to cancel: {answer['reason']}")


@runs.command("resume", examples=("omni runs resume 5ec739f3-d22b-4c55-aaff-1484091887d4",))
@run_argument
@with_server
@json_option
def resume(client: Client, run: Any, as_json: bool) -> None:
    """Have a worker look at a run that stands still."""
    from omni.cli.client import path_of

    row = client.post(path_of("runs", str(run), "resume"))
    if as_json:
        return output.show_json(row)
    output.done(f"Run {run} is looked at ({row['status']}).")


@runs.command("retry", examples=("omni runs retry 5ec739f3-d22b-4c55-aaff-1484091887d4",))
@run_argument
@with_server
@json_option
def retry(client: Client, run: Any, as_json: bool) -> None:
    """Start an ended run anew, with the same input."""
    from omni.cli.client import path_of

    row = client.post(path_of("runs", str(run), "retry"))
    if as_json:
        return output.show_json(row)
    output.done(f"Run {row['id']} is queued. Follow it: `omni runs tail {row['id']}`")


@runs.command(
    "rollback",
    examples=(
        "omni runs rollback 5ec739f3-d22b-4c55-aaff-1484091887d4",
        "omni runs rollback 5ec739f3-d22b-4c55-aaff-1484091887d4 --event 7",
    ),
)
@run_argument
@click.option("--event", "seq", type=click.IntRange(min=1), help="Only what this event changed.")
@with_server
@json_option
def rollback(client: Client, run: Any, seq: int | None, as_json: bool) -> None:
    """Put the files back that a run changed, by another run.

    A file that somebody has changed since is left alone, and the policy decides as for any run.
    """
    from omni.cli.client import path_of

    body = {} if seq is None else {"seq": seq}
    row = client.post(path_of("runs", str(run), "rollback"), body)
    if as_json:
        return output.show_json(row)
    output.done(f"Run {row['id']} puts the files back. Follow it: `omni runs tail {row['id']}`")


for command in (events, verify, rebuild):
    runs.add_command(command)


def follow_to_end(client: Client, run: str, *, after: int, everything: bool, as_json: bool) -> int:
    from omni.cli.follow import follow_run

    status = ""
    for message in follow_run(client, run, after=after):
        if message.event == "end":
            status = str(message.content["status"])
        elif as_json:
            click.echo(message.data)
        else:
            event = message.content
            if everything or (event["name"] or event["kind"]) not in UNTOLD:
                click.echo(line_of(event))
    return ExitCode.OK if status == "done" else ExitCode.FAILED
