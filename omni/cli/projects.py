"""Projects: listed, made, changed, archived."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from omni.cli import output
from omni.cli.command import Group
from omni.cli.members import add_member, members, remove_member, set_roles
from omni.cli.options import json_option, limit_option, with_server, yes_option
from omni.cli.output import Column
from omni.cli.text import local_time

if TYPE_CHECKING:
    from omni.cli.client import Client

slug_argument = click.argument("slug")


@click.group(
    cls=Group,
    examples=("omni projects list", "omni projects create Apollo", "omni projects show apollo"),
)
def projects() -> None:
    """Projects and their members.

    A project is a space with members, secrets and work; only its members see it. SLUG is its short
    name, the one in addresses.
    """


@projects.command(
    "list",
    examples=(
        "omni projects list",
        "omni projects list --search moon --archived any",
        "omni projects list --json | jq -r '.[].slug'",
    ),
)
@click.option("--search", "-s", metavar="TEXT", help="Only those with TEXT in name or description.")
@click.option(
    "--archived", type=click.Choice(["false", "true", "any"]), default="false", show_default=True,
    help="Archived ones: hide, only, or both.",
)  # fmt: skip
@limit_option()
@with_server
@json_option
def list_projects(
    client: Client, search: str | None, archived: str, limit: int, as_json: bool
) -> None:
    """List the projects you are a member of."""
    with output.working("Reading projects"):
        rows = list(client.every("/api/projects", limit=limit, q=search, archived=archived))
    if as_json:
        return output.show_json(rows)
    output.show_table(
        [Column("Slug", style="bold"), Column("Name", wraps=True),
         Column("Description", wraps=True), Column("Created", spare=True)],
        [[row["slug"], _name(row), row["description"], local_time(row["created_at"])]
         for row in rows],
        empty="There are no such projects. Make one with `omni projects create NAME`.",
    )  # fmt: skip


@projects.command(
    "show", examples=("omni projects show apollo", "omni projects show apollo --json")
)
@slug_argument
@with_server
@json_option
def show(client: Client, slug: str, as_json: bool) -> None:
    """Show a project: its name, its description, its dates."""
    from omni.cli.client import path_of

    _show(client.get(path_of("projects", slug)), as_json=as_json)


@projects.command(
    "create",
    examples=(
        "omni projects create Apollo",
        'omni projects create "Moon landing" --slug moon --description "Crewed."',
    ),
)
@click.argument("name")
@click.option("--slug", help="The short name in addresses. [default: made from NAME]")
@click.option("--description", default="", help="What it is for.")
@with_server
@json_option
def create(client: Client, name: str, slug: str | None, description: str, as_json: bool) -> None:
    """Make a project; you become its owner."""
    body = {"name": name, "description": description} | ({"slug": slug} if slug else {})
    row = client.post("/api/projects", body)
    if as_json:
        return output.show_json(row)
    output.done(f"Project {row['name']} is at {client.target.url}/projects/{row['slug']}/")


@projects.command(
    "edit",
    examples=(
        'omni projects edit apollo --name "Apollo 11"',
        "omni projects edit apollo --description 'Crewed, to the Moon.'",
    ),
)
@slug_argument
@click.option("--name", help="A new name.")
@click.option("--description", help="A new description.")
@with_server
@json_option
def edit(
    client: Client, slug: str, name: str | None, description: str | None, as_json: bool
) -> None:
    """Change a project's name or description."""
    from omni.cli.client import path_of

    given = {"name": name, "description": description}
    body = {key: value for key, value in given.items() if value is not None}
    if not body:
        raise click.UsageError("Say what to change: --name or --description.")
    row = client.patch(path_of("projects", slug), body)
    if as_json:
        return output.show_json(row)
    output.done(f"Project {row['slug']} is changed.")


@projects.command(
    "archive", examples=("omni projects archive apollo", "omni projects archive apollo --yes")
)
@slug_argument
@yes_option
@with_server
@json_option
def archive(client: Client, slug: str, yes: bool, as_json: bool) -> None:
    """Hide a project and refuse new work; deletes nothing."""
    output.confirm(f"Archive {slug}? It can be restored.", yes=yes)
    _switch(client, slug, "archive", "is archived", as_json=as_json)


@projects.command("restore", examples=("omni projects restore apollo",))
@slug_argument
@with_server
@json_option
def restore(client: Client, slug: str, as_json: bool) -> None:
    """Bring an archived project back."""
    _switch(client, slug, "restore", "is back", as_json=as_json)


for command in (members, add_member, set_roles, remove_member):
    projects.add_command(command)


def _switch(client: Client, slug: str, verb: str, said: str, *, as_json: bool) -> None:
    from omni.cli.client import path_of

    row = client.post(path_of("projects", slug, verb))
    if as_json:
        return output.show_json(row)
    output.done(f"Project {slug} {said}.")


def _show(row: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        return output.show_json(row)
    output.show_record(
        {
            "Name": row["name"],
            "Slug": row["slug"],
            "Description": row["description"],
            "Created": local_time(row["created_at"]),
            "Changed": local_time(row["updated_at"], never=""),
            "Archived": local_time(row["archived_at"], never=""),
        }
    )


def _name(row: dict[str, Any]) -> str:
    return f"{row['name']} (archived)" if row["archived"] else str(row["name"])
