"""What the dashboard shows: figures, first steps, and whether the platform is well."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import redis
from django.core.cache import cache
from django.urls import reverse
from django.utils import timezone

from apps.registry import selectors as registry
from apps.registry.models import User
from apps.runs import selectors as runs
from apps.runs.models import Run, Worker
from apps.runs.selectors.inbox import failed_since, pending_for
from omni.engine.lifecycle import Status

PROBE = "dashboard-probe"
SHOWN_WORKERS = 5
SHOWN_RUNS = 6


@dataclass(frozen=True, slots=True)
class Tile:
    label: str
    value: int | str
    hint: str
    url: str
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    done: bool
    label: str
    url: str
    hint: str


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    ok: bool
    detail: str


def tiles(user: User) -> list[Tile]:
    active = registry.visible_projects(user).count()
    return [
        _running_tile(user),
        _approvals_tile(user),
        _failed_tile(user),
        _workers_tile(),
        Tile("Projects", active, "you are a member of", reverse("registry:project_list")),
    ]


def recent_runs(user: User) -> list[Run]:
    found = runs.visible_runs(user).filter(parent=None).order_by("-created_at", "id")
    return list(found[:SHOWN_RUNS])


def steps(user: User, *, has_token: bool) -> list[Step]:
    """What a newcomer does first; empty once all of it is done."""
    project = registry.visible_projects(user).order_by("created_at").first()
    shared = registry.colleagues_of(user).exists()
    create = reverse("registry:project_create")
    members = reverse("registry:project_members", args=[project.slug]) if project else create
    found = [
        Step(
            bool(user.name),
            "Say who you are",
            reverse("registry:account"),
            "Your name and time zone",
        ),
        Step(project is not None, "Create a project", create, "A space for people and work"),
        Step(shared, "Add a colleague", members, "With just the roles they need"),
        Step(
            has_token, "Connect a program", reverse("registry:account_tokens"), "Make an API token"
        ),
    ]
    return [] if all(step.done for step in found) else found


def checks() -> list[Check]:
    """For operators; the page itself proves that web server and database answer."""
    live = {worker.kind for worker in runs.live_workers()}
    return [
        Check("Database", True, "Answers"),
        _cache_check(),
        _process_check("Worker", Worker.Kind.WORKER in live, "Work waits until one starts"),
        _process_check("Beat", Worker.Kind.BEAT in live, "Nothing scheduled runs until it starts"),
    ]


def greeting(user: User, now: datetime) -> str:
    part = "morning" if 4 <= now.hour < 12 else "afternoon" if 12 <= now.hour < 18 else "evening"
    return f"Good {part}, {user.get_short_name()}" if user.name else f"Good {part}"


def workers() -> list[Worker]:
    """The living ones; if there are none, those that were seen last."""
    found = list(runs.workers()[:SHOWN_WORKERS])
    return [worker for worker in found if getattr(worker, "alive", False)] or found


def _running_tile(user: User) -> Tile:
    busy = runs.visible_runs(user, status=Status.RUNNING.value).count()
    queued = runs.visible_runs(user, status=Status.QUEUED.value).count()
    hint = f"{queued} more in the queue" if queued else "The queue is empty"
    url = f"{reverse('runs:run_list')}?status={Status.RUNNING.value}"
    return Tile("Running", busy, hint, url, "working" if busy else "")


def _approvals_tile(user: User) -> Tile:
    waiting = pending_for(user).count()
    hint = "Somebody must answer" if waiting else "Nothing waits for you"
    return Tile(
        "Approvals", waiting, hint, reverse("runs:approval_list"), "warn" if waiting else ""
    )


def _failed_tile(user: User) -> Tile:
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    failed = failed_since(user, midnight).count()
    url = f"{reverse('runs:run_list')}?status={Status.FAILED.value}"
    hint = "See what went wrong" if failed else "All went well so far"
    return Tile("Failed today", failed, hint, url, "bad" if failed else "")


def _workers_tile() -> Tile:
    live = list(runs.live_workers())
    slots = sum(worker.concurrency for worker in live if worker.kind == Worker.Kind.WORKER)
    workers = sum(1 for worker in live if worker.kind == Worker.Kind.WORKER)
    busy = sum(getattr(worker, "busy", 0) for worker in live)
    hint = f"{busy} of {slots} slots in use" if workers else "Work waits for one"
    tone = "good" if workers else "bad"
    return Tile("Live workers", workers, hint, reverse("runs:worker_list"), tone)


def _cache_check() -> Check:
    try:
        cache.set(PROBE, "1", timeout=5)
        ok = cache.get(PROBE) == "1"
    except redis.RedisError:
        ok = False
    return Check("Cache and broker", ok, "Answers" if ok else "Does not answer; see “omni doctor”")


def _process_check(name: str, ok: bool, otherwise: str) -> Check:
    return Check(name, ok, "Reports" if ok else otherwise)
