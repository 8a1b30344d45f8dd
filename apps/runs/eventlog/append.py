"""One statement appends a batch of events or nothing; the database numbers and chains them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError, connection, transaction

from apps.runs.eventlog import approvals, spending
from apps.runs.eventlog.envelope import Event
from apps.runs.eventlog.publish import publish
from apps.runs.eventlog.seal import SCHEMA_VERSION, NewEvent, Sealed, seal
from omni.contracts.errors import Conflict, ErrorCategory, InvalidInput, NotFound, OmniError

MAX_BATCH = 1000
# Events from which rows follow, in the same transaction.
FOLLOWED = approvals.NAMES | spending.NAMES


class Fenced(OmniError):
    """Another worker has taken the run over; whoever gets this must stop at once."""

    category = ErrorCategory.CONFLICT


class RunEnded(Conflict):
    """The run is done, failed or cancelled; nothing can be added."""


class RunCancelling(Conflict):
    """The run is being cancelled; no new call, delta or child."""


class Overtaken(Conflict):
    """Something was appended since the caller last looked."""


_ERRORS: dict[str, type[OmniError]] = {
    "OM001": Fenced,
    "OM404": NotFound,
    "OM409": Conflict,
    "OM410": RunEnded,
    "OM412": Overtaken,
    "OM422": Conflict,
    "OM499": RunCancelling,
}


@dataclass(frozen=True, slots=True)
class Lease:
    """A driver's right to write: checked and renewed by every append it makes."""

    owner: uuid.UUID
    epoch: int
    milliseconds: int


def system(name: str, payload: dict[str, Any], *, key: str | None = None) -> NewEvent:
    return NewEvent("system_event", payload, name=name, key=key)


def append(
    run_id: uuid.UUID,
    events: Sequence[NewEvent | Sealed],
    *,
    actor: str = "system",
    lease: Lease | None = None,
    after: int | None = None,
) -> list[Event]:
    """Append `events` in order; anything wrong with one of them and none is written.

    A repeated idempotency key answers with the event that is already there. With `after`, the
    append is refused when the run's last event is another one.
    """
    if not 1 <= len(events) <= MAX_BATCH:
        raise InvalidInput(f"Append between 1 and {MAX_BATCH} events at a time.")
    sealed = [one if isinstance(one, Sealed) else seal(one, actor) for one in events]
    if any(one.event.name in FOLLOWED for one in sealed):
        with transaction.atomic():
            return _append(run_id, sealed, actor, lease, after)
    return _append(run_id, sealed, actor, lease, after)


def _append(
    run_id: uuid.UUID, sealed: list[Sealed], actor: str, lease: Lease | None, after: int | None
) -> list[Event]:
    rows = _call(run_id, "[" + ",".join(one.text for one in sealed) + "]", lease, after)
    done = [_event(run_id, one, actor, row) for one, row in zip(sealed, rows, strict=True)]
    fresh = [event for event, row in zip(done, rows, strict=True) if not row[4]]
    if fresh:
        approvals.apply_to_approvals(fresh)
        spending.apply_to_budgets(fresh)
        transaction.on_commit(lambda: publish(fresh))
    return done


def _event(run_id: uuid.UUID, sealed: Sealed, actor: str, row: tuple[Any, ...]) -> Event:
    seq, at, prev_hash, digest, _ = row
    return Event(
        run_id=run_id,
        seq=seq,
        kind=sealed.event.kind,
        name=sealed.event.name,
        payload=sealed.payload,
        payload_hash=sealed.payload_hash,
        prev_hash=prev_hash,
        hash=digest,
        actor=actor,
        at=at,
        schema_version=SCHEMA_VERSION,
        idempotency_key=sealed.event.key,
    )


def _call(
    run_id: uuid.UUID, events: str, lease: Lease | None, after: int | None
) -> list[tuple[Any, ...]]:
    fence = (lease.epoch, lease.milliseconds, lease.owner) if lease else (None, None, None)
    statement = "SELECT * FROM runs_append(%s, %s::jsonb, %s, %s, %s, %s)"
    parameters = [run_id, events, *fence, after]
    try:
        if not connection.in_atomic_block:
            with connection.cursor() as cursor:
                cursor.execute(statement, parameters)
                return list(cursor.fetchall())
        # A savepoint, so that the caller's transaction survives a refusal.
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement, parameters)
            return list(cursor.fetchall())
    except DatabaseError as error:
        raise _translated(error) from error


def _translated(error: DatabaseError) -> Exception:
    cause = error.__cause__
    kind = _ERRORS.get(getattr(cause, "sqlstate", "") or "")
    if kind is None:
        return error
    message = str(getattr(getattr(cause, "diag", None), "message_primary", "") or cause)
    return kind(message[:1].upper() + message[1:] + ".")
