"""Files of runs: listed, fetched, given."""

from __future__ import annotations

import hashlib
import mimetypes
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from omni.cli import output
from omni.cli.command import Group
from omni.cli.options import json_option, limit_option, with_server
from omni.cli.output import Column
from omni.cli.text import local_time
from omni.contracts.errors import OmniError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omni.cli.client import Client

CHUNK = 1 << 18
run_argument = click.argument("run", type=click.UUID)
RUN = "5ec739f3-d22b-4c55-aaff-1484091887d4"


@click.group(
    cls=Group, examples=(f"omni artifacts list {RUN}", f"omni artifacts put {RUN} notes.md")
)
def artifacts() -> None:
    """Files of runs.

    A file is named by the SHA-256 of its content and reached through a run that refers to it.
    """


@artifacts.command("list", examples=(f"omni artifacts list {RUN}",))
@run_argument
@limit_option()
@with_server
@json_option
def list_artifacts(client: Client, run: Any, limit: int, as_json: bool) -> None:
    """List the files of a run, the latest first."""
    from omni.cli.client import path_of

    rows = list(client.every(path_of("runs", str(run), "artifacts"), limit=limit))
    if as_json:
        return output.show_json(rows)
    output.show_table(
        [Column("Name", wraps=True, style="bold"), Column("Bytes"), Column("Type", spare=True),
         Column("SHA-256", wraps=True), Column("Added", spare=True)],
        [[row["name"], row["size"], row["media_type"], row["sha256"],
          local_time(row["created_at"])] for row in rows],
        empty="This run has no files.",
    )  # fmt: skip


@artifacts.command(
    "get",
    examples=(
        f"omni artifacts get {RUN} 9f86d08… --output notes.md",
        f"omni artifacts get {RUN} 9f86d08… | less",
    ),
)
@run_argument
@click.argument("sha256")
@click.option("--output", "-o", "target", type=click.Path(dir_okay=False), help="Write to FILE.")
@with_server
@json_option
def get(client: Client, run: Any, sha256: str, target: str | None, as_json: bool) -> None:
    """Fetch a file and check that it is the one that was named.

    Goes to standard output, or to --output; --json needs --output.
    """
    if target is None:
        if as_json:
            raise click.UsageError("With --json, name a file with --output.")
        if sys.stdout.isatty():
            raise click.UsageError("Name a file with --output, or send the content into a pipe.")
        _fetch(client, str(run), sha256, sys.stdout.buffer)
        return
    # Beside the target first: a broken transfer must not leave half a file under its name.
    partial = Path(f"{target}.part")
    try:
        with partial.open("wb") as file:
            size = _fetch(client, str(run), sha256, file)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    if as_json:
        return output.show_json({"sha256": sha256, "size": size, "file": target})
    output.done(f"{size} bytes are in {target}.")


@artifacts.command(
    "put",
    examples=(
        f"omni artifacts put {RUN} notes.md",
        f"omni artifacts put {RUN} data.bin --name results --media-type application/x-numbers",
    ),
)
@run_argument
@click.argument("file", type=click.Path(dir_okay=False, exists=True, path_type=Path))
@click.option("--name", help="What to call it. [default: the file's own name]")
@click.option("--media-type", metavar="TYPE", help="Its kind. [default: from the file's ending]")
@with_server
@json_option
def put(
    client: Client, run: Any, file: Path, name: str | None, media_type: str | None, as_json: bool
) -> None:
    """Give a run a file, while it has not ended."""
    from omni.cli.client import path_of

    kind = media_type or mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    with file.open("rb") as content:
        row = client.send(
            "POST",
            path_of("runs", str(run), "artifacts"),
            params={"name": name or file.name},
            headers={"Content-Type": kind, "Content-Length": str(file.stat().st_size)},
            repeat=False,
            content=_pieces(content),
        ).json()
    if as_json:
        return output.show_json(row)
    output.done(f"{row['name']} has the SHA-256 {row['sha256']}.")


def _pieces(content: BinaryIO) -> Iterator[bytes]:
    while chunk := content.read(CHUNK):
        yield chunk


def _fetch(client: Client, run: str, sha256: str, target: BinaryIO) -> int:
    from omni.cli.client import path_of

    summed, size = hashlib.sha256(), 0
    with client.stream(f"{path_of('artifacts', sha256)}?run={run}") as response:
        for chunk in response.iter_bytes():
            summed.update(chunk)
            target.write(chunk)
            size += len(chunk)
    target.flush()
    if summed.hexdigest() != sha256:
        raise OmniError("What arrived does not match its hash.", remedy="Fetch it again.")
    return size
