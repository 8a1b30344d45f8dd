"""What commands show: JSON for programs, plain columns in a pipe, tables in a terminal."""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from omni.cli.errors import Declined
from omni.cli.text import clean, coloured, paint, width_of

if TYPE_CHECKING:
    from rich.console import Console

GAP = "  "
NARROWEST = 14
LONGEST_WORD = 36
MARKS = {"ok": ("✓", "green"), "warn": ("!", "yellow"), "fail": ("✗", "red")}


@dataclass(frozen=True, slots=True)
class Column:
    """In a narrow terminal, `wraps` columns give up width and `spare` ones are left out."""

    title: str
    wraps: bool = False
    spare: bool = False
    style: str = ""


def show_json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def show_json_line(value: Any) -> None:
    """One object per line, for output that does not end."""
    click.echo(json.dumps(value, ensure_ascii=False, default=str))
    sys.stdout.flush()


def show_table(
    columns: Sequence[Column], rows: Sequence[Sequence[Any]], *, empty: str = "Nothing here."
) -> None:
    """Columns where they fit, one block per row where they do not, plain text in a pipe."""
    if not rows:
        return note(empty)
    cells = [[clean(cell) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        return _plain_table(columns, cells)
    for shown in _choices(columns, cells):
        chosen = [columns[index] for index in shown]
        narrowed = [[row[index] for index in shown] for row in cells]
        if _fits(chosen, narrowed, shutil.get_terminal_size().columns):
            return _rich_table(chosen, narrowed)
    titles = [column.title for column in columns]
    for number, row in enumerate(cells):
        if number:
            click.echo()
        show_record(dict(zip(titles, row, strict=True)))


def show_record(fields: Mapping[str, Any]) -> None:
    """One thing, a line per field; empty fields are left out."""
    shown = {name: clean(value) for name, value in fields.items() if value not in (None, "")}
    width = max((width_of(name) for name in shown), default=0) + 2
    for name, value in shown.items():
        label = paint(f"{name}:".ljust(width), "bright_black", stream=sys.stdout)
        click.echo(label + f"\n{' ' * width}".join(_lines(value, width)))


def done(text: str) -> None:
    """Something was changed."""
    click.echo(f"{mark('ok')} {clean(text)}")


def note(text: str) -> None:
    """A remark for people; never part of what a program reads."""
    click.echo(clean(text), err=True)


def warn(text: str) -> None:
    click.echo(f"{paint('!', 'yellow', bold=True, stream=sys.stderr)} {clean(text)}", err=True)


def mark(kind: str) -> str:
    sign, colour = MARKS[kind]
    return paint(sign, colour, bold=True, stream=sys.stdout)


def confirm(question: str, *, yes: bool) -> None:
    """Ask before something that cannot be taken back; a script must say --yes."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError(f"{question} There is nobody to ask here: add --yes to do it.")
    if not click.confirm(question, err=True):
        raise Declined("Nothing was changed.")


@contextlib.contextmanager
def working(text: str) -> Iterator[None]:
    """A spinner while something takes time, in a terminal only."""
    if not (sys.stderr.isatty() and sys.stdout.isatty() and coloured(sys.stderr)):
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield


def _lines(value: str, indent: int) -> list[str]:
    """Broken between words in a terminal; whole in a pipe."""
    room = shutil.get_terminal_size().columns - indent
    if not sys.stdout.isatty() or room < NARROWEST:
        return [value]
    return textwrap.wrap(value, room, break_long_words=False, break_on_hyphens=False) or [""]


def _choices(columns: Sequence[Column], cells: Sequence[Sequence[str]]) -> Iterator[list[int]]:
    """Which columns to try: those with content, then fewer and fewer spare ones."""
    shown = [index for index in range(len(columns)) if any(row[index] for row in cells)]
    yield shown
    for index in [index for index in reversed(shown) if columns[index].spare]:
        shown = [each for each in shown if each != index]
        yield shown


def _natural_widths(columns: Sequence[Column], cells: Sequence[Sequence[str]]) -> list[int]:
    return [
        max(width_of(column.title), *(width_of(row[index]) for row in cells))
        for index, column in enumerate(columns)
    ]


def _least_widths(columns: Sequence[Column], cells: Sequence[Sequence[str]]) -> list[int]:
    """What each column needs at least; words are not broken unless they are very long."""
    natural = _natural_widths(columns, cells)
    for index, column in enumerate(columns):
        if column.wraps:
            words = [word for row in cells for word in row[index].split()]
            longest = max(map(width_of, [column.title, *words]))
            natural[index] = min(natural[index], max(NARROWEST, min(longest, LONGEST_WORD)))
    return natural


def _fits(columns: Sequence[Column], cells: Sequence[Sequence[str]], width: int) -> bool:
    gaps = len(GAP) * (len(columns) - 1)
    return sum(_least_widths(columns, cells)) + gaps <= width


def _plain_table(columns: Sequence[Column], cells: Sequence[Sequence[str]]) -> None:
    widths = _natural_widths(columns, cells)
    for row in ([column.title for column in columns], *cells):
        padded = (
            text + " " * (width - width_of(text)) for text, width in zip(row, widths, strict=True)
        )
        click.echo(GAP.join(padded).rstrip())


def _rich_table(columns: Sequence[Column], cells: Sequence[Sequence[str]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, len(GAP), 0, 0), header_style="bold")
    for column, least in zip(columns, _least_widths(columns, cells), strict=True):
        table.add_column(
            column.title,
            style=column.style,
            no_wrap=not column.wraps,
            overflow="fold",
            min_width=least,
        )
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))
    _console().print(table)


def _console() -> Console:
    from rich.console import Console

    # The width may come from COLUMNS; rich looks at the terminal only.
    return Console(width=shutil.get_terminal_size().columns, highlight=False)
