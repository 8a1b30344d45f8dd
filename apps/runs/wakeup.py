"""Hints to workers. A lost hint costs time, never a run: the sweeper finds what is due."""

from __future__ import annotations

import uuid

import structlog
from celery import current_app
from django.db import transaction

log = structlog.get_logger(__name__)
ADVANCE = "apps.runs.tasks.advance"
SETTLE = "apps.runs.tasks.settle"


def advance_soon(run_id: uuid.UUID) -> None:
    """After commit, tell some worker that the run needs attention."""
    transaction.on_commit(lambda: _send(ADVANCE, run_id))


def settle_soon(run_id: uuid.UUID) -> None:
    """After commit, have an ended run's parent told."""
    transaction.on_commit(lambda: _send(SETTLE, run_id))


def _send(task: str, run_id: uuid.UUID) -> None:
    try:
        current_app.send_task(task, [str(run_id)], retry=False, ignore_result=True)
    except Exception as error:  # noqa: BLE001  (each broker has its own errors; the sweeper repairs)
        log.warning("hint_not_sent", task=task, run_id=str(run_id), error=type(error).__name__)
