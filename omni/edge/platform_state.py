"""How much of everything there is, counted for `/metrics`."""

from __future__ import annotations

from django.utils import timezone

from apps.registry.models import ApiToken, Project, User
from apps.runs import selectors
from apps.runs.models import Worker

Counts = dict[str, tuple[str, dict[str, float]]]


def counts() -> Counts:
    """Gauge name to its help text and its values by kind."""
    live = list(selectors.live_workers().values_list("kind", "concurrency"))
    usable = ApiToken.objects.filter(revoked_at=None, expires_at__gt=timezone.now())
    people = User.objects.filter(is_active=True)
    projects = Project.objects.all()
    return {
        "omni_workers_live": (
            "Processes that reported lately.",
            {kind: sum(1 for each, _ in live if each == kind) for kind in Worker.Kind.values},
        ),
        "omni_worker_slots": (
            "Runs that the live workers can execute at a time.",
            {"worker": sum(slots for kind, slots in live if kind == Worker.Kind.WORKER)},
        ),
        "omni_people": (
            "Active accounts.",
            {
                "all": people.count(),
                "staff": people.filter(is_staff=True).count(),
            },
        ),
        "omni_projects": (
            "Projects.",
            {
                "active": projects.filter(archived_at=None).count(),
                "archived": projects.exclude(archived_at=None).count(),
            },
        ),
        "omni_api_tokens": ("Tokens that can be used.", {"usable": usable.count()}),
    }
