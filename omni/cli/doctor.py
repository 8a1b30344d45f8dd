"""Checks of this machine and installation, with what to do about each finding."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from omni.cli import output
from omni.cli.command import Command
from omni.cli.errors import ExitCode
from omni.cli.options import json_option
from omni.cli.text import clean, width_of

if TYPE_CHECKING:
    from omni.services.doctor import Finding


@click.command(
    cls=Command,
    examples=(
        "omni doctor",
        "omni doctor --json | jq -r '.[] | select(.status == \"fail\") | .remedy'",
    ),
)
@json_option
def doctor(as_json: bool) -> int:
    """Check the machine and say what to do.

    ✓ is fine, ! works with a limit, ✗ must be mended. Exit code 1 when something must be.
    """
    from omni import config
    from omni.services.doctor import run_checks

    with output.working("Checking"):
        findings = run_checks(config.load())
    if as_json:
        output.show_json([asdict(finding) for finding in findings])
    else:
        _show(findings)
    failed = any(finding.status == "fail" for finding in findings)
    return ExitCode.FAILED if failed else ExitCode.OK


def _show(findings: list[Finding]) -> None:
    width = max(width_of(finding.name) for finding in findings)
    for finding in findings:
        name = finding.name.ljust(width)
        click.echo(f"{output.mark(finding.status)} {name}  {clean(finding.detail)}")
        if finding.remedy:
            click.echo(f"  {'':{width}}  → {clean(finding.remedy)}")
    counts = {
        status: sum(finding.status == status for finding in findings) for status in output.MARKS
    }
    click.echo(f"\n{counts['ok']} fine, {counts['warn']} to look at, {counts['fail']} to mend.")
