"""States, durations, sizes and costs in words."""

from __future__ import annotations

from datetime import datetime
from typing import Any

STATUS_WORDS = {
    "queued": "Queued",
    "running": "Running",
    "waiting_permission": "Waiting for approval",
    "done": "Done",
    "failed": "Failed",
    "cancelled": "Cancelled",
}
STATUS_TONES = {
    "running": "accent",
    "waiting_permission": "warn",
    "done": "good",
    "failed": "bad",
}
OPTION_WORDS = {
    "approve": "Approve",
    "approve_run": "Approve for this run",
    "approve_project": "Approve for this project",
    "reject": "Reject",
}
WORKER_TONES = {
    "starting": "accent",
    "idle": "good",
    "busy": "accent",
    "running": "good",
    "draining": "warn",
    "lost": "bad",
}
_UNITS = ("bytes", "KB", "MB", "GB", "TB")


def option_word(option: str) -> str:
    """An answer as a button says it."""
    return OPTION_WORDS.get(option, option.replace("_", " ").capitalize())


def milliseconds(number: int) -> str:
    return f"{number:,} ms" if number < 1000 else seconds(number / 1000)


def seconds(number: float) -> str:
    if number < 10:
        return f"{number:.1f} s"
    if number < 60:
        return f"{number:.0f} s"
    minutes, rest = divmod(round(number), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def between(start: datetime, end: datetime) -> str:
    return seconds(max((end - start).total_seconds(), 0))


def bytes_in_words(size: int) -> str:
    number, unit = float(size), 0
    while number >= 1000 and unit < len(_UNITS) - 1:
        number, unit = number / 1000, unit + 1
    return f"{number:,.0f} {_UNITS[unit]}" if unit == 0 else f"{number:,.1f} {_UNITS[unit]}"


def costs(by_currency: dict[str, str]) -> str:
    """Such as “0.0021 USD”; empty when nothing has a price."""
    shown = (f"{amount} {currency}" for currency, amount in sorted(by_currency.items()))
    return " + ".join(shown)


def spending(amount: dict[str, Any]) -> str:
    """Such as “0.02 USD and 4,000 tokens”."""
    words = [f"{money['amount']} {money['currency']}"] if (money := amount.get("money")) else []
    for unit in ("tokens", "steps", "seconds"):
        if unit in amount:
            words.append(f"{amount[unit]:,} {unit}")
    return " and ".join(words) or "nothing"
