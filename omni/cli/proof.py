"""A run's log itself: read, proved, and what follows from it built anew."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import click

from omni.cli import output
from omni.cli.command import Command
from omni.cli.django import set_up
from omni.cli.errors import ExitCode
from omni.cli.options import json_option, limit_option, with_server
from omni.cli.timeline import line_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omni.cli.client import Client

PAGE = 1000
run_argument = click.argument("run", type=click.UUID)


@click.command(
    "events",
    cls=Command,
    examples=(
        "omni runs events 5ec739f3-d22b-4c55-aaff-1484091887d4",
        "omni runs events 5ec739f3-d22b-4c55-aaff-1484091887d4 --kind tool_call --json",
    ),
)
@run_argument
@click.option("--after", type=click.IntRange(min=0), default=0, help="Leave out events up to this.")
@click.option("--kind", metavar="KIND", help="Only of this kind, such as tool_call.")
@limit_option()
@with_server
@json_option
def events(
    client: Client, run: Any, after: int, kind: str | None, limit: int, as_json: bool
) -> None:
    """Show a run's log as it is now, in order."""
    found = _events(client, str(run), after=after, kind=kind, limit=limit)
    if as_json:
        return output.show_json(list(found))
    for event in found:
        click.echo(line_of(event))


@click.command(
    "verify",
    cls=Command,
    examples=(
        "omni runs verify 5ec739f3-d22b-4c55-aaff-1484091887d4",
        "omni runs verify 5ec739f3-d22b-4c55-aaff-1484091887d4 --json || echo tampered",
    ),
)
@run_argument
@with_server
@json_option
def verify(client: Client, run: Any, as_json: bool) -> int:
    """Prove or disprove a run's log.

    Its numbers, its chain of hashes and its payloads are checked. Exit code 1 when it is broken.
    """
    from omni.cli.client import path_of

    verdict = client.get(path_of("runs", str(run), "verify"))
    if as_json:
        output.show_json(verdict)
    elif verdict["ok"]:
        erased = f", {verdict['erased']} of them erased" if verdict["erased"] else ""
        output.done(f"The log holds: {verdict['events']} events{erased}.")
    else:
        click.echo(f"{output.mark('fail')} Event {verdict['seq']}: {verdict['reason']}.")
    return ExitCode.OK if verdict["ok"] else ExitCode.FAILED


@click.command(
    "rebuild",
    cls=Command,
    examples=(
        "omni runs rebuild 5ec739f3-d22b-4c55-aaff-1484091887d4",
        "omni runs rebuild --all --json",
    ),
)
@click.argument("run", type=click.UUID, required=False)
@click.option("--all", "everything", is_flag=True, help="Every run of this installation.")
@json_option
def rebuild(run: uuid.UUID | None, everything: bool, as_json: bool) -> int:
    """Throw away what was derived from events, and derive it anew.

    Runs on the machine of the installation, while it runs. Says whether what had been kept was the
    same, byte for byte; exit code 1 when it was not.
    """
    if (run is None) != everything:
        raise click.UsageError("Name one run, or say --all.")
    set_up()
    with output.working("Reading events"):
        rebuilt, different = _rebuild(run)
    if as_json:
        output.show_json({"rebuilt": rebuilt, "different": different})
    elif different:
        click.echo(f"{output.mark('fail')} Differed, and are right now: {', '.join(different)}.")
    else:
        how_many = "1 run" if rebuilt == 1 else f"{rebuilt} runs"
        output.done(f"{how_many} rebuilt; all was as kept, byte for byte.")
    return ExitCode.FAILED if different else ExitCode.OK


def _rebuild(run: uuid.UUID | None) -> tuple[int, list[str]]:
    from apps.runs.eventlog.project import rebuild as rebuild_run
    from apps.runs.models import Run
    from omni.contracts.errors import NotFound

    wanted = Run.objects.filter(pk=run) if run else Run.objects.all()
    keys = list(wanted.order_by("created_at").values_list("pk", flat=True))
    if run and not keys:
        raise NotFound("There is no such run on this machine.")
    different = [str(key) for key in keys if not rebuild_run(key)]
    return len(keys), different


def _events(
    client: Client, run: str, *, after: int, kind: str | None, limit: int
) -> Iterator[dict[str, Any]]:
    from omni.cli.client import path_of

    left = limit
    while True:
        size = min(left or PAGE, PAGE)
        page = client.get(path_of("runs", run, "events"), after=after, limit=size, kind=kind)
        yield from page["results"]
        left -= len(page["results"])
        if not page["next"] or (limit and left <= 0):
            return
        after = page["results"][-1]["seq"]
