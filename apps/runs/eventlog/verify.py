"""Proves or disproves a run's log: numbers, chain, payloads, erasures."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass

from apps.runs.eventlog.envelope import Event
from apps.runs.eventlog.read import read_all
from apps.runs.models.run import GENESIS, Run
from omni.contracts.canonical import canonical


@dataclass(frozen=True, slots=True)
class Verdict:
    """`ok`, or the first event that does not hold and why."""

    ok: bool
    events: int
    erased: int = 0
    seq: int | None = None
    reason: str = ""


def verify(run_id: uuid.UUID) -> Verdict:
    run = Run.objects.get(pk=run_id)
    previous, expected, erased = GENESIS, 1, set[int]()
    tombstones = set[int]()
    for event in read_all(run_id):
        wrong = _wrong(event, expected, previous)
        if wrong:
            return Verdict(False, expected - 1, seq=event.seq, reason=wrong)
        if event.payload is None:
            erased.add(event.seq)
        elif event.name == "payload_erased":
            tombstones.add(event.payload["seq"])
        previous, expected = event.hash, expected + 1
    if (run.last_seq, run.tip_hash) != (expected - 1, previous):
        return Verdict(
            False, expected - 1, seq=expected, reason="the log ends earlier than the run says"
        )
    if erased - tombstones:
        return Verdict(
            False, expected - 1, seq=min(erased - tombstones), reason="erased without a tombstone"
        )
    return Verdict(True, expected - 1, erased=len(erased))


def _wrong(event: Event, expected: int, previous: str) -> str:
    if event.seq != expected:
        return f"event {expected} is missing"
    if event.prev_hash != previous:
        return "it does not follow its predecessor"
    if hashlib.sha256(canonical(event.head)).hexdigest() != event.hash:
        return "its hash does not match its content"
    if event.payload is not None:
        body = hashlib.sha256(canonical(event.payload)).hexdigest()
        if body != event.payload_hash:
            return "its payload does not match its hash"
    return ""
