"""Tools: listed, looked at, installed, pinned, registered and checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import click

from omni.cli import output
from omni.cli.command import Group
from omni.cli.documents import file_argument, read_document
from omni.cli.options import json_option, limit_option, with_server, yes_option
from omni.cli.output import Column
from omni.cli.tool_calls import call
from omni.contracts.errors import InvalidInput

if TYPE_CHECKING:
    from omni.cli.client import Client

version_option = click.option("--version", metavar="VERSION", help="Exact version or range.")


@click.group(
    cls=Group,
    examples=("omni tools list apollo", "omni tools install apollo text.count --version '^1.0'"),
)
def tools() -> None:
    """What runs of a project can call.

    A project calls only what is installed in it, in exactly the version that it is pinned to.
    """


tools.add_command(call)


@tools.command("list", examples=("omni tools list apollo", "omni tools list apollo --available"))
@click.argument("project")
@click.option("--available", is_flag=True, help="What could be installed, instead.")
@click.option("--search", "-s", metavar="TEXT", help="With --available: only those with TEXT.")
@limit_option()
@with_server
@json_option
def list_tools(
    client: Client, project: str, available: bool, search: str | None, limit: int, as_json: bool
) -> None:
    """List the tools of a project."""
    from omni.cli.client import path_of

    if search and not available:
        raise click.UsageError("--search goes with --available.")
    kind = "available-tools" if available else "tools"
    rows = list(client.every(path_of("projects", project, kind), limit=limit, q=search))
    if as_json:
        return output.show_json(rows)
    output.show_table(
        [Column("Name", style="bold"), Column("Version"), Column("State"), Column("Risk"),
         Column("Description", wraps=True, spare=True)],
        [[row["name"], row["version"], _state(row), row["risk"], row["description"]]
         for row in rows],
        empty="There are no tools here. `omni tools list PROJECT --available` shows more.",
    )  # fmt: skip


@tools.command(
    "show",
    examples=(
        "omni tools show apollo filesystem.read_file",
        "omni tools show apollo text.count --version 1.1.0 --json",
    ),
)
@click.argument("project")
@click.argument("name")
@version_option
@with_server
@json_option
def show(client: Client, project: str, name: str, version: str | None, as_json: bool) -> None:
    """Show a tool: its manifest, its versions, who uses it."""
    from omni.cli.client import path_of

    row = client.get(path_of("projects", project, "tools", name), version=version)
    if as_json:
        return output.show_json(row)
    manifest = row["manifest"]
    output.show_record(
        {
            "Name": row["name"], "Version": row["version"], "Hash": row["sha256"],
            "Description": row["description"], "Deprecated": row["deprecated"],
            "Risk": row["risk"], "Effects": ", ".join(row["capabilities"]) or "none",
            "Scopes": ", ".join(manifest["scopes"]) or "none",
            "Executor": f"{manifest['executor']['kind']} {manifest['executor']['version']}",
            "Installed": ", ".join(f"{each['version']}{' (pinned)' if each['pinned'] else ''}"
                                   for each in row["installed"]) or "no",
            "Versions": ", ".join(row["available"]),
            "Used by": ", ".join(dict.fromkeys(each["project"] for each in row["used_by"])),
        }
    )  # fmt: skip


@tools.command(
    "install",
    examples=(
        "omni tools install apollo text.count",
        "omni tools install apollo text.count --version 1.1.0 --pin",
    ),
)
@click.argument("project")
@click.argument("name")
@version_option
@click.option("--pin", is_flag=True, help="Make it what the name stands for.")
@with_server
@json_option
def install(
    client: Client, project: str, name: str, version: str | None, pin: bool, as_json: bool
) -> None:
    """Give a project a tool; several versions may stand side by side."""
    from omni.cli.client import path_of

    body: dict[str, Any] = {"name": name, "pin": pin}
    if version:
        body["version"] = version
    row = client.post(path_of("projects", project, "tools"), body)
    if as_json:
        return output.show_json(row)
    output.done(f"{row['name']} {row['version']} is installed in {project}.")


@tools.command(
    "uninstall", examples=("omni tools uninstall apollo text.count --version 1.0.0 --yes",)
)
@click.argument("project")
@click.argument("name")
@click.option("--version", metavar="VERSION", help="Only this version.")
@yes_option
@with_server
@json_option
def uninstall(
    client: Client, project: str, name: str, version: str | None, yes: bool, as_json: bool
) -> None:
    """Take a tool from a project; new runs cannot call it any more."""
    from omni.cli.client import path_of

    wanted = f"{name} {version}" if version else name
    output.confirm(f"Uninstall {wanted} from {project}?", yes=yes)
    query = f"?{urlencode({'version': version})}" if version else ""
    client.delete(path_of("projects", project, "tools", name) + query)
    if as_json:
        return output.show_json({"name": name, "version": version, "uninstalled": True})
    output.done(f"{wanted} is uninstalled from {project}.")


@tools.command("pin", examples=("omni tools pin apollo text.count 1.1.0",))
@click.argument("project")
@click.argument("name")
@click.argument("version")
@with_server
@json_option
def pin_version(client: Client, project: str, name: str, version: str, as_json: bool) -> None:
    """Choose which installed version a tool's name stands for."""
    from omni.cli.client import path_of

    row = client.post(path_of("projects", project, "tools", name, "pin"), {"version": version})
    if as_json:
        return output.show_json(row)
    output.done(f"{name} stands for {version} in {project}; runs that began keep theirs.")


@tools.command(
    "register",
    examples=("omni tools register count.json --project apollo", "omni tools register count.json"),
)
@file_argument
@click.option("--project", "-p", metavar="SLUG", help="For this project only; else for all.")
@with_server
@json_option
def register(client: Client, file: str, project: str | None, as_json: bool) -> None:
    """Publish a manifest; a published version never changes."""
    from omni.cli.client import path_of

    where = path_of("projects", project, "available-tools") if project else path_of("tools")
    row = client.post(where, {"manifest": read_document(file)})
    if as_json:
        return output.show_json(row)
    output.done(f"{row['name']} {row['version']} is published with the hash {row['sha256']}.")


@tools.command(
    "validate", examples=("omni tools validate count.json", "omni tools validate - < count.json")
)
@file_argument
@with_server
@json_option
def validate(client: Client, file: str, as_json: bool) -> None:
    """Check a manifest without publishing it.

    Exit code 8 when it is not valid.
    """
    from omni.cli.client import path_of

    row = client.post(path_of("tools", "validate"), {"manifest": read_document(file)})
    if not row["valid"]:
        place, messages = next(iter(row["errors"].items()))
        raise InvalidInput(
            f"The manifest is not valid at {place}: {messages[0]}", data={"errors": row["errors"]}
        )
    if as_json:
        return output.show_json(row)
    output.done(f"It is valid; its hash is {row['sha256']}.")


def _state(row: dict[str, Any]) -> str:
    if row.get("deprecated"):
        return "deprecated"
    if "pinned" not in row:
        return str(row["origin"])
    return "pinned" if row["pinned"] else "installed"
