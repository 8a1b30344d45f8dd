"""The verbs that steer a run: each may be repeated, and leaves its events once."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pytest
from django.test import Client

from apps.registry.models import User
from apps.runs import eventlog
from apps.runs.drive.driver import advance
from apps.runs.models import Approval, Run, Thread
from apps.runs.services.approvals import answer_approval
from apps.runs.services.leases import take_lease
from apps.runs.services.runs import (
    append_user_message,
    cancel_run,
    create_run,
    resume_run,
    retry_run,
)
from omni import __version__
from omni.contracts.errors import Conflict, InvalidInput

MakeRun = Callable[..., Run]
pytestmark = pytest.mark.django_db(transaction=True)


def names(run: Run) -> list[str]:
    return [event.name or event.kind for event in eventlog.read_all(run.pk)]


@pytest.mark.req("RUN-6", "RUN-9")
def test_every_verb_twice_is_as_once(user: User, thread: Thread) -> None:
    first, again = (
        create_run(
            actor=user,
            thread=thread,
            run_kind="script",
            input={"actions": [{"do": "ask", "title": "Go on?"}]},
            run_id=uuid.UUID(int=7),
        )
        for _ in range(2)
    )
    assert first.pk == again.pk and names(first) == ["run_created"]
    for _ in range(2):
        append_user_message(actor=user, run=first, text="Hello", key="hello")
    assert names(first).count("user_message") == 1
    assert advance(first.pk, worker_id=uuid.uuid4()) == "waiting for approval"
    assert [resume_run(actor=user, run=first) for _ in range(2)] == [True, False]
    assert names(first).count("run_resumed") == 1
    answers = [
        answer_approval(actor=user, approval=Approval.objects.get(), answer="approve")[1]
        for _ in range(2)
    ]
    assert answers == [True, False] and names(first).count("approval_answered") == 1
    assert [cancel_run(actor=user, run=first) for _ in range(2)] == [True, False]
    assert names(first).count("cancel_requested") == 1
    with pytest.raises(Conflict):
        resume_run(actor=user, run=first)
    retried = {retry_run(actor=user, run=first, run_id=uuid.UUID(int=8)).pk for _ in range(2)}
    assert retried == {uuid.UUID(int=8)}
    assert names(Run.objects.get(pk=uuid.UUID(int=8))) == [
        "run_created", "run_retried", "user_message",
    ]  # fmt: skip


@pytest.mark.req("RUN-10")
def test_a_run_that_is_driven_need_not_be_resumed(make_run: MakeRun, user: User) -> None:
    run = make_run(steps=1)
    assert take_lease(run.pk, owner=uuid.uuid4())
    assert not resume_run(actor=user, run=run)
    assert names(run) == ["run_created"]
    Run.objects.filter(pk=run.pk).update(lease_until="2000-01-01T00:00:00Z")
    assert resume_run(actor=user, run=run)


@pytest.mark.req("UI-2")
def test_a_second_click_on_retry_starts_no_second_run(
    make_run: MakeRun, user: User, client: Client
) -> None:
    run = make_run(steps=0)
    advance(run.pk, worker_id=uuid.uuid4())
    client.force_login(user, "django.contrib.auth.backends.ModelBackend")
    page = client.get(f"/runs/{run.pk}/retry")
    sent = {"run_id": str(page.context["form"]["run_id"].value())}
    targets = {client.post(f"/runs/{run.pk}/retry", sent)["Location"] for _ in range(2)}
    assert targets == {f"/runs/{sent['run_id']}"}
    assert Run.objects.count() == 2


@pytest.mark.req("RUN-12")
def test_a_run_pins_what_it_is_run_with(make_run: MakeRun) -> None:
    """What its calls then say they used is what was pinned, also in a child."""
    asked = {"run_kind": "echo", "input": {"model": "echo-2"}}
    run = make_run(actions=[{"do": "child", **asked}], model="echo-1")
    advance(run.pk, worker_id=uuid.uuid4())
    child = run.children.get()
    for each, model in ((run, "echo-1"), (child, "echo-2")):
        created = eventlog.read(each.pk, limit=1)[0].payload
        assert created is not None
        pins = created["pins"]
        assert (pins["engine"], pins["provider"]) == (__version__, "scripted")
        assert pins["model"] == model
        assert set(pins["executors"]) >= {"inproc_safe", "sandbox_job"}
    said = make_run("echo", model="echo-3", text="Hello")
    advance(said.pk, worker_id=uuid.uuid4())
    events = {event.name or event.kind: event.payload or {} for event in eventlog.read_all(said.pk)}
    pins, call = events["run_created"]["pins"], events["model_call"]
    assert (call["provider"], call["model"]) == (pins["provider"], pins["model"])


@pytest.mark.req("RUN-12", "RUN-2")
def test_what_cannot_be_pinned_starts_no_run(make_run: MakeRun) -> None:
    with pytest.raises(InvalidInput):
        make_run("echo", model=["not", "a", "name"], text="Hello")
    assert not Run.objects.exists()
