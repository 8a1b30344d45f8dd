"""How a failure leaves the command line: exit code, sentence and remedy, or a problem document."""

from __future__ import annotations

import json
import sys
from enum import IntEnum
from typing import Any

import click

from omni.cli.text import clean, paint
from omni.contracts.errors import ErrorCategory, OmniError
from omni.contracts.problem import problem_from


class ExitCode(IntEnum):
    """Documented in docs/cli.md; scripts branch on these, so they never change their meaning."""

    OK = 0
    FAILED = 1
    USAGE = 2
    UNREACHABLE = 3
    NOT_SIGNED_IN = 4
    PERMISSION_DENIED = 5
    NOT_FOUND = 6
    CONFLICT = 7
    INVALID = 8
    RATE_LIMITED = 9
    INTERRUPTED = 130
    BROKEN_PIPE = 141


_BY_CATEGORY: dict[ErrorCategory, ExitCode] = {
    ErrorCategory.UNAVAILABLE: ExitCode.UNREACHABLE,
    ErrorCategory.UNAUTHENTICATED: ExitCode.NOT_SIGNED_IN,
    ErrorCategory.PERMISSION_DENIED: ExitCode.PERMISSION_DENIED,
    ErrorCategory.NOT_FOUND: ExitCode.NOT_FOUND,
    ErrorCategory.CONFLICT: ExitCode.CONFLICT,
    ErrorCategory.IDEMPOTENCY_MISMATCH: ExitCode.CONFLICT,
    ErrorCategory.INVALID: ExitCode.INVALID,
    ErrorCategory.TOO_LARGE: ExitCode.INVALID,
    ErrorCategory.RATE_LIMITED: ExitCode.RATE_LIMITED,
}


class ApiError(OmniError):
    """A server's refusal; keeps its problem document word for word."""

    def __init__(self, problem: dict[str, Any], *, category: ErrorCategory) -> None:
        remedy = str(problem.get("remedy") or "")
        message = str(problem.get("detail") or problem.get("title") or "The server refused.")
        super().__init__(message, category=category, remedy=remedy, data=problem)
        self.problem = problem


class NotSignedIn(OmniError):
    category = ErrorCategory.UNAUTHENTICATED


class Declined(OmniError):
    """A person answered no; nothing was done."""


def exit_code(error: OmniError) -> ExitCode:
    return _BY_CATEGORY.get(error.category, ExitCode.FAILED)


def report(error: OmniError, *, as_json: bool) -> ExitCode:
    """Say what went wrong on stderr and answer the exit code."""
    if as_json:
        problem = error.problem if isinstance(error, ApiError) else problem_from(error)
        click.echo(json.dumps(problem, indent=2, ensure_ascii=False), err=True)
    else:
        _say(error.message, [*_field_lines(error), error.remedy])
    return exit_code(error)


def report_usage(error: click.ClickException, *, as_json: bool) -> ExitCode:
    """A command that was typed wrongly; the remedy is its own help."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "omni"
    remedy = f"See `{path} --help`."
    if as_json:
        wrong = OmniError(error.format_message(), category=ErrorCategory.INVALID, remedy=remedy)
        report(wrong, as_json=True)
    else:
        _say(error.format_message(), [remedy])
    return ExitCode.USAGE


def _say(message: str, further: list[str]) -> None:
    mark = paint("omni:", "red", bold=True, stream=sys.stderr)
    lines = [f"{mark} {clean(message)}", *(f"      {clean(line)}" for line in further if line)]
    click.echo("\n".join(lines), err=True)


def _field_lines(error: OmniError) -> list[str]:
    """What is wrong with which field, unless the sentence says so already."""
    errors = error.data.get("errors")
    if error.category is not ErrorCategory.INVALID or not isinstance(errors, dict):
        return []
    lines = []
    for name, messages in errors.items():
        for text in messages if isinstance(messages, list) else [messages]:
            if str(text) not in error.message:
                lines.append(f"{name}: {text}" if name else str(text))
    return lines
