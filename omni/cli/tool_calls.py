"""`omni tools call`: one call as a run, followed to its end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from omni.cli import output
from omni.cli.command import Command
from omni.cli.errors import ExitCode
from omni.cli.options import json_option, with_server

if TYPE_CHECKING:
    from omni.cli.client import Client


@click.command(
    "call",
    cls=Command,
    examples=(
        "omni tools call apollo filesystem.list depth=2",
        "omni tools call apollo filesystem.write_file --arguments @note.json --mode dry_run",
        "omni tools call apollo python.run code='print(6 * 7)'",
    ),
)
@click.argument("project")
@click.argument("tool")
@click.argument("pairs", nargs=-1, metavar="[NAME=VALUE]…")
@click.option("--arguments", "given", metavar="@FILE|-", help="All arguments as JSON.")
@click.option("--version", metavar="VERSION", help="Exact version or range.")
@click.option("--thread", metavar="ID", help="The thread whose workspace it works in.")
@click.option(
    "--mode",
    type=click.Choice(("normal", "analysis_only", "dry_run")),
    default="normal",
    help="Refuse what would change something, or only say what it would do.",
)
@click.option("--detach", "-d", is_flag=True, help="Do not follow it.")
@with_server
@json_option
def call(
    client: Client,
    project: str,
    tool: str,
    pairs: tuple[str, ...],
    given: str | None,
    version: str | None,
    thread: str | None,
    mode: str,
    detach: bool,
    as_json: bool,
) -> int:
    """Call a tool and follow the call to its end.

    A VALUE is JSON where it can be read so, else text. The policy decides as for every run; what
    it asks is answered with `omni approvals answer`. Exit code 0 when it is done, 1 when it failed.
    """
    from omni.cli.client import path_of
    from omni.cli.runs import follow_to_end

    body: dict[str, Any] = {"tool": tool, "arguments": _arguments(pairs, given), "mode": mode}
    body |= {"version": version} if version else {}
    body |= {"thread_id": thread} if thread else {}
    row = client.post(path_of("projects", project, "calls"), body)
    if detach:
        if as_json:
            output.show_json(row)
        else:
            output.done(f"Run {row['id']} is queued. Follow it: `omni runs tail {row['id']}`")
        return ExitCode.OK
    if not as_json:
        output.note(f"Run {row['id']}")
    return follow_to_end(client, row["id"], after=0, everything=False, as_json=as_json)


def _arguments(pairs: tuple[str, ...], given: str | None) -> Any:
    from omni.cli.api import read_data

    arguments = read_data(given, "--arguments") if given else {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise click.UsageError(f"“{pair}” is not NAME=VALUE.")
        arguments[name] = _value(text)
    return arguments


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
