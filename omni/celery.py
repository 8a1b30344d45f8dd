"""The Celery application. A task carries only ids: correctness never depends on its message."""

from __future__ import annotations

import functools
import gc
import os
from typing import Any

from celery import Celery
from celery.signals import worker_before_create_process

from omni.edge.task_logs import bind_celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "omni.settings")
os.environ.setdefault("OMNI_PROCESS", "worker")


class App(Celery):
    """Celery with a beat of our own."""

    @functools.cached_property
    def Beat(self) -> Any:
        from omni.edge.beat import Beat

        return self.subclass_with_self(Beat)


app = App("omni")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
bind_celery()


@worker_before_create_process.connect
def _share_memory_with_children(**_: Any) -> None:
    # What is loaded before the fork stays out of the collector, so pages remain shared.
    gc.freeze()
