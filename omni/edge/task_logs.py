"""Carries log ids from a request into the tasks it sends, and names the task on each line."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import Any

from celery import signals
from django.conf import settings

from omni import config
from omni.telemetry import logs

HEADER = "omni_log_ids"
# Where Celery says that a task was sent, received, done.
SPEAKERS = ("celery.beat", "celery.worker.strategy", "celery.app.trace")


def bind_celery() -> None:
    """Give Celery's processes our logs instead of its own; call it where the app is made."""
    # Any receiver makes Celery leave logging alone; Django's set-up has configured it already.
    signals.setup_logging.connect(_keep_logging, weak=False, dispatch_uid="omni.logs")
    signals.celeryd_init.connect(_name_worker, weak=False, dispatch_uid="omni.logs")
    signals.beat_init.connect(_name_beat, weak=False, dispatch_uid="omni.logs")
    signals.before_task_publish.connect(_attach_ids, weak=False, dispatch_uid="omni.logs")
    signals.task_prerun.connect(_bind_task, weak=False, dispatch_uid="omni.logs")
    signals.task_postrun.connect(_unbind_task, weak=False, dispatch_uid="omni.logs")
    for name in SPEAKERS:
        logging.getLogger(name).addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    """The platform's own pulse, every other second, would bury what people look for.

    Its failures are told, and with OMNI_LOG_LEVEL=DEBUG everything is.
    """
    if record.levelno > logging.INFO or logging.getLogger().isEnabledFor(logging.DEBUG):
        return True
    return _task_named_in(record) not in {
        schedule["task"] for schedule in settings.CELERY_BEAT_SCHEDULE.values()
    }


def _task_named_in(record: logging.LogRecord) -> str:
    """A worker gives a table of facts, beat the names of schedule and task."""
    if isinstance(record.args, Mapping):
        return str(record.args.get("name", ""))
    return str(record.args[-1]) if record.args else ""


def _keep_logging(**_: Any) -> None:
    return None


def _name_worker(**_: Any) -> None:
    """Node and process number, as the list of workers shows them; before the pool is forked."""
    logs.name_worker(f"{config.current().node_id}/{os.getpid()}")
    # Celery prints what it is told by a signal past every logger.
    from celery.apps import worker

    vars(worker)["safe_say"] = _say


def _say(message: str, *_: Any) -> None:
    os.write(2, logs.line(message, config=config.current()))


def _name_beat(**_: Any) -> None:
    logs.name_process("beat")


def _attach_ids(headers: dict[str, Any] | None = None, **_: Any) -> None:
    if headers is not None:
        headers.setdefault(HEADER, logs.carried())


def _bind_task(task_id: str, task: Any, **_: Any) -> None:
    # An eager task runs inside its sender, whose ids must survive it.
    if not task.request.is_eager:
        logs.unbind_all()
        logs.restore(getattr(task.request, HEADER, None) or {})
    logs.bind(task_id=task_id, task=task.name)


def _unbind_task(task: Any, **_: Any) -> None:
    if task.request.is_eager:
        logs.unbind("task_id", "task")
    else:
        logs.unbind_all()
