"""Prepares an event for the log: checked, bounded, without secrets, hashed, as text."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii as quoted
from typing import Any

from omni.contracts.canonical import canonical
from omni.contracts.errors import ErrorCategory, InvalidInput
from omni.contracts.validation import validate_payload
from omni.telemetry.redaction import MASK, redact, redact_text
from omni.telemetry.shapes import is_sensitive

SCHEMA_VERSION = 1
MAX_PAYLOAD_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class NewEvent:
    """What is to be appended; `key` makes a repetition harmless."""

    kind: str
    payload: dict[str, Any]
    name: str = ""
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Sealed:
    """An event as the database function takes it."""

    event: NewEvent
    payload: dict[str, Any]
    payload_hash: str
    text: str


def seal(event: NewEvent, actor: str) -> Sealed:
    """Refuses what the contracts do not allow; masks what nobody may read."""
    validate_payload(event.kind, event.name or None, event.payload)
    body = canonical(event.payload)
    if len(body) > MAX_PAYLOAD_BYTES:
        raise InvalidInput(
            f"The payload of {event.name or event.kind} has {len(body)} bytes.",
            category=ErrorCategory.TOO_LARGE,
            remedy=f"More than {MAX_PAYLOAD_BYTES} bytes belong into an artifact.",
        )
    payload = event.payload
    if _may_hold_secrets(payload):
        payload = _without_secrets(payload)
        validate_payload(event.kind, event.name or None, payload)
        body = canonical(payload)
    payload_hash = hashlib.sha256(body).hexdigest()
    # Kind and name are among those that the contracts list, so they need no quoting.
    key = "null" if event.key is None else quoted(event.key)
    text = (
        f'{{"kind":"{event.kind}","name":"{event.name}","actor":{quoted(actor)},'
        f'"payload_hash":"{payload_hash}","version":{SCHEMA_VERSION},"key":{key},'
        f'"payload":{body.decode()}}}'
    )
    return Sealed(event, payload, payload_hash, text)


def cleaned(value: Any) -> Any:
    """The value as an event would carry it: the same masks also outside of the log."""
    return _without_secrets(value) if _may_hold_secrets(value) else value


def _may_hold_secrets(payload: Any) -> bool:
    """All text of a payload in one search; nearly always the answer is no."""
    texts: list[str] = []
    if _gather(payload, texts):
        return True
    joined = "\n".join(texts)
    return redact_text(joined) != joined


def _gather(value: Any, texts: list[str]) -> bool:
    """Collect every name, text and number; True as soon as a name itself is telling."""
    if isinstance(value, str):
        texts.append(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            if is_sensitive(key):
                return True
            texts.append(key)
            if _gather(item, texts):
                return True
    elif isinstance(value, list):
        return any(_gather(item, texts) for item in value)
    elif value is not None and not isinstance(value, bool):
        texts.append(str(value))
    return False


def _without_secrets(value: Any) -> Any:
    """Like `redact`, which is made for log lines, but never shortens: the bounds were checked."""
    if isinstance(value, dict):
        return {
            redact_text(key): _masked(item) if is_sensitive(key) else _without_secrets(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_without_secrets(item) for item in value]
    if isinstance(value, str):
        return redact_text(value)
    return redact(value)


def _masked(value: Any) -> Any:
    return value if value is None or isinstance(value, bool) or value == "" else MASK
