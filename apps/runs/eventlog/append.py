"""One statement appends a batch of events or nothing; the database numbers and chains them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError, IntegrityError, transaction

from apps.runs.eventlog import approvals, spending, statement
from apps.runs.eventlog.envelope import Event
from apps.runs.eventlog.publish import publish
from apps.runs.eventlog.seal import SCHEMA_VERSION, NewEvent, Sealed, seal
from omni.contracts.errors import Conflict, ErrorCategory, InvalidInput, NotFound, OmniError

MAX_BATCH = 1000
# Events from which rows follow, in the same transaction.
FOLLOWED = approvals.NAMES | spending.NAMES
APPEND = "SELECT * FROM runs_append(%s::uuid, %s::jsonb, %s::bigint, %s::int, %s::uuid, %s::bigint)"
APPEND_NEXT = (
    "SELECT * FROM runs_append_next("
    "%s::uuid, %s::jsonb, %s::bigint, %s::int, %s::uuid, %s::bigint, %s::text)"
)
Row = tuple[Any, ...]


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


@dataclass(frozen=True, slots=True)
class Tip:
    """The last event of a run as far as its driver knows; being wrong costs one question."""

    seq: int
    hash: str


def system(name: str, payload: dict[str, Any], *, key: str | None = None) -> NewEvent:
    return NewEvent("system_event", payload, name=name, key=key)


def append(
    run_id: uuid.UUID,
    events: Sequence[NewEvent | Sealed],
    *,
    actor: str = "system",
    lease: Lease | None = None,
    after: int | None = None,
    tip: Tip | None = None,
) -> list[Event]:
    """Append `events` in order; anything wrong with one of them and none is written.

    A repeated idempotency key answers with the event that is already there. With `after`, the
    append is refused when the run's last event is another one. With `tip`, a single event of a
    driver takes a shorter way if the run's last event is that one.
    """
    if not 1 <= len(events) <= MAX_BATCH:
        raise InvalidInput(f"Append between 1 and {MAX_BATCH} events at a time.")
    sealed = [one if isinstance(one, Sealed) else seal(one, actor) for one in events]
    if any(one.event.name in FOLLOWED for one in sealed):
        with transaction.atomic():
            return _append(run_id, sealed, actor, lease, after, tip)
    return _append(run_id, sealed, actor, lease, after, tip)


def _append(
    run_id: uuid.UUID,
    sealed: list[Sealed],
    actor: str,
    lease: Lease | None,
    after: int | None,
    tip: Tip | None,
) -> list[Event]:
    rows: list[Row] = []
    if lease and tip and after in (None, tip.seq) and len(sealed) == 1:
        rows = _write_next(run_id, sealed[0], lease, tip)
    rows = rows or _write(run_id, sealed, lease, after)
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


def _write_next(run_id: uuid.UUID, one: Sealed, lease: Lease, tip: Tip) -> list[Row]:
    """The event behind `tip`; nothing when it is not as simple as that."""
    if one.event.name == "state_changed":
        return []
    seq = tip.seq + 1
    fence = (lease.epoch, lease.milliseconds, lease.owner)
    try:
        at, digest = statement.fetch(APPEND_NEXT, (run_id, one.text, *fence, seq, tip.hash))[0]
    except IntegrityError:
        return []  # its key is taken: either this is a repetition or a mistake
    return [(seq, at, tip.hash, digest, False)] if at else []


def _write(
    run_id: uuid.UUID, sealed: list[Sealed], lease: Lease | None, after: int | None
) -> list[Row]:
    fence = (lease.epoch, lease.milliseconds, lease.owner) if lease else (None, None, None)
    events = "[" + ",".join(one.text for one in sealed) + "]"
    try:
        return statement.fetch(APPEND, (run_id, events, *fence, after))
    except DatabaseError as error:
        raise _translated(error) from error


def _translated(error: DatabaseError) -> Exception:
    cause = error.__cause__
    kind = _ERRORS.get(getattr(cause, "sqlstate", "") or "")
    if kind is None:
        return error
    message = str(getattr(getattr(cause, "diag", None), "message_primary", "") or cause)
    return kind(message[:1].upper() + message[1:] + ".")
