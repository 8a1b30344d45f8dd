"""A run's log: read in pieces, proved, and erased from where that must be."""

from __future__ import annotations

import json
import uuid
from typing import Any, get_args

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from apps.registry.api.doors import Door
from apps.registry.api.fields import Body, Choice, Query, Text
from apps.registry.api.idempotency import idempotent
from apps.runs import eventlog
from apps.runs.api.shapes import EventSerializer
from apps.runs.live.entries import Entry
from apps.runs.selectors import EventPage, event_page, visible_event, visible_run
from apps.runs.selectors.events import DEFAULT_EVENTS, MAX_EVENTS
from apps.runs.services.erasure import erase_event
from omni.contracts.types import EventKind

FARTHEST = 10**18


class EventQuery(Query):
    after = serializers.IntegerField(
        min_value=0, max_value=FARTHEST, default=0, help_text="Only events with a higher number."
    )
    limit = serializers.IntegerField(
        min_value=1, max_value=MAX_EVENTS, default=DEFAULT_EVENTS, help_text="How many at most."
    )
    kind = Choice(required=False, choices=get_args(EventKind), help_text="Only of this kind.")


class EventPageSerializer(serializers.Serializer[Any]):
    results = EventSerializer(many=True)
    next = serializers.URLField(
        allow_null=True, help_text="Address of what follows, or null when this is all by now."
    )
    previous = serializers.URLField(allow_null=True, help_text="Always null: lists go forward.")


class VerdictSerializer(serializers.Serializer[Any]):
    ok = serializers.BooleanField(help_text="Whether the whole log holds.")
    events = serializers.IntegerField(help_text="How many events were found to hold.")
    erased = serializers.IntegerField(help_text="How many of them were erased, with a record.")
    seq = serializers.IntegerField(allow_null=True, help_text="The first that does not hold.")
    reason = serializers.CharField(help_text="What is wrong with it.")


class Erasure(Body):
    reason = Text(max_length=1000, help_text="Why; kept in the log and in the audit log.")


class EventList(Door):
    tag = "runs"

    @extend_schema(
        operation_id="list_events",
        parameters=[EventQuery],
        responses={200: EventPageSerializer},
    )
    def get(self, request: Request, id: uuid.UUID) -> HttpResponseBase:
        """List a run's events in order.

        Each event has the very bytes that the stream sends as `data`: canonical JSON (RFC 8785).
        """
        asked = self.filters(EventQuery)
        page = event_page(visible_run(self.person, id), **asked)
        return _json(_body(page, request))


class EventDetail(Door):
    tag = "runs"

    @extend_schema(operation_id="read_event", responses=EventSerializer)
    def get(self, request: Request, id: uuid.UUID, seq: int) -> HttpResponseBase:
        """Read one event, in the bytes that the stream sends."""
        event = visible_event(visible_run(self.person, id), seq)
        return _json(Entry.of(event).text)


class EventErase(Door):
    tag = "runs"

    @extend_schema(operation_id="erase_event", request=Erasure, responses=EventSerializer)
    @idempotent
    def post(self, request: Request, id: uuid.UUID, seq: int) -> Response:
        """Erase the payload of one event of an ended run, for good; owners only.

        Its hash stays, so the log can still be proved. The answer is the event that records it.
        """
        run = visible_run(self.person, id)
        event = erase_event(actor=self.person, run=run, seq=seq, **self.accept(Erasure))
        return Response(event.as_json())


class RunVerify(Door):
    tag = "runs"

    @extend_schema(operation_id="verify_run", responses=VerdictSerializer)
    def get(self, request: Request, id: uuid.UUID) -> Response:
        """Prove or disprove a run's log: its numbers, its chain of hashes, its payloads."""
        verdict = eventlog.verify(visible_run(self.person, id).pk)
        return Response(VerdictSerializer(verdict).data)


def _body(page: EventPage, request: Request) -> str:
    further = "null"
    if page.more:
        here = request.build_absolute_uri()
        further = json.dumps(replace_query_param(here, "after", page.events[-1].seq))
    events = ",".join(Entry.of(event).text for event in page.events)
    return f'{{"results":[{events}],"next":{further},"previous":null}}'


def _json(text: str) -> HttpResponse:
    return HttpResponse(text, content_type="application/json")
