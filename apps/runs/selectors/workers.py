"""Which workers and beats there are, where each is in its life, and which runs it drives."""

from __future__ import annotations

import uuid
from datetime import timedelta

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import (
    BooleanField,
    Case,
    CharField,
    Count,
    F,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Coalesce, JSONObject, Now

from apps.registry.models import User
from apps.registry.permissions import projects_with
from apps.registry.roles import Permission
from apps.runs.models import Run, Worker
from omni import config
from omni.contracts.errors import NotFound

MISSED_REPORTS = 4


def workers() -> QuerySet[Worker]:
    """Workers and beats, the living first, with `alive`, `busy` and `state`.

    Everything is judged by the database's clock. `busy` counts the runs whose lease a worker
    holds: the lease itself says who drives what, so nothing more is written for it.
    """
    alive = Q(stopped_at=None, seen_at__gte=_horizon())
    held = _held_by_worker().order_by().values("lease_owner").annotate(n=Count("pk")).values("n")
    return Worker.objects.annotate(
        alive=Case(
            When(alive, then=Value(True)), default=Value(False), output_field=BooleanField()
        ),
        busy=Coalesce(Subquery(held, output_field=IntegerField()), 0),
        state=_state(),
    ).order_by("-alive", "kind", "-seen_at", "id")


def workers_seen_by(user: User) -> QuerySet[Worker]:
    """Workers with `current_runs`: those runs among what they drive that this person may see."""
    theirs = _held_by_worker().filter(project__in=projects_with(user, Permission.VIEW))
    about = JSONObject(
        id=F("pk"), project=F("project__slug"), run_kind=F("run_kind"), status=F("status")
    )
    shown = theirs.order_by("created_at", "pk").values(about=about)
    return workers().annotate(current_runs=ArraySubquery(shown))


def worker_seen_by(user: User, worker_id: uuid.UUID) -> Worker:
    worker = workers_seen_by(user).filter(pk=worker_id).first()
    if worker is None:
        raise NotFound("There is no such worker; only the most recent ones are kept.")
    return worker


def live_workers(kind: Worker.Kind | None = None) -> QuerySet[Worker]:
    found = workers()
    if kind:
        found = found.filter(kind=kind)
    return found.filter(stopped_at=None, seen_at__gte=_horizon())


def holder_of(run: Run) -> Worker | None:
    """The worker that drives the run now; None while nobody does that ever reported."""
    held = held_runs().filter(pk=run.pk).values("lease_owner")
    return workers().filter(pk__in=held).first()


def held_runs() -> QuerySet[Run]:
    """The runs that some worker drives now."""
    return Run.objects.filter(
        lease_owner__isnull=False, lease_until__gte=Now(), ended_at__isnull=True
    )


def _held_by_worker() -> QuerySet[Run]:
    return held_runs().filter(lease_owner=OuterRef("pk"))


def _state() -> Case:
    state = Worker.State
    return Case(
        When(stopped_at__isnull=False, then=Value(state.STOPPED.value)),
        When(seen_at__lt=_horizon(), then=Value(state.LOST.value)),
        When(draining_at__isnull=False, then=Value(state.DRAINING.value)),
        When(ready_at__isnull=True, then=Value(state.STARTING.value)),
        When(kind=Worker.Kind.BEAT, then=Value(state.RUNNING.value)),
        When(busy__gt=0, then=Value(state.BUSY.value)),
        default=Value(state.IDLE.value),
        output_field=CharField(),
    )


def _horizon() -> CombinedExpression:
    """Whoever reported before this moment counts as lost."""
    return Now() - timedelta(seconds=MISSED_REPORTS * config.current().heartbeat_seconds)
