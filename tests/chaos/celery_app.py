"""The platform's Celery application with tools whose effects can be counted."""

from __future__ import annotations

import os
from typing import Any

import django

django.setup()

from apps.runs.drive import ports  # noqa: E402
from omni.celery import app  # noqa: E402
from tests.chaos.faults import Fault  # noqa: E402

__all__ = ["app"]


def _plug(**_: Any) -> None:
    ports.plug(tools=Fault("", os.environ["CHAOS_EFFECTS"]).ports().tools)


_plug()
