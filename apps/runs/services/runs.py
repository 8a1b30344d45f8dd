"""The life of a run as people and programs steer it: every verb is idempotent and leaves events."""

from __future__ import annotations

import uuid
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils import timezone

from apps.registry.models import Project, User
from apps.registry.permissions import require
from apps.registry.roles import Permission
from apps.registry.validation import validated
from apps.runs import eventlog, wakeup
from apps.runs.eventlog import NewEvent, system
from apps.runs.models import Run, Thread
from apps.tools.invoke.kinds import executor_versions
from apps.tools.selectors import pins_of
from omni import __version__
from omni.contracts.errors import Conflict, InvalidInput, NotFound
from omni.engine.decide import CHECKS, DECIDERS
from omni.engine.lifecycle import TERMINAL, Status

MAX_DEPTH = 4
MAX_CHILDREN = 32


def actor_of(user: User) -> str:
    return f"user:{user.pk}"


@transaction.atomic
def create_thread(*, actor: User, project: Project, title: str) -> Thread:
    require(actor, Permission.OPERATE, project)
    thread = Thread(project=project, title=title.strip(), created_by=actor)
    validated(thread)
    thread.save(force_insert=True)
    return thread


@transaction.atomic
def create_run(
    *,
    actor: User,
    thread: Thread,
    run_kind: str,
    input: dict[str, Any],
    text: str = "",
    run_id: uuid.UUID | None = None,
    mode: str = "normal",
    retry_of: Run | None = None,
) -> Run:
    """Start a run; with a `run_id` that exists already, the same run is answered."""
    require(actor, Permission.OPERATE, thread.project)
    if thread.project.is_archived:
        raise Conflict("The project is archived.", remedy="Restore it first.")
    if run_kind not in DECIDERS:
        raise InvalidInput.field("run_kind", f"Choose one of {', '.join(sorted(DECIDERS))}.")
    if run_id and Run.objects.filter(pk=run_id).exists():
        return _existing(run_id, thread)
    if run_kind in CHECKS:
        CHECKS[run_kind](input)
    run = Run(
        pk=run_id or uuid.uuid4(),
        project=thread.project,
        thread=thread,
        run_kind=run_kind,
        created_by=actor,
        due_at=timezone.now(),
    )
    try:
        with transaction.atomic():
            run.save(force_insert=True)
    except IntegrityError:
        # The same request at the same moment, and the other one was faster.
        return _existing(run.pk, thread)
    eventlog.append(run.pk, _first_events(run, input, text, mode, retry_of), actor=actor_of(actor))
    Thread.objects.filter(pk=thread.pk).update(updated_at=timezone.now())
    wakeup.advance_soon(run.pk)
    run.refresh_from_db()
    return run


def _existing(run_id: uuid.UUID, thread: Thread) -> Run:
    run = Run.objects.filter(pk=run_id, thread=thread).first()
    if run is None:
        raise NotFound("There is no such run.")
    return run


def _first_events(
    run: Run, input: dict[str, Any], text: str, mode: str, retry_of: Run | None
) -> list[NewEvent]:
    pinned = pins(run.project_id, input)
    created: dict[str, Any] = {"run_kind": run.run_kind, "input": input, "pins": pinned}
    if mode != "normal":
        created["mode"] = mode
    events = [NewEvent("run_created", created, key="created")]
    if retry_of is not None:
        events.append(system("run_retried", {"of_run_id": str(retry_of.pk)}))
    if text:
        events.append(NewEvent("user_message", {"text": text}))
    return events


def pins(project_id: uuid.UUID, input: dict[str, Any]) -> dict[str, Any]:
    """What the run uses, by version, so that it can be explained and repeated later."""
    return {
        "engine": __version__,
        "model": input.get("model", "echo"),
        "provider": "scripted",
        "tools": pins_of(project_id),
        "executors": executor_versions(),
    }


@transaction.atomic
def append_user_message(
    *, actor: User, run: Run, text: str, key: str | None = None
) -> eventlog.Event:
    require(actor, Permission.OPERATE, run.project)
    event = NewEvent("user_message", {"text": text}, key=key)
    appended = eventlog.append(run.pk, [event], actor=actor_of(actor))[0]
    wakeup.advance_soon(run.pk)
    return appended


@transaction.atomic
def cancel_run(
    *, actor: User | None, run: Run, reason: str = "", as_operator: bool = False
) -> bool:
    """Ask a run to stop; answers False when there was nothing left to stop."""
    if actor is not None:
        require(actor, Permission.OPERATE, run.project, as_operator=as_operator)
    run = Run.objects.select_for_update().get(pk=run.pk)
    if run.status in TERMINAL or run.cancel_requested:
        return False
    events = [system("cancel_requested", {"reason": reason} if reason else {})]
    if run.lease_owner is None:
        # Nobody works on it, so it need not wait for somebody to notice.
        change = {"from": run.status, "to": Status.CANCELLED.value, "reason": "cancelled"}
        events.append(system("state_changed", change))
    eventlog.append(run.pk, events, actor=actor_of(actor) if actor else "system")
    for child in run.children.exclude(status__in=TERMINAL):
        cancel_run(actor=None, run=child, reason="the parent run was cancelled")
    wakeup.advance_soon(run.pk)
    wakeup.settle_soon(run.pk)
    return True


@transaction.atomic
def resume_run(*, actor: User, run: Run, as_operator: bool = False) -> bool:
    """Nudge a run that stands still; False, and no event, when a worker has it or will look."""
    require(actor, Permission.OPERATE, run.project, as_operator=as_operator)
    run = Run.objects.select_for_update().get(pk=run.pk)
    if run.status in TERMINAL:
        raise Conflict(f"The run has ended ({run.status}).", remedy="Retry it instead.")
    newest = eventlog.event_at(run.pk, run.last_seq)
    if _is_driven(run) or (newest is not None and newest.name == "run_resumed"):
        wakeup.advance_soon(run.pk)
        return False
    eventlog.append(run.pk, [system("run_resumed", {"by": "user"})], actor=actor_of(actor))
    wakeup.advance_soon(run.pk)
    return True


def _is_driven(run: Run) -> bool:
    """Whether some worker holds it, by the database's clock."""
    held = Run.objects.filter(pk=run.pk, lease_owner__isnull=False, lease_until__gte=Now())
    return held.exists()


@transaction.atomic
def retry_run(*, actor: User, run: Run, run_id: uuid.UUID | None = None) -> Run:
    """A new run with the same input, kept beside the old one; one for each `run_id`."""
    require(actor, Permission.OPERATE, run.project)
    run.refresh_from_db()
    if run.status not in TERMINAL:
        raise Conflict("The run has not ended yet.", remedy="Cancel it first, or wait.")
    history = eventlog.read(run.pk, limit=20)
    created = history[0].payload
    if created is None:
        raise Conflict("The run's input was erased; it cannot be retried.")
    text = next((e.payload["text"] for e in history if e.kind == "user_message" and e.payload), "")
    return create_run(
        actor=actor,
        thread=run.thread,
        run_kind=run.run_kind,
        input=created["input"],
        text=text,
        mode=created.get("mode", "normal"),
        run_id=run_id,
        retry_of=run,
    )
