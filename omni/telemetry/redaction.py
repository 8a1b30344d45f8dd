"""Removes secrets from whatever is about to be logged, stored or shown."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import enum
import uuid
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import PurePath
from typing import Any
from urllib.parse import unquote, urlsplit

from omni import keyring
from omni.config import Config
from omni.contracts.errors import ConfigError
from omni.telemetry.known_secrets import MASK, KnownSecrets
from omni.telemetry.shapes import is_sensitive, mask_shapes

__all__ = ["MASK", "redact", "redact_text", "register_config", "register_secret"]

MAX_DEPTH = 12
MAX_ITEMS = 1_000
MAX_TEXT = 65_536
# A secret that straddles the cut is still seen whole if it is not longer than this.
_LOOK_AHEAD = 8_192
_ROOM = 64
_CUT = "…[cut]"
_TOO_DEEP = "[too deep]"
_UNREADABLE = "[unreadable]"
_PLAIN = (uuid.UUID, datetime.date, datetime.time, datetime.timedelta, Decimal, PurePath)

known = KnownSecrets()


def register_secret(value: str | bytes) -> str | None:
    """Never show this value again; the answer is the reason when it was not taken, else None."""
    return known.register(value)


def register_config(config: Config) -> None:
    """Register the keys, tokens and passwords that the settings and key files hold."""
    for value in keyring.known_keys(config):
        register_secret(value)
    for spec in dataclasses.fields(config):
        if spec.metadata.get("secret"):
            _register_setting(getattr(config, spec.name))
    for resolve in (config.resolved_database_url, config.resolved_redis_url):
        with contextlib.suppress(ConfigError):
            _register_setting(resolve())


def redact(value: Any) -> Any:
    """A copy without secrets, bounded in depth and size; it never raises and never lets through
    what it could not look at."""
    try:
        return _Walk().value(value, 0)
    except Exception:  # noqa: BLE001  (a hostile __repr__ must not break the caller, nor leak)
        return _UNREADABLE


def redact_text(text: str) -> str:
    """The whole text without secrets."""
    for _ in range(4):  # a mask beside other text can spell a secret anew
        clean = mask_shapes(known.mask(text))
        if clean == text:
            break
        text = clean
    return text


class _Walk:
    def __init__(self) -> None:
        self.left = MAX_ITEMS

    def value(self, value: Any, depth: int) -> Any:
        match value:
            case None | bool():
                return value
            case enum.Enum():
                return self.value(value.value, depth + 1)
            case str():
                return _bounded(value)
            case int() | float():
                return _unless_secret(value, str(value))
            case bytes() | bytearray() | memoryview():
                return _bytes(bytes(value))
            case Mapping() | list() | tuple() | set() | frozenset() if depth >= MAX_DEPTH:
                return _TOO_DEEP
            case Mapping():
                return self.mapping(value, depth + 1)
            case tuple():
                return tuple(self.items(value, depth + 1))
            case list() | set() | frozenset():
                return self.items(value, depth + 1)
            case BaseException():
                return _bounded(f"{type(value).__name__}: {value}")
            case _ if isinstance(value, _PLAIN):
                return _unless_secret(value, str(value))
        return _bounded(repr(value))

    def mapping(self, value: Mapping[Any, Any], depth: int) -> dict[Any, Any]:
        clean: dict[Any, Any] = {}
        for key, item in value.items():
            if self.left <= 0:
                clean[_CUT] = _CUT
                break
            self.left -= 1
            name = self.key(key)
            if isinstance(key, str) and is_sensitive(key):
                clean[name] = item if _says_nothing(item) else MASK
            else:
                clean[name] = self.value(item, depth)
        return clean

    def key(self, key: Any) -> Any:
        clean = self.value(key, MAX_DEPTH - 1)
        return clean if isinstance(clean, str | int | float | bytes | None) else str(clean)

    def items(self, values: Iterable[Any], depth: int) -> list[Any]:
        clean: list[Any] = []
        for item in values:
            if self.left <= 0:
                clean.append(_CUT)
                break
            self.left -= 1
            clean.append(self.value(item, depth))
        return clean


def _says_nothing(value: Any) -> bool:
    return value is None or isinstance(value, bool) or value in ("", b"", MASK)


def _bounded(text: str) -> str:
    clean = redact_text(str(text[: MAX_TEXT + _LOOK_AHEAD]))
    if len(text) <= MAX_TEXT and len(clean) <= MAX_TEXT:
        return clean
    # Half a mask at the cut may look like a value again: look once more, with room to grow.
    return redact_text(clean[: MAX_TEXT - _ROOM] + _CUT)


def _bytes(data: bytes) -> bytes:
    text = data[: MAX_TEXT + _LOOK_AHEAD].decode("utf-8", "surrogateescape")
    return _bounded(text).encode("utf-8", "surrogateescape")


def _unless_secret(value: Any, text: str) -> Any:
    return value if known.mask(text) == text else MASK


def _register_setting(value: Any) -> None:
    for text in (value,) if isinstance(value, str) else value:
        if "://" in text:
            password = urlsplit(text).password
            if password:
                register_secret(unquote(password))
        elif text:
            register_secret(text)
