"""A thread and runs, as in tests/runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from apps.registry.models import Project, User
from apps.runs.models import Run, Thread
from apps.runs.services.runs import create_run, create_thread


@pytest.fixture
def thread(project: Project, user: User) -> Thread:
    return create_thread(actor=user, project=project, title="Chaos")


@pytest.fixture
def make_run(thread: Thread, user: User) -> Callable[..., Run]:
    def make(run_kind: str = "script", **input: Any) -> Run:
        text = input.pop("text", "")
        return create_run(actor=user, thread=thread, run_kind=run_kind, input=input, text=text)

    return make
