"""Text that strangers wrote: cleaned where it is shown, refused where it could deceive."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any

from omni.telemetry.redaction import redact_text

# Characters that reorder or hide what follows: a reviewer would read another text than a model.
_BIDIRECTIONAL = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
_INVISIBLE = frozenset(
    "\u00ad\u034f\u115f\u1160\u180e\u200b\u2060\u2061\u2062\u2063\u2064\ufeff\u3164"
)
_ALLOWED_CONTROLS = frozenset("\t\n\r")


def plain(text: str, limit: int = 500) -> str:
    """One readable line for messages: nothing hidden, no known secret, not too long."""
    shown = "".join(" " if _is_control(each) else each for each in text if not hides(each))
    shown = " ".join(redact_text(shown).split())
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"


def visible(text: str) -> str:
    """The same text with what hides in it spelt out, so that a reader sees what is there."""
    return "".join(
        f"\\u{ord(each):04x}" if hides(each) or _is_control(each) else each for each in text
    )


def hides(character: str) -> bool:
    """Whether a person cannot see it, or it makes them see something else."""
    if character in _BIDIRECTIONAL or character in _INVISIBLE:
        return True
    # Tags and variation selectors carry whole messages that no screen shows.
    return "\U000e0000" <= character <= "\U000e0fff"


def hidden_in(value: Any) -> str:
    """The first hidden or control character anywhere in a definition, by its name; else empty."""
    for text in _texts(value):
        for each in text:
            if hides(each) or (_is_control(each) and each not in _ALLOWED_CONTROLS):
                return unicodedata.name(each, f"U+{ord(each):04X}")
    return ""


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs", "Co", "Zl", "Zp")


def _texts(value: Any) -> Iterator[str]:
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            pending += [*each.keys(), *each.values()]
        elif isinstance(each, list):
            pending += each
