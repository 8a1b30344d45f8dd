"""Streams over many runs feed dashboard and inbox, and tell nobody else's news."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from apps.registry.models import Project, User
from apps.registry.roles import Role
from apps.registry.services.members import set_member_roles
from apps.registry.services.projects import create_project
from apps.runs import eventlog
from apps.runs.eventlog import NewEvent
from apps.runs.models import Approval, Run
from apps.runs.services.approvals import answer_approval
from apps.runs.services.runs import cancel_run, create_run, create_thread
from apps.runs.services.settle import settle_ended
from tests.live.story import ask, finish, write_steps
from tests.live.web import Message, Reader, Stream

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.req("LIVE-4")]
INBOX = "/api/approvals/stream"


@pytest.fixture
def other_run(make_user: Callable[..., User]) -> Run:
    """In a project that Ada has nothing to do with."""
    owner = make_user("grace@example.org")
    thread = create_thread(
        actor=owner, project=create_project(actor=owner, name="Secret"), title="t"
    )
    return create_run(actor=owner, thread=thread, run_kind="script", input={})


def until(stream: Stream, event: str, test: Callable[[Any], bool] = bool) -> list[Message]:
    seen = []
    for message in stream.events():
        seen.append(message)
        if message.event == event and test(json.loads(message.data)):
            return seen
    raise AssertionError(f"the stream ended: {seen}")


@pytest.mark.req("SEC-2")
def test_a_project_stream_tells_of_all_its_runs_and_of_no_other(
    ada: Reader, make_run: Callable[..., Run], project: Project, other_run: Run
) -> None:
    first = make_run(steps=1)
    with ada.open(f"/api/projects/{project.slug}/stream") as stream:
        snapshot = json.loads(stream.take(1)[0].data)
        assert [run["run_id"] for run in snapshot["runs"]] == [str(first.pk)]
        assert snapshot["active"] == {"queued": 1, "running": 0, "waiting_permission": 0}
        time.sleep(1)
        second = make_run(steps=1)
        write_steps(other_run, 1)
        deltas = [
            NewEvent(
                "assistant_message_delta", {"message_id": str(first.pk), "index": n, "text": "x"}
            )
            for n in range(5)
        ]
        eventlog.append(first.pk, deltas)
        finish(second)
        seen = until(stream, "run", lambda hint: hint["seq"] == 3)
        after = json.loads(until(stream, "snapshot")[-1].data)
    hints = [json.loads(message.data) for message in seen if message.event == "run"]
    assert [(hint["run_id"], hint["seq"]) for hint in hints] == [
        (str(second.pk), 1), (str(first.pk), 6), (str(second.pk), 2), (str(second.pk), 3),
    ]  # fmt: skip
    assert set(hints[0]) == {"run_id", "seq", "kind", "name", "status"}
    mine = [hint["status"] for hint in hints if hint["run_id"] == str(second.pk)]
    assert mine == sorted(mine, key=["queued", "running", "done"].index) and mine[-1] == "done"
    assert {run["run_id"]: run["status"] for run in after["runs"]}[str(second.pk)] == "done"
    assert str(other_run.pk) not in str(seen)


@pytest.mark.req("SEC-2")
def test_the_inbox_follows_every_project_in_which_one_may_answer(
    ada: Reader, run: Run, other_run: Run, user: User
) -> None:
    waiting, hidden = ask(run, "First?"), ask(other_run, "Hidden?")
    with ada.open(INBOX) as stream:
        snapshot = stream.take(1)[0]
        about = json.loads(snapshot.data)
        assert about["pending"] == 1
        assert [each["title"] for each in about["approvals"]] == ["First?"]
        assert about["approvals"][0]["project"] == run.project.slug
        time.sleep(1)
        another, unseen = ask(run, "Second?"), ask(other_run, "Unseen?")
        answer_approval(actor=user, approval=Approval.objects.get(pk=waiting), answer="deny")
        seen = until(stream, "approval", lambda hint: hint["state"] == "answered")
    hints = [json.loads(message.data) for message in seen if message.event == "approval"]
    assert [(hint["approval_id"], hint["state"]) for hint in hints] == [
        (str(another), "pending"), (str(waiting), "answered"),
    ]  # fmt: skip
    assert not any(str(each) in str([snapshot, *seen]) for each in (hidden, unseen, other_run.pk))


def test_approvals_of_an_ended_run_leave_the_inbox(ada: Reader, run: Run, user: User) -> None:
    """They are withdrawn without an event of their own; a new snapshot says so."""
    ask(run)
    with ada.open(INBOX) as stream:
        stream.take(1)
        cancel_run(actor=user, run=run)
        settle_ended(run.pk)
        until(stream, "snapshot", lambda about: about["pending"] == 0)


@pytest.mark.req("SEC-2")
def test_the_inbox_follows_roles_as_they_change(
    reader_for: Callable[..., Reader], stranger: User, user: User, project: Project, run: Run
) -> None:
    """A viewer is told of no approval; an approver is, and no longer once the role is gone."""
    ask(run)
    set_member_roles(actor=user, project=project, user=stranger, roles={Role.VIEWER})
    with reader_for(stranger).open(INBOX) as stream:
        assert json.loads(stream.take(1)[0].data) == {"approvals": [], "pending": 0}
        set_member_roles(actor=user, project=project, user=stranger, roles={Role.APPROVER})
        until(stream, "snapshot", lambda about: about["pending"] == 1)
        set_member_roles(actor=user, project=project, user=stranger, roles={Role.VIEWER})
        until(stream, "snapshot", lambda about: about["pending"] == 0)
        ask(run)
        heard = []
        for message in stream:
            if message.comment:
                break
            heard.append(message)
    assert heard == []
