"""Events as HTML: one template for each event, wherever it is shown."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import tzinfo
from functools import cache
from typing import Any

from django.template.loader import get_template
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe

from apps.runs.eventlog import Event
from apps.runs.eventlog.window import tools_called
from apps.runs.timeline.items import Item, item_of
from apps.runs.timeline.people import People

TEMPLATE = "runs/_event.html"
OUTCOMES = frozenset({"tool_result", "tool_error"})


class Renderer:
    """Renders for one reader: in their time zone, with names looked up once."""

    def __init__(self, zone: tzinfo | None = None) -> None:
        self._zone = zone or timezone.get_current_timezone()
        self._people = People()
        self._tools: dict[str, str] = {}

    def items(self, events: Iterable[Event]) -> list[Item]:
        """In order: what an event says may depend on those before it, never on later ones."""
        found = list(events)
        self._people.learn(event.actor for event in found)
        self._recall_tools(found)
        return [self._item(event) for event in found]

    def _item(self, event: Event) -> Item:
        payload = event.payload or {}
        tool = ""
        if event.kind == "tool_call" and payload:
            self._tools[payload["call_id"]] = payload["tool"]
        elif event.kind in OUTCOMES and payload:
            tool = self._tools.get(payload["call_id"], "Tool")
        return item_of(event, self._people.name(event.actor), tool)

    def _recall_tools(self, events: list[Event]) -> None:
        """An outcome names only its call, which may be long past; all are asked for at once."""
        calls = {
            event.payload["call_id"] for event in events if event.kind in OUTCOMES and event.payload
        }
        unknown = calls - self._tools.keys()
        if unknown:
            first = events[0]
            self._tools |= tools_called(first.run_id, unknown, before=first.seq)

    def html(self, item: Item) -> SafeString:
        with timezone.override(self._zone):
            return SafeString(_template().render({"item": item}))

    def timeline(self, events: Iterable[Event]) -> SafeString:
        """What a reload shows: the same fragments as the stream's, one after the other."""
        return mark_safe("".join(self.html(item) for item in self.items(events)))  # noqa: S308  (rendered by the template)


@cache
def _template() -> Any:
    return get_template(TEMPLATE)
