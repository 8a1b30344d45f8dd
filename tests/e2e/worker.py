"""A worker for the browser tests: drives what is due, word by word, and starts runs on request.

Each line it reads is the JSON input of a script run; it answers with the run's id. A text that
says HOLD is told up to there, and goes on after the line `"release"`.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from typing import Any

import django

SECONDS_PER_WORD = 0.12
HOLD = "HOLD"
_released = threading.Semaphore(0)


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    import omni.celery  # noqa: F401  (services send hints through this application)

    threading.Thread(target=_drive, daemon=True).start()
    for line in sys.stdin:
        about = json.loads(line)
        if about == "release":
            _released.release()
        else:
            print(_start(about), flush=True)


def _start(about: dict[str, Any]) -> uuid.UUID:
    from apps.registry.models import Project, User
    from apps.runs.models import Thread
    from apps.runs.services.runs import create_run, create_thread

    ada = User.objects.get(email="ada@example.org")
    project = Project.objects.get(slug="apollo")
    thread = Thread.objects.filter(project=project).first() or create_thread(
        actor=ada, project=project, title="By script"
    )
    return create_run(actor=ada, thread=thread, run_kind="script", input=about).pk


def _drive() -> None:
    from django.db import close_old_connections
    from django.utils import timezone

    from apps.runs.drive.driver import advance
    from apps.runs.drive.ports import plug
    from apps.runs.models import Run

    plug(model=_slow_model())
    worker = uuid.uuid4()
    while True:
        close_old_connections()
        for run in Run.objects.filter(due_at__lte=timezone.now(), ended_at=None):
            advance(run.pk, worker_id=worker)
        time.sleep(0.05)


def _slow_model() -> Any:
    from apps.runs.drive.ports import ScriptedModel
    from omni.contracts.ports import RunContext

    class SlowModel(ScriptedModel):
        def stream(
            self, model: str, messages: list[dict[str, str]], context: RunContext
        ) -> Iterator[str]:
            for word in super().stream(model, messages, context):
                time.sleep(SECONDS_PER_WORD)
                yield word
                while word.strip() == HOLD and not _released.acquire(timeout=0.05):
                    if context.cancelled():
                        return

    return SlowModel()


if __name__ == "__main__":
    main()
