"""Any request to the API, for what has no command of its own."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omni.cli import output
from omni.cli.command import Command
from omni.cli.options import json_option, with_server
from omni.contracts.errors import InvalidInput

if TYPE_CHECKING:
    from omni.cli.client import Client

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


@click.command(
    cls=Command,
    examples=(
        "omni api GET /api/me",
        "omni api GET '/api/audit?action=signed_in&page_size=5'",
        "omni api POST /api/projects --data @project.json",
        """echo '{"name": "Apollo 11"}' | omni api PATCH /api/projects/apollo --data -""",
    ),
)
@click.argument("method", type=click.Choice(METHODS, case_sensitive=False))
@click.argument("path")
@click.option(
    "--data", metavar="@FILE|-", help="JSON to send, from a file or (-) from standard input."
)
@with_server
@json_option
def api(client: Client, method: str, path: str, data: str | None, as_json: bool) -> None:
    """Call any address of the API.

    PATH begins with /api/; /api/docs/ of the server lists the addresses. The answer is printed as
    JSON. Data never comes from the command line itself, where others could see it. A POST carries
    a fresh Idempotency-Key but, unlike in other commands, is not repeated when its answer is lost.
    """
    if "://" in path or path.startswith("//"):
        raise click.UsageError("PATH is an address below the server, such as /api/me.")
    address = path if path.startswith("/") else f"/{path}"
    content: dict[str, Any] = {"json": read_data(data)} if data is not None else {}
    response = client.send(method.upper(), address, repeat=method.upper() != "POST", **content)
    if response.headers.get("content-type", "").partition(";")[0].endswith("json"):
        output.show_json(response.json())
    elif response.content:
        click.echo(response.content, nl=False)


def read_data(data: str, option: str = "--data") -> Any:
    """JSON from a file (`@FILE`) or from standard input (`-`)."""
    if data == "-":
        text = sys.stdin.read()
    elif data.startswith("@"):
        try:
            text = Path(data[1:]).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            raise InvalidInput(f"{data[1:]} cannot be read: {reason}.") from None
    else:
        raise click.UsageError(f"{option} takes @FILE, or - for standard input.")
    try:
        return json.loads(text)
    except ValueError as error:
        raise InvalidInput(f"The data is not JSON: {error}.") from None
