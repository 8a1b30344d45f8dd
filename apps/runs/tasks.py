"""Celery's door into the platform. A task carries an id; the database knows if there is work."""

from __future__ import annotations

import uuid

from celery import shared_task

from apps.runs import heartbeat
from apps.runs.drive.driver import advance as drive
from apps.runs.services.settle import settle_ended
from apps.runs.services.sweep import sweep as sweep_runs
from apps.runs.services.upkeep import clean_up as clean_up_platform


@shared_task(name="apps.runs.tasks.advance")
def advance(run_id: str) -> None:
    drive(uuid.UUID(run_id), worker_id=heartbeat.worker_id())


@shared_task(name="apps.runs.tasks.settle")
def settle(run_id: str) -> None:
    settle_ended(uuid.UUID(run_id))


@shared_task(name="apps.runs.tasks.sweep")
def sweep() -> None:
    sweep_runs()


@shared_task(name="apps.runs.tasks.clean_up")
def clean_up() -> None:
    clean_up_platform()
