"""Who may drive a run right now, by the database's clock; every new lease fences the old one."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from apps.runs.eventlog import Lease
from omni import config

MAX_ATTEMPTS = 8


@dataclass(frozen=True, slots=True)
class Claim:
    """A lease that was won."""

    lease: Lease
    attempts: int
    taken_at: datetime


def take_lease(run_id: uuid.UUID, *, owner: uuid.UUID) -> Claim | None:
    """Win the run, or None when somebody else has it or it has ended."""
    milliseconds = config.current().lease_seconds * 1000
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE runs_run SET lease_owner = %s, lease_epoch = lease_epoch + 1,
                lease_until = clock_timestamp() + make_interval(secs => %s),
                attempts = attempts + 1
            WHERE id = %s AND ended_at IS NULL
                AND (lease_owner IS NULL OR lease_until < clock_timestamp())
            RETURNING lease_epoch, attempts, clock_timestamp()
            """,
            [owner, milliseconds / 1000, run_id],
        )
        row = cursor.fetchone()
    return Claim(Lease(owner, row[0], milliseconds), row[1], row[2]) if row else None


def renew_lease(run_id: uuid.UUID, lease: Lease) -> tuple[bool, bool]:
    """Stay alive without an event; answers (still ours, cancel requested)."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE runs_run SET lease_until = clock_timestamp() + make_interval(secs => %s)
            WHERE id = %s AND lease_epoch = %s AND lease_owner = %s
            RETURNING cancel_requested
            """,
            [lease.milliseconds / 1000, run_id, lease.epoch, lease.owner],
        )
        row = cursor.fetchone()
    return (True, row[0]) if row else (False, False)


def release_lease(
    run_id: uuid.UUID, lease: Lease, *, seen_seq: int | None = None, due_in: float | None = None
) -> bool:
    """Give the run back; False when an event arrived that the driver has not seen yet."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE runs_run SET lease_owner = NULL, lease_until = NULL, attempts = 0,
                due_at = CASE WHEN ended_at IS NOT NULL OR %(due)s::float8 IS NULL THEN NULL
                              ELSE clock_timestamp() + make_interval(secs => %(due)s::float8) END
            WHERE id = %(run)s AND lease_epoch = %(epoch)s AND lease_owner = %(owner)s
                AND last_seq = coalesce(%(seen)s::bigint, last_seq)
            RETURNING id
            """,
            {
                "due": due_in,
                "run": run_id,
                "epoch": lease.epoch,
                "owner": lease.owner,
                "seen": seen_seq,
            },
        )
        return cursor.fetchone() is not None


def due_runs(limit: int = 500) -> list[uuid.UUID]:
    """Runs that need a worker: due and unclaimed, or claimed by somebody who fell silent.

    Each is answered once per lease time, so that hints do not pile up while all workers are busy.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE runs_run SET due_at = clock_timestamp() + make_interval(secs => %s)
            WHERE id IN (
                SELECT id FROM runs_run
                WHERE status IN ('queued', 'running', 'waiting_permission') AND (
                    (lease_owner IS NULL AND due_at <= clock_timestamp())
                    OR (lease_until < clock_timestamp()
                        AND (due_at IS NULL OR due_at <= clock_timestamp())))
                ORDER BY due_at NULLS FIRST LIMIT %s FOR UPDATE SKIP LOCKED)
            RETURNING id
            """,
            [config.current().lease_seconds, limit],
        )
        return [row[0] for row in cursor.fetchall()]
