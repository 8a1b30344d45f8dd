"""Sums of budgets follow from events, in the transaction that appends them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import connection

from apps.runs.eventlog.envelope import Event
from apps.runs.models.event import RunEvent
from apps.runs.models.run import Run

NAMES = frozenset({"budget_settled"})
UNITS = ("steps", "seconds", "tokens")


def reservation_key(call_id: str) -> str:
    return f"reserve-{call_id}"


def apply_to_budgets(events: list[Event]) -> None:
    """Give back what was set aside for a call and not used, or take what it cost beyond that."""
    for event in events:
        if event.name != "budget_settled" or event.payload is None:
            continue
        kept = RunEvent.objects.filter(
            run_id=event.run_id, idempotency_key=reservation_key(event.payload["call_id"])
        ).first()
        if kept is not None and kept.payload is not None:
            _settle(kept, event.payload["amount"])


def _settle(reservation: RunEvent, spent: dict[str, Any]) -> None:
    run = Run.objects.only("pk", "thread_id", "project_id").get(pk=reservation.run_id)
    payload: dict[str, Any] = reservation.payload or {}
    before, after = dict(units_of(payload["amount"])), dict(units_of(spent))
    rows = {
        (scope_of(run, budget["per"], reservation.at), unit)
        for budget in payload.get("budgets", [])
        for unit, _ in units_of(budget["limit"])
    }
    for scope, unit in sorted(rows):
        difference = after.get(unit, Decimal(0)) - before.get(unit, Decimal(0))
        if difference:
            add(run.project_id, scope, unit, difference)


def units_of(amount: dict[str, Any]) -> Iterator[tuple[str, Decimal]]:
    """What budgets bound, one by one; money by its currency."""
    for unit in UNITS:
        if unit in amount:
            yield unit, Decimal(str(amount[unit]))
    if "money" in amount:
        yield f"money:{amount['money']['currency']}", Decimal(amount["money"]["amount"])


def scope_of(run: Run, per: str, at: datetime) -> str:
    """What a budget counts; a day is a day of UTC."""
    return {
        "run": f"run:{run.pk}",
        "thread": f"thread:{run.thread_id}",
        "project": f"project:{run.project_id}",
        "day": f"day:{run.project_id}:{at:%Y-%m-%d}",
    }[per]


def add(
    project_id: uuid.UUID, scope: str, unit: str, part: Decimal
) -> tuple[Decimal, Decimal | None]:
    """Change a sum; answers the new one, and the bound to which a person raised it."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO runs_budgetuse AS b (scope, unit, project_id, amount, updated_at)
            VALUES (%s, %s, %s, GREATEST(%s, 0), clock_timestamp())
            ON CONFLICT (scope, unit) DO UPDATE
                SET amount = GREATEST(b.amount + %s, 0), updated_at = clock_timestamp()
            RETURNING amount, raised_to
            """,
            [scope, unit, project_id, part, part],
        )
        row = cursor.fetchone()
    return row[0], row[1]
