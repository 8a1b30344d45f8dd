"""Which names a file may have that goes into a cell or comes out of it; asked on both sides."""

from __future__ import annotations

MAX_NAME = 500
MAX_PART = 255


def problem(name: str) -> str:
    """Why this relative path is not accepted; empty when it is."""
    try:
        if len(name.encode()) > MAX_NAME:
            return "its name is too long"
    except UnicodeEncodeError:
        return "its name is not text"
    for part in name.split("/"):
        if part in ("", ".") or part.startswith("..") or len(part.encode()) > MAX_PART:
            return "its name is not a plain relative path"
    if any(ord(letter) < 32 or ord(letter) == 127 or letter == "\\" for letter in name):
        return "its name has letters that are not accepted"
    return ""
