"""Budgets: what is set aside before an effect, and how a person raises a bound."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models.functions import Coalesce, Greatest

from apps.runs.eventlog.spending import add, scope_of, units_of
from apps.runs.models import BudgetUse, Run

RAISE_FACTOR = 2
NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class Bound:
    """One unit of one budget, for one run at one moment."""

    policy: str
    per: str
    scope: str
    unit: str
    limit: Decimal
    on_reached: str
    used: Decimal = NOTHING


@dataclass(frozen=True, slots=True)
class Reached:
    """The budget that has no room for what is wanted."""

    bound: Bound
    wanted: Decimal

    @property
    def proposed(self) -> Decimal:
        """Room for as much again, and for this call in any case."""
        return max(self.bound.limit * RAISE_FACTOR, self.bound.used + self.wanted)


def bounds_of(run: Run, budgets: Sequence[dict[str, Any]], at: datetime) -> list[Bound]:
    """Every bound that counts for this run now, in the one order in which rows are locked."""
    found = [
        Bound(
            policy=budget["policy"],
            per=budget["per"],
            scope=scope_of(run, budget["per"], at),
            unit=unit,
            limit=limit,
            on_reached=budget["on_reached"],
        )
        for budget in budgets
        for unit, limit in units_of(budget)
    ]
    return sorted(found, key=lambda each: (each.scope, each.unit, each.limit))


def reserve(run: Run, bounds: list[Bound], amount: dict[str, Any]) -> Reached | list[Bound]:
    """Set `amount` aside everywhere, or say what is full: then the caller's transaction undoes it.

    Several bounds on one sum count once.
    """
    wanted = dict(units_of(amount))
    sums: dict[tuple[str, str], tuple[Decimal, Decimal | None]] = {}
    kept = []
    for bound in bounds:
        part = wanted.get(bound.unit)
        if not part:
            continue
        place = (bound.scope, bound.unit)
        if place not in sums:
            sums[place] = add(run.project_id, bound.scope, bound.unit, part)
        used, raised = sums[place]
        bound = replace(bound, limit=max(bound.limit, raised or NOTHING), used=used)
        if used > bound.limit:
            return Reached(replace(bound, used=used - part), part)
        kept.append(bound)
    return kept


def raise_bound(*, project_id: uuid.UUID, scope: str, unit: str, to: str) -> None:
    """A person's answer; it holds for this scope, so that of a day ends with the day."""
    BudgetUse.objects.get_or_create(scope=scope, unit=unit, defaults={"project_id": project_id})
    # An older question that is answered late must not lower what another has raised since.
    BudgetUse.objects.filter(scope=scope, unit=unit).update(
        raised_to=Greatest(Coalesce("raised_to", Decimal(to)), Decimal(to))
    )


def spending(unit: str, number: Decimal) -> dict[str, Any]:
    """An amount as events have it."""
    if unit.startswith("money:"):
        return {"money": {"amount": format(number.normalize(), "f"), "currency": unit[6:]}}
    return {unit: float(number) if unit == "seconds" else int(number)}
