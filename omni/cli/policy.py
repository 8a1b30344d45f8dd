"""Policies: listed, looked at, published, put in force, withdrawn, and asked why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from omni.cli import output
from omni.cli.command import Group
from omni.cli.documents import file_argument, read_document
from omni.cli.options import json_option, limit_option, project_option, with_server, yes_option
from omni.cli.output import Column
from omni.cli.text import local_time

if TYPE_CHECKING:
    from omni.cli.client import Client


@click.group(
    cls=Group,
    examples=(
        "omni policy list --project apollo",
        "omni policy explain apollo filesystem.write_file --arguments @call.json",
    ),
)
def policy() -> None:
    """What is allowed, asked and denied.

    Deny beats ask, ask beats allow, and what nothing allows is denied. Without --project a command
    is about the policies of the whole platform, which operators keep.
    """


@policy.command("list", examples=("omni policy list --project apollo", "omni policy list --json"))
@project_option
@limit_option()
@with_server
@json_option
def list_policies(client: Client, project: str | None, limit: int, as_json: bool) -> None:
    """List published policies, and which of them decide."""
    rows = list(client.every(_path(project), limit=limit))
    if as_json:
        return output.show_json(rows)
    output.show_table(
        [Column("Name", style="bold"), Column("Version"), Column("State"), Column("Of"),
         Column("Rules"), Column("Published", spare=True)],
        [[row["name"], row["version"], "in force" if row["in_force"] else "published",
          row["project"] or "platform", len(row["document"]["rules"]),
          local_time(row["published_at"])] for row in rows],
        empty="There are no policies here; without one nothing is allowed.",
    )  # fmt: skip


@policy.command("show", examples=("omni policy show default --project apollo",))
@click.argument("name")
@click.option("--project", "-p", metavar="SLUG", required=True, help="As this project knows it.")
@with_server
@json_option
def show(client: Client, name: str, project: str, as_json: bool) -> None:
    """Show the newest version of a policy, rule by rule."""
    row = client.get(_path(project, name))
    if as_json:
        return output.show_json(row)
    document = row["document"]
    state = "in force" if row["in_force"] else "published"
    output.note(f"{row['name']} {row['version']}, {state}; otherwise {document['default']}.")
    output.show_table(
        [Column("Rule", style="bold"), Column("Effect"), Column("Reason", wraps=True)],
        [[each["id"], each["effect"], each["reason"]] for each in document["rules"]],
        empty="It has no rules.",
    )


@policy.command(
    "publish",
    examples=(
        "omni policy publish policy.json --project apollo --use",
        "omni policy publish - < policy.json",
    ),
)
@file_argument
@project_option
@click.option("--use", "in_force", is_flag=True, help="Put it in force at once.")
@with_server
@json_option
def publish(client: Client, file: str, project: str | None, in_force: bool, as_json: bool) -> None:
    """Publish a version of a policy; a published version never changes."""
    row = client.post(_path(project), {"document": read_document(file)})
    if in_force:
        row = client.post(_path(project, row["name"], "use"), {"version": row["version"]})
    if as_json:
        return output.show_json(row)
    state = "published and in force" if row["in_force"] else "published"
    output.done(f"{row['name']} {row['version']} is {state}.")


@policy.command(
    "use",
    examples=("omni policy use careful --project apollo", "omni policy use house --version 1.1.0"),
)
@click.argument("name")
@project_option
@click.option("--version", metavar="VERSION", help="The newest when missing.")
@with_server
@json_option
def use(client: Client, name: str, project: str | None, version: str | None, as_json: bool) -> None:
    """Put a policy in force, instead of its version before."""
    row = client.post(_path(project, name, "use"), {"version": version} if version else {})
    if as_json:
        return output.show_json(row)
    output.done(f"{row['name']} {row['version']} decides from now on.")


@policy.command("withdraw", examples=("omni policy withdraw careful --project apollo --yes",))
@click.argument("name")
@project_option
@yes_option
@with_server
@json_option
def withdraw(client: Client, name: str, project: str | None, yes: bool, as_json: bool) -> None:
    """Withdraw a policy; what only it allowed is denied from now on."""
    output.confirm(f"Withdraw the policy {name}?", yes=yes)
    client.delete(_path(project, name, "use"))
    if as_json:
        return output.show_json({"name": name, "project": project, "withdrawn": True})
    output.done(f"{name} decides no longer.")


@policy.command(
    "explain",
    examples=(
        "omni policy explain apollo filesystem.write_file --arguments @call.json",
        """echo '{"path": "a"}' | omni policy explain apollo filesystem.list --arguments -""",
    ),
)
@click.argument("project")
@click.argument("tool")
@click.option(
    "--arguments",
    metavar="@FILE|-",
    help="What it is called with: JSON from a file or (-) from standard input.",
)
@click.option("--version", metavar="VERSION", help="The pinned one when missing.")
@click.option("--agent", metavar="NAME", help="The agent that asks.")
@click.option("--mode", type=click.Choice(["normal", "analysis_only", "dry_run"]))
@with_server
@json_option
def explain(
    client: Client, project: str, tool: str, arguments: str | None, as_json: bool, **about: Any
) -> None:
    """Ask what would be decided about a call, and why; nothing is called."""
    from omni.cli.client import path_of

    body = {"tool": tool, "arguments": _arguments(arguments)}
    body |= {key: value for key, value in about.items() if value is not None}
    row = client.post(path_of("projects", project, "decisions"), body)
    if as_json:
        return output.show_json(row)
    by = f"rule {row['rule']} of " if row["rule"] else ""
    source = f"{by}{row['policy']} {row['policy_version']}" if row["policy"] else "the platform"
    output.show_record(
        {"Decision": row["effect"], "Because": row["reason"], "Decided by": source,
         "Call": f"{row['tool']} {row['version']}", "But": row["invalid"]}
    )  # fmt: skip
    output.show_table(
        [Column("Rule", style="bold"), Column("Policy", spare=True), Column("Says"),
         Column("Matches"), Column("Why", wraps=True)],
        [[each["rule"], f"{each['policy']} {each['version']}", each["effect"],
          "yes" if each["matched"] else "no", each["why"]] for each in row["considered"]],
        empty="There is no rule at all.",
    )  # fmt: skip


def _path(project: str | None, *parts: str) -> str:
    from omni.cli.client import path_of

    return path_of(*(("projects", project) if project else ()), "policies", *parts)


def _arguments(given: str | None) -> dict[str, Any]:
    if given is None:
        return {}
    if given != "-" and not given.startswith("@"):
        raise click.UsageError("--arguments takes @FILE, or - for standard input.")
    return read_document(given.removeprefix("@"))
