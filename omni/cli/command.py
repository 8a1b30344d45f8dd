"""The shape of every command: help that ends in examples, and groups that load lazily."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click
from click.shell_completion import CompletionItem

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@dataclass(frozen=True, slots=True)
class Entry:
    """A top-level command that is imported when it is used; `help` is its first sentence."""

    where: str
    section: str
    help: str

    def load(self) -> click.Command:
        module, _, name = self.where.partition(":")
        command = getattr(importlib.import_module(module), name)
        if not isinstance(command, click.Command):
            raise TypeError(f"{self.where} is not a command")
        return command


class Command(click.Command):
    """A command whose help shows it at work."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        kwargs.setdefault("context_settings", CONTEXT)
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(self.examples, formatter)
        super().format_epilog(ctx, formatter)


class Group(click.Group):
    """A noun with its verbs; without a verb it shows its help."""

    command_class = Command

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        kwargs.setdefault("context_settings", CONTEXT)
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            close = difflib.get_close_matches(name, self.list_commands(ctx), n=1)
            hint = f" Did you mean `{ctx.command_path} {close[0]}`?" if close else ""
            raise click.UsageError(f"There is no command `{ctx.command_path} {name}`.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(self.examples, formatter)
        super().format_epilog(ctx, formatter)


class LazyGroup(Group):
    """Lists its commands from a table, so that help and completion import none of them."""

    def __init__(self, *args: Any, entries: Mapping[str, Entry], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.entries = entries

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self.entries.get(cmd_name)
        return entry.load() if entry else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for section in dict.fromkeys(entry.section for entry in self.entries.values()):
            with formatter.section(section):
                formatter.write_dl(
                    [(n, e.help) for n, e in self.entries.items() if e.section == section]
                )

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        found = [
            CompletionItem(name, help=entry.help)
            for name, entry in self.entries.items()
            if name.startswith(incomplete)
        ]
        return found + click.Command.shell_complete(self, ctx, incomplete)


def write_examples(examples: Sequence[str], formatter: click.HelpFormatter) -> None:
    """Lines that start with `#` explain the next one."""
    if not examples:
        return
    with formatter.section("Examples"):
        for line in examples:
            formatter.write(f"  {line if line.startswith('#') else f'$ {line}'}\n")
