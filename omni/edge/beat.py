"""Celery's beat, made to stop cleanly at any moment."""

from __future__ import annotations

import signal
from types import FrameType

from celery.apps import beat
from celery.beat import Service


class Beat(beat.Beat):
    """Stops where it is; the loop saves the schedule on its way out.

    Celery saves inside the signal's handler already; if that cut into a query, it waits for ever
    for the lock of the connection that the query holds.
    """

    def install_sync_handler(self, service: Service) -> None:
        def leave(number: int, frame: FrameType | None) -> None:
            for each in (signal.SIGTERM, signal.SIGINT):
                signal.signal(each, signal.SIG_IGN)
            raise SystemExit

        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, leave)
