"""Which workers and beats there are, and which of them still report."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import BooleanField, Case, Q, QuerySet, Value, When
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now

from apps.runs.models import Worker
from omni import config

MISSED_REPORTS = 4


def workers() -> QuerySet[Worker]:
    """Workers and beats, the living first; `alive` is judged by the database's clock."""
    alive = Q(stopped_at=None, seen_at__gte=_horizon())
    return Worker.objects.annotate(
        alive=Case(When(alive, then=Value(True)), default=Value(False), output_field=BooleanField())
    ).order_by("-alive", "kind", "-seen_at", "id")


def live_workers(kind: Worker.Kind | None = None) -> QuerySet[Worker]:
    found = workers()
    if kind:
        found = found.filter(kind=kind)
    return found.filter(stopped_at=None, seen_at__gte=_horizon())


def _horizon() -> CombinedExpression:
    """Whoever reported before this moment counts as gone."""
    return Now() - timedelta(seconds=MISSED_REPORTS * config.current().heartbeat_seconds)
