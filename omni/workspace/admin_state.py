"""What the admin console's front page says about the platform, as far as the person may look."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Any

from django.db import connection
from django.db.models import Count, Q
from django.db.models.functions import TruncDate
from django.template.defaultfilters import filesizeformat
from django.utils import timezone

from apps.registry.models import ApiToken, AuditAction, AuditEntry, Project, User
from apps.runs import selectors as runs
from apps.runs.models import Worker
from apps.tools.models import Secret
from omni import __version__, config
from omni.sandbox.probe import known
from omni.workspace.admin_navigation import changelist, may_see

DAYS = 14
SOON = timedelta(days=14)
RECENT = 8
# Readable on the light and on the dark surface; a canvas cannot follow the theme by itself.
INK = "#80808f"
REFUSED_SIGN_INS = (AuditAction.SIGN_IN_FAILED, AuditAction.SIGN_IN_LOCKED)


@dataclass(frozen=True, slots=True)
class Card:
    """One figure with what it means and where its list is."""

    title: str
    value: str
    detail: str
    url: str
    icon: str
    tone: str = ""


class State:
    """Nothing is read before the template asks for it."""

    days = DAYS

    def __init__(self, user: Any) -> None:
        self._user = user

    @cached_property
    def cards(self) -> list[Card]:
        makers: tuple[tuple[str, Callable[[], Card]], ...] = (
            ("registry.user", _people),
            ("registry.project", _projects),
            ("registry.apitoken", _tokens),
            ("runs.worker", _workers),
            ("registry.auditentry", _refusals),
            ("tools.secret", _secrets),
        )
        return [make() for model, make in makers if may_see(self._user, model)]

    @cached_property
    def sees_audit(self) -> bool:
        return may_see(self._user, "registry.auditentry")

    @cached_property
    def history(self) -> list[tuple[date, dict[str, int]]]:
        return sign_ins_by_day(timezone.now())

    @property
    def has_history(self) -> bool:
        return any(any(counts.values()) for _, counts in self.history)

    @property
    def chart(self) -> str:
        series = (
            ("signed_in", "Sign-ins", "var(--color-primary-500)"),
            ("failed", "Wrong passwords", "var(--omni-warn)"),
            ("denied", "Denials", "var(--omni-bad)"),
        )
        datasets = [
            {
                "label": label,
                "data": [counts[key] for _, counts in self.history],
                "backgroundColor": colour,
                "borderRadius": 3,
                "maxBarThickness": 26,
            }
            for key, label, colour in series
        ]
        labels = [f"{day:%-d %b}" for day, _ in self.history]
        return json.dumps({"labels": labels, "datasets": datasets})

    chart_options = json.dumps(
        {
            "animation": False,
            "responsive": True,
            "maintainAspectRatio": False,
            "interaction": {"mode": "index", "intersect": False},
            "plugins": {
                "legend": {
                    "position": "bottom",
                    "labels": {
                        "boxWidth": 8,
                        "boxHeight": 8,
                        "usePointStyle": True,
                        "color": INK,
                    },
                }
            },
            "scales": {
                "x": {
                    "stacked": True,
                    "grid": {"display": False},
                    "ticks": {"maxRotation": 0, "color": INK},
                },
                "y": {
                    "stacked": True,
                    "beginAtZero": True,
                    "ticks": {"precision": 0, "color": INK},
                },
            },
        }
    )

    @cached_property
    def latest(self) -> list[AuditEntry]:
        return list(AuditEntry.objects.select_related("project")[:RECENT])

    @cached_property
    def refused(self) -> list[AuditEntry]:
        return list(AuditEntry.objects.filter(allowed=False).select_related("project")[:RECENT])

    @cached_property
    def lists(self) -> dict[str, str]:
        return {
            "audit": changelist("registry.auditentry"),
            "refused": changelist("registry.auditentry", "allowed__exact=0"),
        }

    @cached_property
    def facts(self) -> list[tuple[str, str]]:
        size, server = database_facts()
        current = config.current()
        return [
            ("Omni", __version__),
            ("Database", filesizeformat(size)),
            ("PostgreSQL", server),
            ("Machine", current.node_id),
            ("Address", current.base_url),
            ("Secrets sealed by", "OMNI_SECRET_KEYS" if current.secret_keys else "the key file"),
            ("Sandbox", isolation()),
        ]


def sign_ins_by_day(now: datetime, days: int = DAYS) -> list[tuple[date, dict[str, int]]]:
    """Sign-ins, wrong passwords and denials of each day, oldest first, days without any too."""
    today = timezone.localdate(now)
    first = today - timedelta(days=days - 1)
    start = timezone.make_aware(datetime.combine(first, datetime.min.time()))
    rows = (
        AuditEntry.objects.filter(at__gte=start)
        .order_by()
        .annotate(day=TruncDate("at"))
        .values("day")
        .annotate(
            signed_in=Count("pk", filter=Q(action=AuditAction.SIGNED_IN)),
            failed=Count("pk", filter=Q(action__in=REFUSED_SIGN_INS)),
            denied=Count("pk", filter=Q(action=AuditAction.PERMISSION_DENIED)),
        )
    )
    found: dict[date, dict[str, int]] = {
        row["day"]: {
            "signed_in": row["signed_in"],
            "failed": row["failed"],
            "denied": row["denied"],
        }
        for row in rows
    }
    empty = {"signed_in": 0, "failed": 0, "denied": 0}
    span = [first + timedelta(days=offset) for offset in range(days)]
    return [(day, found.get(day, empty)) for day in span]


def isolation() -> str:
    """The tier with its layers, or why code that agents bring is refused on this machine."""
    found = known()
    if found.tier == "none":
        return f"refuses to run anything: {'; '.join(found.reasons)}"
    return ", ".join((found.tier, *found.extras))


def database_facts() -> tuple[int, str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_database_size(current_database()), current_setting('server_version')"
        )
        size, version = cursor.fetchone()
    return int(size), str(version).split()[0]


def _people() -> Card:
    people = User.objects.aggregate(
        active=Count("pk", filter=Q(is_active=True)),
        operators=Count("pk", filter=Q(is_active=True, is_staff=True)),
        off=Count("pk", filter=Q(is_active=False)),
    )
    detail = _joined(
        _count(people["operators"], "operator"), people["off"] and f"{people['off']} off"
    )
    return Card("People", str(people["active"]), detail, changelist("registry.user"), "group")


def _projects() -> Card:
    projects = Project.objects.aggregate(
        active=Count("pk", filter=Q(archived_at=None)),
        archived=Count("pk", filter=~Q(archived_at=None)),
    )
    detail = f"{projects['archived']} archived"
    url = changelist("registry.project", "state=active")
    return Card("Projects", str(projects["active"]), detail, url, "folder")


def _tokens() -> Card:
    now = timezone.now()
    usable = Q(revoked_at=None, expires_at__gt=now)
    tokens = ApiToken.objects.aggregate(
        usable=Count("pk", filter=usable),
        soon=Count("pk", filter=usable & Q(expires_at__lte=now + SOON)),
    )
    soon = tokens["soon"]
    detail = f"{soon} expiring within 14 days" if soon else "none expires within 14 days"
    url = changelist("registry.apitoken", "state=soon" if soon else "state=usable")
    return Card("API tokens", str(tokens["usable"]), detail, url, "key", "warn" if soon else "")


def _workers() -> Card:
    kinds = list(runs.live_workers().values_list("kind", flat=True))
    workers, beats = kinds.count(Worker.Kind.WORKER), kinds.count(Worker.Kind.BEAT)
    url = changelist("runs.worker", "state=alive" if kinds else "")
    beat = {0: "beat is not running", 1: "beat is running"}.get(beats, f"{beats} beats are running")
    tone = "good" if workers and beats == 1 else "bad"
    return Card("Live workers", str(workers), beat, url, "memory", tone)


def _refusals() -> Card:
    since = timezone.now() - timedelta(days=1)
    refused = AuditEntry.objects.filter(at__gte=since, allowed=False).aggregate(
        failed=Count("pk", filter=Q(action__in=REFUSED_SIGN_INS)),
        denied=Count("pk", filter=Q(action=AuditAction.PERMISSION_DENIED)),
    )
    total = refused["failed"] + refused["denied"]
    detail = _joined(
        _count(refused["failed"], "failed sign-in"), _count(refused["denied"], "denial")
    )
    url = changelist("registry.auditentry", "allowed__exact=0")
    return Card("Refused in 24 hours", str(total), detail, url, "block", "warn" if total else "")


def _secrets() -> Card:
    secrets = Secret.objects.aggregate(
        all=Count("pk"), platform=Count("pk", filter=Q(project=None))
    )
    detail = f"{secrets['platform']} for the whole platform"
    return Card("Secrets", str(secrets["all"]), detail, changelist("tools.secret"), "password")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _joined(*parts: Any) -> str:
    kept: Iterable[str] = (str(part) for part in parts if part)
    return " · ".join(kept)
