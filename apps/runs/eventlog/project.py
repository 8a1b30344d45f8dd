"""Folded state of runs: kept in a table to save work, rebuilt from events at will."""

from __future__ import annotations

import uuid

from django.db import connection

from apps.runs.eventlog.approvals import rebuild_approvals
from apps.runs.eventlog.read import read_all
from apps.runs.models.projection import Projection
from omni.contracts.canonical import canonical
from omni.engine.state import SHAPE, RunState, fold


def load_state(run_id: uuid.UUID) -> RunState:
    """The state up to the last event: the kept one plus what came after it."""
    kept = Projection.objects.filter(pk=run_id).first()
    return _brought_up(run_id, kept) if kept else fold_from_scratch(run_id)


def _brought_up(run_id: uuid.UUID, kept: Projection) -> RunState:
    """Unless something below was erased since, or folding itself has changed."""
    if kept.state.get("shape") != SHAPE:
        return fold_from_scratch(run_id)
    later = list(read_all(run_id, after=kept.upto_seq))
    if any(event.name == "payload_erased" for event in later):
        return fold_from_scratch(run_id)
    return fold(later, RunState.from_json(kept.state))


def fold_from_scratch(run_id: uuid.UUID) -> RunState:
    return fold(read_all(run_id))


def save_projection(run_id: uuid.UUID, state: RunState) -> None:
    """Keep a state; an older one never replaces a newer one."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO runs_projection (run_id, upto_seq, state) VALUES (%s, %s, %s::jsonb)
            ON CONFLICT (run_id) DO UPDATE SET upto_seq = EXCLUDED.upto_seq, state = EXCLUDED.state
            WHERE runs_projection.upto_seq <= EXCLUDED.upto_seq
            """,
            [run_id, state.last_seq, canonical(state.as_json()).decode()],
        )


def rebuild(run_id: uuid.UUID) -> bool:
    """Throw the kept state away and fold anew; answers whether it had been right."""
    kept = Projection.objects.filter(pk=run_id).first()
    before = canonical(_brought_up(run_id, kept).as_json()) if kept else None
    fresh = fold_from_scratch(run_id)
    Projection.objects.filter(pk=run_id).delete()
    save_projection(run_id, fresh)
    same_rows = rebuild_approvals(run_id, read_all(run_id))
    return same_rows and (before is None or before == canonical(fresh.as_json()))
