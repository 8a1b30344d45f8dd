"""Keeps a lease alive beside the driver and notices within a second when the run must stop."""

from __future__ import annotations

import threading
import uuid
from types import TracebackType

import structlog
from django.db import Error, connection

from apps.runs.eventlog import Lease
from apps.runs.services.leases import renew_lease

log = structlog.get_logger(__name__)
LOOK_SECONDS = 0.4


class Pulse:
    """A thread with its own database connection, for as long as a driver holds the run."""

    def __init__(self, run_id: uuid.UUID, lease: Lease) -> None:
        self._run_id = run_id
        self._lease = lease
        self._done = threading.Event()
        self.must_stop = threading.Event()
        self.lost = False
        self._thread = threading.Thread(target=self._beat, name=f"pulse-{run_id}", daemon=True)

    def __enter__(self) -> Pulse:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._done.set()
        self._thread.join(timeout=5)

    def _beat(self) -> None:
        interval = min(LOOK_SECONDS, self._lease.milliseconds / 3000)
        try:
            while not self._done.wait(interval):
                self._look()
        finally:
            connection.close()

    def _look(self) -> None:
        try:
            ours, cancelled = renew_lease(self._run_id, self._lease)
        except Error as error:
            log.warning("lease_not_renewed", run_id=str(self._run_id), error=type(error).__name__)
            connection.close()
            return
        if not ours:
            self.lost = True
        if cancelled or not ours:
            self.must_stop.set()
