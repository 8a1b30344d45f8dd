"""Schedules: switched on and off, and run out of turn."""

from __future__ import annotations

import json
from typing import Any

from celery import current_app
from django.db import transaction
from django_celery_beat.models import PeriodicTask
from kombu.exceptions import OperationalError

from apps.registry.models import AuditAction, User
from apps.registry.services import audit
from omni.contracts.errors import NotFound, Unavailable


@transaction.atomic
def switch_schedule(*, actor: User, task: PeriodicTask, enabled: bool) -> None:
    """Beat notices within seconds; a task that is under way is not stopped."""
    task.enabled = enabled
    task.save()
    _record(actor, task, {"enabled": enabled})


def run_schedule(*, actor: User, task: PeriodicTask) -> None:
    """Send the task to the workers now; its schedule goes on as before."""
    current_app.loader.import_default_modules()
    if task.task not in current_app.tasks:
        raise NotFound(f"There is no task named {task.task}.", remedy="Correct the schedule.")
    try:
        current_app.send_task(
            task.task,
            args=json.loads(task.args or "[]"),
            kwargs=json.loads(task.kwargs or "{}"),
            queue=task.queue or None,
            retry=False,
        )
    except OperationalError:
        raise Unavailable(
            "The broker does not answer.", remedy="Start it, or check OMNI_BROKER_URL."
        ) from None
    _record(actor, task, {"run": task.task})


def _record(actor: User, task: PeriodicTask, data: dict[str, Any]) -> None:
    audit.record(AuditAction.ADMIN_CHANGED, actor=actor, target=task, data=data)
