"""The installation on this machine: start, stop, look, check, delete. None of it needs Django."""

from __future__ import annotations

import re
import sys
import time
from datetime import UTC, datetime
from typing import Any

import click

from omni.cli import output
from omni.cli.command import Command
from omni.cli.errors import ExitCode
from omni.cli.options import json_option, yes_option
from omni.cli.output import Column
from omni.cli.text import clean, paint
from omni.contracts.errors import NotFound

_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "red")


@click.command(
    cls=Command,
    examples=("omni up", "omni up --detach", "OMNI_PORT=9000 OMNI_HOME=~/omni-two omni up"),
)
@click.option("--detach", "-d", is_flag=True, help="Return when ready; stop with `omni down`.")
def up(detach: bool) -> int:
    """Start Omni on this machine.

    Starts the embedded PostgreSQL and Redis (unless OMNI_DATABASE_URL and OMNI_REDIS_URL name
    others), brings the database up to date, and runs web server, worker and beat until Ctrl-C. The
    first start makes the administrator and shows the password once. Exit code 7: it runs already.
    """
    from omni import config
    from omni.services import commands

    code = commands.up(config.load(), detach=detach)
    return ExitCode.CONFLICT if code == commands.ALREADY_RUNNING else code


@click.command(cls=Command, examples=("omni down",))
def down() -> int:
    """Stop it, with all its processes.

    Data is kept. Harmless when nothing runs.
    """
    from omni import config
    from omni.services import commands

    return commands.down(config.load())


@click.command(
    cls=Command,
    examples=(
        "omni status",
        "omni status --json | jq -r '.processes[] | select(.restarts > 0) | .name'",
        "omni status > /dev/null || omni up --detach",
    ),
)
@json_option
def status(as_json: bool) -> int:
    """Show what runs here and how it fares.

    Exit code 0 when it runs, 3 when it does not.
    """
    from omni import config
    from omni.services.running import running_status

    found = running_status(config.load())
    code = ExitCode.OK if found.running else ExitCode.UNREACHABLE
    if as_json:
        output.show_json(_in_utc(found.as_json()))
    elif not found.running:
        click.echo("Omni is not running. Start it with `omni up`.")
    else:
        click.echo(f"Omni is {found.phase} at {found.url} (supervisor {found.pid}).\n")
        output.show_table(
            [Column("Process", style="bold"), Column("State"), Column("Pid", spare=True),
             Column("Up for", spare=True), Column("Restarts"), Column("Last exit", wraps=True)],
            [
                [each.name, each.state, each.pid or "-", _since(each.started_at), each.restarts,
                 each.last_exit or "-"]
                for each in found.processes
            ],
            empty="No process was started yet.",
        )  # fmt: skip
    return code


@click.command(
    cls=Command,
    examples=("omni logs", "omni logs web -f", "omni logs worker -n 500 | grep task_failed"),
)
@click.argument("name", required=False, default="")
@click.option("--follow", "-f", is_flag=True, help="Go on until Ctrl-C.")
@click.option(
    "--lines", "-n", type=click.IntRange(min=0), default=100, show_default=True, metavar="N",
    help="Begin with the last N lines of each.",
)  # fmt: skip
@json_option
def logs(name: str, follow: bool, lines: int, as_json: bool) -> None:
    """Show the logs of its processes.

    NAME is one of web, worker, beat, postgres, redis, supervisor; without it all are shown. A
    terminal gets them in words, a pipe as they are in the files (folder `logs` of OMNI_HOME).
    """
    from omni import config
    from omni.services import commands
    from omni.telemetry.readable import readable

    names = {each: index for index, each in enumerate(commands.log_names(config.load()))}
    if not names:
        output.note("There are no logs yet: Omni was never started here.")
        return
    if name and name not in names:
        raise NotFound(f"There is no log named {name}.", remedy=f"Known logs: {', '.join(names)}.")
    for process, line in commands.follow_logs(config.load(), name=name, follow=follow, lines=lines):
        if as_json:
            output.show_json_line({"process": process, "line": line})
            continue
        colour = _COLOURS[names.get(process, 0) % len(_COLOURS)]
        prefix = "" if name else paint(f"{process:<10} | ", colour, stream=sys.stdout)
        for each in readable(line) if sys.stdout.isatty() else [line]:
            click.echo(prefix + clean(_ANSI.sub("", each)))


@click.command(
    cls=Command,
    examples=("omni reset", "omni down && omni reset --yes && omni up"),
)
@yes_option
@json_option
def reset(yes: bool, as_json: bool) -> None:
    """Delete all data of this installation.

    Database, queues, logs and keys in OMNI_HOME are gone afterwards; external databases are not
    touched. Refuses while Omni runs.
    """
    from omni import config
    from omni.services import commands

    settings = config.load()

    def agreed() -> bool:
        output.confirm(
            f"Delete the database, queues, logs and keys in {settings.home}? This is final.",
            yes=yes,
        )
        return True

    gone = commands.reset(settings, confirm=agreed)
    if as_json:
        output.show_json({"home": str(settings.home), "deleted": gone})
    elif gone:
        output.done(f"Deleted from {settings.home}: {', '.join(gone)}.")
    else:
        output.note(f"There is nothing to delete in {settings.home}.")


def _in_utc(value: Any) -> Any:
    """Times as ISO 8601 instead of seconds since 1970."""
    if isinstance(value, list):
        return [_in_utc(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: datetime.fromtimestamp(each, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        if key in ("started_at", "next_start") and each is not None
        else _in_utc(each)
        for key, each in value.items()
    }


def _since(started_at: float | None) -> str:
    if not started_at:
        return "-"
    minutes, seconds = divmod(max(0, int(time.time() - started_at)), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days}d {hours}h"
    return f"{hours}h {minutes}m" if hours else f"{minutes}m {seconds}s"
