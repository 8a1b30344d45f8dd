"""OpenAPI documents of a project: added, listed, shown with their tools, removed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omni.cli import output
from omni.cli.command import Group
from omni.cli.options import json_option, limit_option, with_server, yes_option
from omni.cli.output import Column
from omni.cli.text import local_time
from omni.contracts.errors import InvalidInput

if TYPE_CHECKING:
    from omni.cli.client import Client

HASH = "9f86d081884c7d65…"
project_option = click.option("--project", "-p", metavar="SLUG", required=True, help="The project.")
base_option = click.option(
    "--base-url", metavar="URL", help="Server to call. [default: the document's first one]"
)
credential_option = click.option("--credential", metavar="NAME", help="Secret that signs calls in.")


@click.group(
    cls=Group,
    examples=(
        "omni openapi add petstore.yaml --project apollo",
        "omni openapi list --project apollo",
    ),
)
def openapi() -> None:
    """OpenAPI documents that give tools.

    A document is kept by the hash of its text, which its tools are pinned to. Adding one installs
    nothing: it shows which tools the document gives, and which operations cannot be tools and why.
    """


@openapi.command(
    "add",
    examples=(
        "omni openapi add petstore.yaml --project apollo",
        "omni openapi add https://api.example.org/openapi.json -p apollo --credential EXAMPLE_KEY",
        "curl -s https://intranet.example/api.json | omni openapi add - -p apollo",
    ),
)
@click.argument("document", metavar="FILE|URL|-")
@project_option
@base_option
@credential_option
@with_server
@json_option
def add(
    client: Client,
    document: str,
    project: str,
    base_url: str | None,
    credential: str | None,
    as_json: bool,
) -> None:
    """Add a document from a file, an address or standard input.

    An address is fetched by the server, which refuses hosts inside its own network.
    """
    remote = document.startswith(("http://", "https://"))
    body: dict[str, Any] = {"url": document} if remote else {"document": _read(document)}
    body |= {k: v for k, v in (("base_url", base_url), ("credential", credential)) if v}
    row = client.post(_path(project), body)
    if as_json:
        return output.show_json(row)
    _show_tools(row)
    output.done(f"{row['title']} is in project {project}: {_counted(row)}.")


@openapi.command("list", examples=("omni openapi list --project apollo",))
@project_option
@limit_option()
@with_server
@json_option
def list_documents(client: Client, project: str, limit: int, as_json: bool) -> None:
    """List the documents of a project."""
    rows = list(client.every(_path(project), limit=limit))
    if as_json:
        return output.show_json(rows)
    output.show_table(
        [Column("Title", style="bold", wraps=True), Column("Version"), Column("Tools"),
         Column("Server", wraps=True), Column("Added", spare=True), Column("SHA-256", wraps=True)],
        [[row["title"], row["api_version"], row["tool_count"], row["base_url"],
          local_time(row["added_at"]), row["sha256"]] for row in rows],
        empty="There are no documents here. Add one with `omni openapi add FILE`.",
    )  # fmt: skip


@openapi.command(
    "show",
    examples=(
        f"omni openapi show {HASH} --project apollo",
        f"omni openapi show {HASH} -p apollo --manifests --json > tools.json",
    ),
)
@click.argument("sha256")
@project_option
@base_option
@credential_option
@click.option("--manifests", is_flag=True, help="With the whole manifests; needs --json.")
@with_server
@json_option
def show(
    client: Client,
    sha256: str,
    project: str,
    base_url: str | None,
    credential: str | None,
    manifests: bool,
    as_json: bool,
) -> None:
    """Show the tools that a document gives."""
    if manifests and not as_json:
        raise click.UsageError("With --manifests, ask for --json.")
    query: dict[str, Any] = {"base_url": base_url, "credential": credential}
    query = {name: value for name, value in query.items() if value}
    if manifests:
        query["manifests"] = "true"
    row = client.get(_path(project, sha256), **query)
    if as_json:
        return output.show_json(row)
    _show_tools(row)
    output.note(f"{row['title']}: {_counted(row)}.")


@openapi.command(
    "install",
    examples=(
        f"omni openapi install {HASH} --project apollo",
        f"omni openapi install {HASH} pets.list_pets --project apollo --credential PETS_KEY",
    ),
)
@click.argument("sha256")
@click.argument("tools", nargs=-1)
@project_option
@base_option
@credential_option
@with_server
@json_option
def install(
    client: Client,
    sha256: str,
    tools: tuple[str, ...],
    project: str,
    base_url: str | None,
    credential: str | None,
    as_json: bool,
) -> None:
    """Install operations of a document as tools: those named, or all."""
    given = {"tools": list(tools), "base_url": base_url, "credential": credential}
    body = {name: value for name, value in given.items() if value}
    rows = client.post(_path(project, sha256, "install"), body)
    if as_json:
        return output.show_json(rows)
    for row in rows:
        output.done(f"{row['name']} {row['version']} is a tool of {project} now.")


@openapi.command("remove", examples=(f"omni openapi remove {HASH} --project apollo",))
@click.argument("sha256")
@project_option
@yes_option
@with_server
@json_option
def remove(client: Client, sha256: str, project: str, yes: bool, as_json: bool) -> None:
    """Remove a document; tools that are pinned to it stop working."""
    output.confirm(f"Remove the document {sha256[:12]} of project {project}?", yes=yes)
    client.delete(_path(project, sha256))
    if as_json:
        return output.show_json({"sha256": sha256, "project": project, "removed": True})
    output.done(f"Document {sha256[:12]} of project {project} is removed.")


def _path(project: str, *rest: str) -> str:
    from omni.cli.client import path_of

    return path_of("projects", project, "openapi", *rest)


def _read(name: str) -> str:
    data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput(
            "The document is not UTF-8 text.", remedy="Give an OpenAPI document as JSON or YAML."
        ) from None


def _show_tools(row: dict[str, Any]) -> None:
    output.show_table(
        [Column("Tool", style="bold", wraps=True), Column("Operation", wraps=True),
         Column("Risk"), Column("Notes", wraps=True, spare=True)],
        [[tool["name"], f"{tool['method']} {tool['path']}", tool["risk"], " ".join(tool["notes"])]
         for tool in row["tools"]],
        empty="The document gives no tool.",
    )  # fmt: skip
    if row["skipped"]:
        output.show_table(
            [Column("Not a tool", wraps=True), Column("Why", wraps=True)],
            [[f"{each['method']} {each['path']}".strip(), each["reason"]]
             for each in row["skipped"]],
        )  # fmt: skip


def _counted(row: dict[str, Any]) -> str:
    count, left = len(row["tools"]), len(row["skipped"])
    tools = "one tool" if count == 1 else f"{count} tools"
    return f"{tools}, {left} skipped" if left else tools
