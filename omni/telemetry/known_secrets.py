"""The secret values this process has met, in every spelling in which they could be printed."""

from __future__ import annotations

import base64
import html
import json
import threading
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

MASK = "[redacted]"
SHORTEST = 6
# Whole lines of a long secret (a PEM key, say) are secrets as well; short lines are not telling.
SHORTEST_LINE = 16


class KnownSecrets:
    """Finds registered values in text in one pass whose cost does not grow with their number.

    Spellings are filed under their first six characters; each position of a text is one lookup.
    """

    def __init__(self) -> None:
        self._by_start: dict[str, tuple[str, ...]] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return sum(len(spellings) for spellings in self._by_start.values())

    def register(self, value: str | bytes) -> str | None:
        """Remember a secret; the answer is the reason when it was not, else None."""
        text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
        text = text.strip()
        if len(text) < SHORTEST:
            return f"shorter than {SHORTEST} characters, so it would blank out ordinary text"
        if text in MASK:
            return "part of the mark that replaces secrets"
        for spelling in spellings_of(text):
            self._file(spelling)
        return None

    def clear(self) -> None:
        with self._lock:
            self._by_start.clear()

    def mask(self, text: str) -> str:
        """The text with every known secret replaced."""
        starts = self._by_start
        if not starts or len(text) < SHORTEST:
            return text
        # With few secrets and much text, asking for each of them is the quicker way to a no.
        if len(starts) * 4 < len(text) and not any(start in text for start in tuple(starts)):
            return text
        last = len(text) - SHORTEST + 1
        hits = [at for at in range(last) if text[at : at + SHORTEST] in starts]
        return self._replace(text, hits) if hits else text

    def _replace(self, text: str, hits: list[int]) -> str:
        parts: list[str] = []
        done = 0
        for at, end in self._spans(text, hits):
            if at >= done:
                parts += (text[done:at], MASK)
            done = max(done, end)
        return "".join((*parts, text[done:]))

    def _spans(self, text: str, hits: list[int]) -> Iterator[tuple[int, int]]:
        for at in hits:
            for spelling in self._by_start.get(text[at : at + SHORTEST], ()):
                if text.startswith(spelling, at):
                    yield at, at + len(spelling)
                    break

    def _file(self, spelling: str) -> None:
        start = spelling[:SHORTEST]
        with self._lock:
            # Readers take no lock: they see the old tuple or the new one.
            filed = {*self._by_start.get(start, ()), spelling}
            self._by_start[start] = tuple(sorted(filed, key=len, reverse=True))


def spellings_of(text: str) -> set[str]:
    """A secret as it appears raw and in URLs, JSON, HTML, Python, hexadecimal and base64."""
    found = {text, html.escape(text), repr(text)[1:-1], *_json(text), *_url(text)}
    data = text.encode("utf-8", "surrogatepass")
    found |= {data.hex(), data.hex().upper(), repr(data)[2:-1], *_base64(data)}
    lines = text.splitlines()
    if len(lines) > 1:
        found |= {line for line in map(str.strip, lines) if len(line) >= SHORTEST_LINE}
    return {spelling for spelling in found if len(spelling) >= SHORTEST and spelling not in MASK}


def _json(text: str) -> Iterator[str]:
    for ascii_only in (True, False):
        once = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        yield once
        yield json.dumps(once, ensure_ascii=ascii_only)[1:-1]


def _url(text: str) -> Iterator[str]:
    data = text.encode("utf-8", "surrogatepass")
    for encoded in (quote(data, safe=""), quote(data), quote_plus(data)):
        yield encoded
        yield _lower_escapes(encoded)


def _lower_escapes(encoded: str) -> str:
    head, *rest = encoded.split("%")
    return head + "".join(f"%{part[:2].lower()}{part[2:]}" for part in rest)


def _base64(data: bytes) -> Iterator[str]:
    """The part of the encoding that depends on the secret alone, at each of three alignments."""
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + data).decode().rstrip("=")
        first = (0, 2, 3)[before]
        # The last character mixes in whatever follows unless the bits come out even.
        last = len(encoded) if (before + len(data)) % 3 == 0 else len(encoded) - 1
        core = encoded[first:last]
        yield core
        yield core.replace("+", "-").replace("/", "_")
