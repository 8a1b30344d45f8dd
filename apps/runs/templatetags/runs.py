"""Small pieces of markup about runs."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from apps.runs.models import Run, Worker
from apps.runs.timeline import words
from apps.runs.timeline.items import pretty

register = template.Library()

HEADLINE = 80
WORKING = SafeString('<span class="dot dot-working"></span>')


@register.simple_tag
def status_badge(status: str) -> SafeString:
    """A run's state; what is at work has a dot that moves."""
    tone = words.STATUS_TONES.get(status, "")
    dot = WORKING if status == "running" else ""
    label = words.STATUS_WORDS.get(status, status)
    style = f" badge-{tone}" if tone else ""
    return format_html('<span class="badge{}">{}{}</span>', style, dot, label)


@register.simple_tag
def worker_badge(worker: Any) -> SafeString:
    """Where a process is in its life; `worker` comes from the selector that knows it."""
    state = str(worker.state)
    tone = words.WORKER_TONES.get(state, "")
    style = f" badge-{tone}" if tone else ""
    dot = WORKING if state == "busy" else ""
    label = dict(Worker.State.choices)[state]
    return format_html('<span class="badge{}">{}{}</span>', style, dot, label)


@register.filter
def unseen_runs(worker: Any) -> int:
    """How many runs it drives beside those that the person may see."""
    return max(0, int(worker.busy) - len(worker.current_runs))


@register.simple_tag
def clock(moment: datetime) -> SafeString:
    """The time of day; date and zone are in the tooltip. Says the same whenever it is asked."""
    local = timezone.localtime(moment)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        moment.isoformat(timespec="milliseconds"),
        f"{local:%d %B %Y, %H:%M:%S %Z}",
        f"{local:%H:%M:%S}",
    )


@register.filter
def duration(run: Run) -> str:
    """How long a run took, or takes by now."""
    return words.between(run.created_at, run.ended_at or timezone.now())


@register.filter
def tokens(run: Run) -> str:
    """What the run's model calls used, as far as it was added up."""
    total = _state(run).get("usage", {}).get("total_tokens", 0)
    return f"{total:,}" if total else "–"


@register.filter
def headline(run: Run) -> str:
    """What a run was told first, in one line; empty if nothing."""
    messages = _state(run).get("messages", [])
    said = " ".join(messages[0]["text"].split()) if messages else ""
    return Truncator(said).chars(HEADLINE)


def _state(run: Run) -> dict[str, Any]:
    projection: Any = getattr(run, "projection", None)
    return dict(projection.state) if projection else {}


@register.filter
def status_word(status: str) -> str:
    return words.STATUS_WORDS.get(status, status)


@register.filter
def option_word(option: str) -> str:
    return words.option_word(option)


@register.filter
def as_json(value: Any) -> str:
    return pretty(value)
