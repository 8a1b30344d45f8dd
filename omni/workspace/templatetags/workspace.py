"""Small pieces of markup that many templates share."""

from __future__ import annotations

import functools
import re
from datetime import datetime
from typing import Any

from django import template
from django.contrib.staticfiles import finders
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()

SPRITE = "workspace/icons.svg"


@functools.cache
def icon_names() -> frozenset[str]:
    path = finders.find(SPRITE)
    with open(str(path), encoding="utf-8") as file:
        return frozenset(re.findall(r'<symbol id="([a-z]+)"', file.read()))


@register.simple_tag
def icon(name: str) -> SafeString:
    """An icon of our sprite; an unknown name is shown as a dot, and a test refuses it."""
    known = name if name in icon_names() else "dot"
    return format_html(
        '<svg class="icon" aria-hidden="true"><use href="{}#{}"></use></svg>', static(SPRITE), known
    )


@register.simple_tag
def ago(moment: datetime | None, never: str = "never") -> SafeString | str:
    """How long ago, in words; the exact time is in the tooltip and for programs."""
    if moment is None:
        return never
    local = timezone.localtime(moment)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        moment.isoformat(timespec="seconds"),
        f"{local:%d %B %Y, %H:%M:%S %Z}",
        _in_words(local, timezone.localtime(timezone.now())),
    )


def _in_words(then: datetime, now: datetime) -> str:
    seconds = (now - then).total_seconds()
    if seconds < 0:
        return _ahead(-seconds, then)
    if seconds < 45:
        return "just now"
    if seconds < 3600:
        return f"{max(1, round(seconds / 60))} min ago"
    if seconds < 24 * 3600:
        return f"{round(seconds / 3600)} h ago"
    days = (now.date() - then.date()).days
    if days == 1:
        return "yesterday"
    return f"{days} days ago" if days < 14 else f"{then.day} {then:%b %Y}"


def _ahead(seconds: float, then: datetime) -> str:
    if seconds < 3600:
        return f"in {max(1, round(seconds / 60))} min"
    if seconds < 48 * 3600:
        return f"in {round(seconds / 3600)} h"
    return (
        f"in {round(seconds / 86400)} days" if seconds < 120 * 86400 else f"{then.day} {then:%b %Y}"
    )


@register.filter
def code_marked(text: Any) -> SafeString:
    """A sentence in which `names` stand as code, as its author meant them."""
    parts = str(text).split("`")
    if len(parts) % 2 == 0:
        return format_html("{}", text)
    return format_html_join(
        "",
        "{}",
        (
            (format_html("<code>{}</code>", part) if n % 2 else part,)
            for n, part in enumerate(parts)
        ),
    )


@register.filter
def initials(name: Any) -> str:
    """Two letters for a round picture of a person or a square one of a project."""
    words = re.findall(r"\w+", str(name).split("@")[0])
    letters = words[0][:1] + words[1][:1] if len(words) > 1 else "".join(words)[:2]
    return letters.upper() or "?"


@register.filter
def widget_kind(field: Any) -> str:
    """Which of the three shapes of `_field.html` a form field takes."""
    name = type(field.field.widget).__name__
    return {"CheckboxInput": "check", "CheckboxSelectMultiple": "choices"}.get(name, "input")
