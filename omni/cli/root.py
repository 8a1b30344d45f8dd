"""`omni` itself: the table of commands, and what happens when one ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from omni import __version__
from omni.cli.command import Entry, LazyGroup
from omni.cli.errors import ExitCode, report, report_usage
from omni.contracts.errors import OmniError

MACHINE, SERVER, OPERATOR = "This machine", "A server, over HTTP", "Operators, on this machine"

ENTRIES: dict[str, Entry] = {
    "up": Entry("omni.cli.local:up", MACHINE, "Start Omni on this machine."),
    "down": Entry("omni.cli.local:down", MACHINE, "Stop it, with all its processes."),
    "status": Entry("omni.cli.local:status", MACHINE, "Show what runs here and how it fares."),
    "logs": Entry("omni.cli.local:logs", MACHINE, "Show the logs of its processes."),
    "doctor": Entry("omni.cli.doctor:doctor", MACHINE, "Check the machine and say what to do."),
    "reset": Entry("omni.cli.local:reset", MACHINE, "Delete all data of this installation."),
    "login": Entry("omni.cli.login:login", SERVER, "Remember a server and a token for it."),
    "logout": Entry("omni.cli.login:logout", SERVER, "Forget the token of a server."),
    "whoami": Entry("omni.cli.login:whoami", SERVER, "Show who you are, and where."),
    "projects": Entry("omni.cli.projects:projects", SERVER, "Projects and their members."),
    "threads": Entry("omni.cli.threads:threads", SERVER, "Lines of work within a project."),
    "runs": Entry("omni.cli.runs:runs", SERVER, "Runs: start, follow, steer and prove them."),
    "approvals": Entry("omni.cli.approvals:approvals", SERVER, "Questions that runs ask people."),
    "artifacts": Entry("omni.cli.artifacts:artifacts", SERVER, "Files of runs."),
    "tools": Entry("omni.cli.tools:tools", SERVER, "What runs of a project can call."),
    "policy": Entry("omni.cli.policy:policy", SERVER, "What is allowed, asked and denied."),
    "tokens": Entry("omni.cli.tokens:tokens", SERVER, "API tokens of your own."),
    "secrets": Entry("omni.cli.secrets:secrets", SERVER, "Secrets of a project or the platform."),
    "mcp": Entry("omni.cli.mcp:mcp", SERVER, "MCP servers and what they offer."),
    "openapi": Entry("omni.cli.openapi:openapi", SERVER, "OpenAPI documents that give tools."),
    "people": Entry("omni.cli.people:people", SERVER, "People who may sign in."),
    "roles": Entry("omni.cli.roles:roles", SERVER, "What each role in a project may do."),
    "workers": Entry("omni.cli.workers:workers", SERVER, "Processes that execute runs."),
    "audit": Entry("omni.cli.audit:audit", SERVER, "Who did what, and what was refused."),
    "api": Entry("omni.cli.api:api", SERVER, "Call any address of the API."),
    "settings": Entry("omni.cli.settings:settings", OPERATOR, "Show every setting in effect."),
    "manage": Entry("omni.cli.manage:manage", OPERATOR, "Run a management command of Django."),
    "completion": Entry("omni.cli.completion:completion", OPERATOR, "Complete commands with Tab."),
}

EXAMPLES = (
    "omni up                          # start, then open the address it shows",
    "omni projects create Apollo      # on the local server",
    "omni login https://omni.example.org && omni projects list --json",
    "omni COMMAND --help              # every command teaches itself",
)


@click.group(
    cls=LazyGroup,
    entries=ENTRIES,
    examples=EXAMPLES,
    epilog="Exit codes, environment variables and JSON shapes: docs/cli.md.",
)
@click.version_option(__version__, prog_name="omni", message="%(prog)s %(version)s")
def root() -> None:
    """Run AI agents that you can trust with real work.

    Commands that talk to a server use --url, else OMNI_URL, else the server you logged in to, else
    the one on this machine.
    """


def run(args: Sequence[str]) -> int:
    """Run one command line; every way out of it is an exit code."""
    as_json = "--json" in args
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        code = _invoke(args, as_json=as_json)
        sys.stdout.flush()
    except BrokenPipeError:
        _silence_stdout()
        return ExitCode.BROKEN_PIPE
    except KeyboardInterrupt:
        click.echo(err=True)
        return ExitCode.INTERRUPTED
    return code


def _invoke(args: Sequence[str], *, as_json: bool) -> int:
    if "_OMNI_COMPLETE" in os.environ:
        root.main(prog_name="omni")
    try:
        with root.make_context("omni", list(args)) as context:
            answer: Any = root.invoke(context)
        return answer if isinstance(answer, int) else ExitCode.OK
    except click.exceptions.Exit as ending:
        return ending.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return ExitCode.OK
    except click.UsageError as error:
        return report_usage(error, as_json=as_json)
    except click.ClickException as error:
        return report(OmniError(error.format_message()), as_json=as_json)
    except OmniError as error:
        return report(error, as_json=as_json)
    except BrokenPipeError:
        raise
    except Exception as error:
        if _debugging():
            raise
        return report(_unexpected(error), as_json=as_json)


def _unexpected(error: Exception) -> OmniError:
    if isinstance(error, OSError):
        return OmniError(f"{error.strerror or error}: {error.filename or 'this operation'}.")
    return OmniError(
        f"Something unexpected went wrong ({type(error).__name__}).",
        remedy="Run it again with OMNI_DEBUG=1 to see where, and report that.",
    )


def _debugging() -> bool:
    return os.environ.get("OMNI_DEBUG", "").lower() in ("1", "true", "yes")


def _silence_stdout() -> None:
    # Python flushes stdout once more at exit; the reader is gone, so let that go nowhere.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
