"""Advances one run as far as it goes: fold, decide, record the intent, act, record the result."""

from __future__ import annotations

import contextlib
import uuid
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import structlog
from django.db import transaction

from apps.runs.drive import budget, tools
from apps.runs.drive.children import start_child
from apps.runs.drive.context import DriveContext
from apps.runs.drive.perform import Stopped, intent_of, perform
from apps.runs.drive.ports import Ports, plugged
from apps.runs.drive.pulse import Pulse
from apps.runs.drive.writer import Writer
from apps.runs.eventlog import (
    Fenced,
    NewEvent,
    Overtaken,
    RunCancelling,
    RunEnded,
    Sealed,
    system,
)
from apps.runs.eventlog.project import load_state, save_projection
from apps.runs.services.budgets import Reached
from apps.runs.services.leases import MAX_ATTEMPTS, Claim, release_lease, take_lease
from apps.runs.services.settle import settle_ended
from omni.contracts.errors import InvalidInput
from omni.contracts.ports import RunFacts, ToolRequest, Verdict
from omni.engine.decide import decide
from omni.engine.effects import CallTool, Effect, Finish, StartChild, Wait
from omni.engine.lifecycle import Status
from omni.engine.state import RunState, fold

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Foreseen:
    """A result folded before it is appended, so that it shares a statement with what follows."""

    seq: int
    kind: str
    name: str
    payload: dict[str, Any] | None


def advance(run_id: uuid.UUID, *, worker_id: uuid.UUID, ports: Ports | None = None) -> str:
    """Take the run if it is free and drive it; answers what became of it."""
    claim = take_lease(run_id, owner=worker_id)
    if claim is None:
        return "busy or ended"
    driver = Driver(run_id, claim, worker_id, ports or plugged())
    with structlog.contextvars.bound_contextvars(run_id=str(run_id)):
        try:
            return driver.drive()
        except Fenced:
            log.warning("fenced", epoch=claim.lease.epoch)
            return "fenced"
        except RunEnded:
            return "ended"


class Driver:
    """One worker's turn with one run, under one lease."""

    def __init__(self, run_id: uuid.UUID, claim: Claim, worker_id: uuid.UUID, ports: Ports) -> None:
        self.run_id = run_id
        self.claim = claim
        self.ports = ports
        self.writer = Writer(run_id, claim, f"worker:{worker_id}")
        self.state = RunState()
        self._facts: RunFacts | None = None
        self._held: list[Sealed] = []

    def drive(self) -> str:
        self._read()
        with Pulse(self.run_id, self.claim.lease) as pulse:
            context = DriveContext(self.writer, pulse)
            self._take_up()
            while True:
                outcome = self._guarded_turn(context, pulse)
                if outcome:
                    return outcome

    def _guarded_turn(self, context: DriveContext, pulse: Pulse) -> str:
        try:
            if pulse.must_stop.is_set():
                raise Stopped
            return self._turn(context)
        except (Stopped, RunCancelling):
            if pulse.lost:
                raise Fenced("The lease was lost.") from None
            self._save_held()
            effect = decide(self.run_id, self.state)
            return self._finish(effect) if isinstance(effect, Finish) else self._leave("")
        except Overtaken:
            self._save_held()
            return ""
        except InvalidInput as error:
            self._save_held()
            return self._finish(Finish(Status.FAILED, str(error)[:500]))

    def _turn(self, context: DriveContext) -> str:
        """One effect; an answer means that there is nothing more to do now."""
        effect = decide(self.run_id, self.state)
        if effect is None or isinstance(effect, Wait):
            self._commit([])
            return self._leave(effect.what if effect else "")
        if isinstance(effect, Finish):
            return self._finish(effect, exact=effect.status is not Status.CANCELLED)
        if isinstance(effect, StartChild):
            self._commit([])
            start_child(self.run_id, effect, self.writer.lease, self.writer.actor)
            self._read()
            return ""
        if isinstance(effect, CallTool):
            self._call_tool(effect, context)
        else:
            self._carry_out(effect, context)
        return ""

    def _call_tool(self, effect: CallTool, context: DriveContext) -> None:
        """Decided first; the intent is recorded with the decision, then the call is made."""
        if self._facts is None:
            self._facts = tools.facts_of(self.run_id)
        spent = budget.spent(self._facts, self.run_id, context)
        request = tools.request_of(effect, self.state, self._facts, spent)
        verdict = tools.prepare(self.ports.tools, request, context)
        if verdict.question is not None and not effect.repeat:
            self._commit(tools.asked(verdict, request, context))
        elif verdict.refusal is not None or verdict.question is not None:
            self._commit(tools.refused(verdict, request, effect))
        elif effect.repeat or self._begin(effect, verdict, request, context):
            self.writer.confirm()
            results = tools.carry_out(self.ports.tools, verdict, request, context)
            self._absorb(context)
            self._hold(results)

    def _begin(
        self, effect: CallTool, verdict: Verdict, request: ToolRequest, context: DriveContext
    ) -> bool:
        """Record the intent, with its place in the budgets; False when there is no room."""
        intent = tools.intent(verdict, request, effect.plan_step)
        if not verdict.budgets:
            self._commit(intent)
            return True
        # What the call before gave back counts, and is safe before this transaction begins.
        self._commit([])
        with transaction.atomic():
            room = budget.set_aside(self.run_id, verdict, context)
            if not isinstance(room, Reached):
                self._commit([*intent[:-1], budget.reserved(verdict, request, room), intent[-1]])
                return True
            transaction.set_rollback(True)
        told, refusal = budget.full(room, request, context)
        if refusal:
            error = {"category": "budget_exceeded", "message": refusal}
            full = replace(verdict, refusal=error)
            self._commit([*told, *tools.refused(full, request, effect)])
        else:
            self._commit(told)
        return False

    def _carry_out(self, effect: Effect, context: DriveContext) -> None:
        intent = intent_of(effect)
        if intent:
            self._commit(intent)
            self.writer.confirm()
        results = perform(effect, context, self.ports)
        self._absorb(context)
        self._hold(results)
        if not intent:
            self._commit([])

    def _take_up(self) -> None:
        """Note who has the run; a waiting or queued one becomes running when there is work."""
        events: list[NewEvent] = []
        if self.claim.attempts > 1:
            lease = {
                "worker_id": str(self.claim.lease.owner),
                "epoch": self.claim.lease.epoch,
                "attempt": self.claim.attempts,
            }
            events.append(system("lease_taken", lease))
        if self.claim.attempts > MAX_ATTEMPTS:
            reason = f"{self.claim.attempts - 1} workers died without progress"
            change = {"from": self.state.status, "to": "failed", "reason": reason}
            self._commit([*events, system("state_changed", change)])
            return
        if self.state.status != Status.RUNNING and not self.state.pending_approvals:
            change = {"from": self.state.status, "to": "running"}
            events.append(system("state_changed", change))
        self._commit([*events, *self._due_timers()])

    def _due_timers(self) -> list[NewEvent]:
        now = self.writer.now()
        return [
            system("timer_fired", {"timer_id": timer}, key=f"fired-{timer}")
            for timer, due in self.state.pending_timers.items()
            if datetime.fromisoformat(due) <= now
        ]

    def _finish(self, effect: Finish, *, exact: bool = False) -> str:
        """`exact`: only when nothing came in since the end was decided."""
        change: dict[str, Any] = {"from": self.state.status, "to": effect.status.value}
        if effect.reason:
            change["reason"] = effect.reason
        if effect.result is not None:
            change["result"] = effect.result
        self._commit([system("state_changed", change)], exact=exact)
        self._leave("")
        return effect.status.value

    def _leave(self, what: str) -> str:
        """Give the run back, unless something arrived that must be looked at first."""
        save_projection(self.run_id, self.state)
        if self.state.is_terminal:
            release_lease(self.run_id, self.claim.lease)
            settle_ended(self.run_id)
            return "ended"
        due = [datetime.fromisoformat(due) for due in self.state.pending_timers.values()]
        due_in = max((min(due) - self.writer.now()).total_seconds(), 0) if due else None
        seen = self.state.last_seq
        if release_lease(self.run_id, self.claim.lease, seen_seq=seen, due_in=due_in):
            return f"waiting for {what}" if what else "ended"
        self.writer.confirm(always=True)
        self._read()
        self._take_up()
        return ""

    def _commit(self, more: list[NewEvent], *, exact: bool = False) -> None:
        """Append held results and `more` in one statement, then fold what really happened."""
        held = len(self._held)
        events: list[NewEvent | Sealed] = [*self._held, *more]
        if not events:
            return
        before = self.state.last_seq - held
        done = self.writer.append(events, after=before if exact else None)
        self._held = []
        if (done[0].seq, done[-1].seq) == (before + 1, before + len(events)):
            fold(done[held:], self.state)
        else:
            self._read()

    def _save_held(self) -> None:
        """What was done is recorded, also when what was to follow is refused."""
        held, self._held = self._held, []
        if held:
            with contextlib.suppress(RunCancelling):
                self.writer.append(held)
        self._read()

    def _hold(self, results: list[NewEvent | Sealed]) -> None:
        """Fold results as the log will have them; they are appended with what follows."""
        for result in results:
            one = result if isinstance(result, Sealed) else self.writer.seal(result)
            seq, event = self.state.last_seq + 1, one.event
            fold([_Foreseen(seq, event.kind, event.name, one.payload)], self.state)
            self._held.append(one)

    def _absorb(self, context: DriveContext) -> None:
        """Fold what the effect itself appended: deltas, artifacts."""
        appended, context.appended = context.appended, []
        if not appended:
            return
        first = self.state.last_seq + 1
        if [event.seq for event in appended] == list(range(first, first + len(appended))):
            fold(appended, self.state)
        else:
            self._read()

    def _read(self) -> None:
        self.state = load_state(self.run_id)
        self.writer.seen = self.state.last_seq
