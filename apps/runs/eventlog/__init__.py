"""The append-only log of every run: the only room that touches the RunEvent model."""

from apps.runs.eventlog.append import (
    Fenced,
    Lease,
    Overtaken,
    RunCancelling,
    RunEnded,
    Tip,
    append,
    system,
)
from apps.runs.eventlog.envelope import Event
from apps.runs.eventlog.erase import erase_payload
from apps.runs.eventlog.read import event_at, read, read_all
from apps.runs.eventlog.seal import NewEvent, Sealed, cleaned, seal
from apps.runs.eventlog.verify import Verdict, verify

__all__ = [
    "Event",
    "Fenced",
    "Lease",
    "NewEvent",
    "Overtaken",
    "RunCancelling",
    "RunEnded",
    "Sealed",
    "Tip",
    "Verdict",
    "append",
    "cleaned",
    "erase_payload",
    "event_at",
    "read",
    "read_all",
    "seal",
    "system",
    "verify",
]
