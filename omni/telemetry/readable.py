"""A JSON log line as a person reads it; files keep the JSON, terminals show this."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

# Said by the place where the line is shown, or of use to programs only.
LEFT_OUT = frozenset({"timestamp", "level", "event", "process", "node", "worker", "logger"})
# Texts of several lines, shown below the line they belong to.
BELOW = ("exception", "stack")


def readable(line: str) -> list[str]:
    """Time, level if it is no ordinary one, what happened, facts; anything but JSON as it is."""
    facts = _facts(line)
    if not facts:
        return [line]
    level = str(facts.get("level", "info"))
    words = [_local_time(facts.get("timestamp")), "" if level == "info" else level.upper()]
    words.append(str(facts["event"]))
    words += [f"{name}={value}" for name, value in facts.items() if _is_shown(name, value)]
    below = [text for name in BELOW for text in str(facts.get(name) or "").splitlines()]
    return [" ".join(filter(None, words)), *(f"    {text}" for text in below)]


def _facts(line: str) -> dict[str, Any]:
    if not line.startswith("{"):
        return {}
    try:
        facts = json.loads(line)
    except ValueError:
        return {}
    return facts if isinstance(facts, dict) and "event" in facts else {}


def _is_shown(name: str, value: Any) -> bool:
    return name not in LEFT_OUT and name not in BELOW and value not in (None, "", [], {})


def _local_time(stamp: Any) -> str:
    try:
        return datetime.fromisoformat(str(stamp)).astimezone().strftime("%m-%d %H:%M:%S")
    except ValueError:
        return ""
