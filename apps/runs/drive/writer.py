"""A driver's pen: every append under its lease, and safe when the connection breaks."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from operator import attrgetter

import structlog
from django.db import InterfaceError, OperationalError, connection

from apps.runs import eventlog
from apps.runs.eventlog import Event, Fenced, NewEvent, Sealed, Tip
from apps.runs.services.leases import Claim, renew_lease

log = structlog.get_logger(__name__)
BROKEN = (OperationalError, InterfaceError)
PAUSE_SECONDS = 0.1


class Writer:
    """Appends for one driver; `seen` is the last event that it has read or written."""

    def __init__(self, run_id: uuid.UUID, claim: Claim, actor: str) -> None:
        self.run_id = run_id
        self.lease = claim.lease
        self.actor = actor
        self.seen = 0
        self._tip: Tip | None = None
        self._taken_at = claim.taken_at
        self._started = self._alive = time.monotonic()

    def now(self) -> datetime:
        """By the database's clock, as of the lease: the worker's own may be wrong or set back."""
        return self._taken_at + timedelta(seconds=time.monotonic() - self._started)

    def seal(self, event: NewEvent) -> Sealed:
        return eventlog.seal(event, self.actor)

    def append(
        self, events: Sequence[NewEvent | Sealed], *, after: int | None = None
    ) -> list[Event]:
        """Append under the lease. When the answer is lost, look what happened, then go on."""
        until = time.monotonic() + self.lease.milliseconds / 1000
        while True:
            began = time.monotonic()
            try:
                done = eventlog.append(
                    self.run_id,
                    events,
                    actor=self.actor,
                    lease=self.lease,
                    after=after,
                    tip=self._tip,
                )
            except BROKEN as error:
                if connection.in_atomic_block:
                    raise
                log.warning("append_unanswered", error=type(error).__name__)
                done = self._written(events, until)
            if done:
                self._alive = began
                last = max(done, key=attrgetter("seq"))
                if last.seq >= self.seen:
                    self.seen, self._tip = last.seq, Tip(last.seq, last.hash)
                return done

    def confirm(self, *, always: bool = False) -> None:
        """Before an effect: a worker that was frozen may have lost its run without noticing."""
        began = time.monotonic()
        if always or began - self._alive > self.lease.milliseconds / 2000:
            if not renew_lease(self.run_id, self.lease)[0]:
                raise Fenced("The lease was lost.")
            self._alive = began

    def _written(self, events: Sequence[NewEvent | Sealed], until: float) -> list[Event]:
        """What of `events` is in the log after all; a batch is there whole or not at all."""
        self._reconnect(until)
        mine = [
            event
            for event in eventlog.read(self.run_id, after=self.seen)
            if event.actor == self.actor
        ]
        found = mine[-len(events) :]
        wanted = [e.event if isinstance(e, Sealed) else e for e in events]
        same = [(e.kind, e.name, e.idempotency_key) for e in found] == [
            (e.kind, e.name, e.key) for e in wanted
        ]
        return found if same else []

    def _reconnect(self, until: float) -> None:
        """Renewing waits for the row, so an append that still runs in the server ends first."""
        while True:
            connection.close()
            try:
                ours, _ = renew_lease(self.run_id, self.lease)
            except BROKEN:
                if time.monotonic() > until:
                    raise
                time.sleep(PAUSE_SECONDS)
                continue
            if not ours:
                raise Fenced("The lease was lost.")
            return
