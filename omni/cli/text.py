"""Text that is safe to print: no foreign control characters, colour only where it belongs."""

from __future__ import annotations

import os
import re
import unicodedata
from datetime import datetime
from typing import Any, TextIO

import click

# A project's name must not move the cursor or retitle the window.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_SPACE = re.compile(r"[\t\r\n\u2028\u2029]+")


def clean(value: Any) -> str:
    return _CONTROL.sub("�", _SPACE.sub(" ", str(value)))


def coloured(stream: TextIO) -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def paint(text: str, colour: str, *, bold: bool = False, stream: TextIO) -> str:
    return click.style(text, fg=colour, bold=bold or None) if coloured(stream) else text


def width_of(text: str) -> int:
    """Columns on a terminal: wide characters take two, combining ones none."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def local_time(value: str | None, *, never: str = "never") -> str:
    """A time of the API in this machine's time zone, to the minute."""
    if not value:
        return never
    try:
        return datetime.fromisoformat(value).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return value
