"""JSON documents that commands read from files or standard input."""

from __future__ import annotations

import sys
from typing import Any

import click

from omni.contracts.errors import InvalidInput

LARGEST = 1024 * 1024
file_argument = click.argument("file", metavar="FILE")


def read_document(file: str) -> dict[str, Any]:
    """The JSON object in a file, or on standard input for `-`."""
    from omni.contracts.parsing import parse

    try:
        if file == "-":
            raw = sys.stdin.buffer.read(LARGEST + 1)
        else:
            with open(file, "rb") as opened:
                raw = opened.read(LARGEST + 1)
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}.") from None
    found = parse(raw)
    if not isinstance(found, dict):
        raise InvalidInput(f"{file} does not hold a JSON object.")
    return found
