"""The pacemaker: django-celery-beat's scheduler that also reports that it is alive."""

from __future__ import annotations

from typing import Any

from django_celery_beat.schedulers import DatabaseScheduler

from apps.runs.heartbeat import Heartbeat
from apps.runs.models import Worker


class Scheduler(DatabaseScheduler):
    """Reports from its own loop, so a hanging loop counts as gone."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._heartbeat = Heartbeat(Worker.Kind.BEAT)
        super().__init__(*args, **kwargs)

    def tick(self, *args: Any, **kwargs: Any) -> float:
        self._heartbeat.beat()
        return float(super().tick(*args, **kwargs))

    def close(self) -> None:
        self._heartbeat.stop()
        super().close()
