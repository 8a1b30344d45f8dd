"""The timeline of a run: the newest events, earlier ones on demand, drafts, and filters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET

from apps.runs.eventlog.project import load_state
from apps.runs.eventlog.window import window
from apps.runs.models import Run
from apps.runs.timeline.groups import LABELS, Shown, shown_from
from apps.runs.timeline.items import plain
from apps.runs.timeline.render import Renderer
from apps.runs.views.doors import run_page
from omni.engine.lifecycle import TERMINAL
from omni.engine.state import RunState

PAGE = 500
DIGITS = 18


@dataclass(frozen=True, slots=True)
class Chip:
    """A switch of the filter: where it leads, and whether it is on."""

    label: str
    query: str
    is_on: bool


@dataclass(frozen=True, slots=True)
class Timeline:
    """What the page shows; the stream continues behind `upto`."""

    html: SafeString
    upto: int
    shown: Shown
    first: int
    has_earlier: bool
    is_newest: bool
    has_ended: bool
    drafts: list[tuple[str, str]]
    chips: list[Chip]
    stream: str
    more: str


def timeline_of(request: HttpRequest, run: Run, state: RunState) -> Timeline:
    """`state` says up to which event this load is complete."""
    shown = shown_from(request.GET.get("show", ""))
    before = _before(request, state.last_seq)
    found = window(run.pk, before=before, keys=shown.keys, limit=PAGE)
    first = found.events[0].seq if found.events else 0
    is_newest = before > state.last_seq
    partial = state.partial if is_newest and shown.has("assistant_message") else {}
    return Timeline(
        html=Renderer().timeline(found.events),
        upto=state.last_seq,
        shown=shown,
        first=first,
        has_earlier=found.has_earlier,
        is_newest=is_newest,
        has_ended=state.status in TERMINAL,
        drafts=[(message, plain(text)) for message, text in partial.items()],
        chips=_chips(shown),
        stream=_address("runs:timeline_stream", run, show=shown.query),
        more=_address("runs:timeline_events", run, show=shown.query, before=first),
    )


@run_page
@require_GET
def timeline_events(request: HttpRequest, run: Run) -> HttpResponse:
    """Earlier events: as a piece for the page that asked, or as a page of their own."""
    timeline = timeline_of(request, run, load_state(run.pk))
    context = {"run": run, "project": run.project, "thread": run.thread, "timeline": timeline}
    in_place = request.headers.get("HX-Target") == "earlier"
    template = "_timeline_events.html" if in_place else "timeline.html"
    return render(request, f"runs/{template}", context)


def _before(request: HttpRequest, last_seq: int) -> int:
    value = request.GET.get("before", "")
    known = value.isascii() and value.isdigit() and len(value) <= DIGITS
    return min(int(value), last_seq + 1) if known else last_seq + 1


def _chips(shown: Shown) -> list[Chip]:
    every = Chip("Everything", "?", not shown.groups)
    return [
        every,
        *(
            Chip(label, _query(show=shown.toggled(group).query), group in shown.groups)
            for group, label in LABELS.items()
        ),
    ]


def _address(name: str, run: Run, **query: Any) -> str:
    return reverse(name, args=[run.pk]) + _query(**query)


def _query(**values: Any) -> str:
    return "?" + urlencode({name: str(value) for name, value in values.items() if value}, safe=",")
