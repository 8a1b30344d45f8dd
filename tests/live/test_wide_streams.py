"""Streams over many runs feed dashboard and inbox, and tell nobody else's news."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
import redis
from django.conf import settings

from apps.registry.models import Project, User
from apps.registry.roles import Role
from apps.registry.services.members import set_member_roles
from apps.registry.services.projects import create_project
from apps.runs import eventlog
from apps.runs.eventlog import NewEvent
from apps.runs.eventlog.publish import CHANNEL
from apps.runs.models import Approval, Run
from apps.runs.services.approvals import answer_approval
from apps.runs.services.runs import cancel_run, create_run, create_thread
from apps.runs.services.settle import settle_ended
from tests.live.story import ask, finish, write_steps
from tests.live.web import PATIENCE_SECONDS, Message, Reader, Stream

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


def until_pushed(stream: Stream, event: str, happen: Callable[[], object]) -> list[Message]:
    """Until hints arrive: before the subscription is made, snapshots alone say what happened."""
    seen: list[Message] = []
    while True:
        happen()
        for message in stream:
            seen.append(message)
            if message.event == event:
                return seen
            if message.comment:
                break
        else:
            raise AssertionError(f"the stream ended: {seen}")


@pytest.mark.req("SEC-2")
def test_a_project_stream_tells_of_all_its_runs_and_of_no_other(
    ada: Reader, make_run: Callable[..., Run], project: Project, other_run: Run
) -> None:
    first, probe = make_run(steps=1), make_run(steps=1)
    with ada.open(f"/api/projects/{project.slug}/stream") as stream:
        snapshot = json.loads(stream.take(1)[0].data)
        assert [run["run_id"] for run in snapshot["runs"]] == [str(probe.pk), str(first.pk)]
        assert snapshot["active"] == {"queued": 2, "running": 0, "waiting_permission": 0}
        seen = until_pushed(stream, "run", lambda: write_steps(probe, 1))
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
        mine = str(second.pk)
        seen += until(stream, "run", lambda hint: (hint["run_id"], hint["seq"]) == (mine, 3))
        while status_in_snapshot(seen, mine) != "done":
            seen += until(stream, "snapshot")
    hints = [json.loads(message.data) for message in seen if message.event == "run"]
    told = {pk: [hint for hint in hints if hint["run_id"] == pk] for pk in (mine, str(first.pk))}
    assert [hint["seq"] for hint in told[mine]] == [1, 2, 3]
    assert [hint["seq"] for hint in told[str(first.pk)]] == [6]
    assert set(hints[0]) == {"run_id", "seq", "kind", "name", "status"}
    statuses = [hint["status"] for hint in told[mine]]
    assert statuses == sorted(statuses, key=["queued", "running", "done"].index)
    assert statuses[-1] == "done"
    assert str(other_run.pk) not in str(seen)


def status_in_snapshot(seen: list[Message], run_id: str) -> str | None:
    """What the newest snapshot says of a run."""
    snapshots = [json.loads(message.data) for message in seen if message.event == "snapshot"]
    runs = snapshots[-1]["runs"] if snapshots else []
    return next((run["status"] for run in runs if run["run_id"] == run_id), None)


def test_what_one_process_commits_is_pushed_in_that_order(make_run: Callable[..., Run]) -> None:
    """Several runs in turn: hints of a child never come before those of what started it."""
    runs = [make_run(steps=1) for _ in range(3)]
    with redis.Redis.from_url(settings.REDIS_URL) as client, client.pubsub() as subscription:
        subscription.subscribe(CHANNEL)
        assert subscription.get_message(timeout=60)["type"] == "subscribe"
        for number in range(30):
            write_steps(runs[number % 3], 1)
        written = [(str(runs[n % 3].pk), 2 + n // 3) for n in range(30)]
        heard: list[tuple[str, int]] = []
        until = time.monotonic() + PATIENCE_SECONDS
        while written[-1] not in heard:
            assert time.monotonic() < until, heard
            message = subscription.get_message(timeout=1)
            if message is not None:
                told = json.loads(message["data"])
                heard += [(told["run_id"], event["seq"]) for event in told["events"]]
    # Others push here too, and a push that Redis was too slow for is left out.
    assert [each for each in heard if each in written] == [w for w in written if w in heard]


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
        seen = until_pushed(stream, "approval", lambda: ask(run, "Is anybody there?"))
        another, unseen = ask(run, "Second?"), ask(other_run, "Unseen?")
        answer_approval(actor=user, approval=Approval.objects.get(pk=waiting), answer="deny")
        seen += until(stream, "approval", lambda hint: hint["state"] == "answered")
    hints = [json.loads(message.data) for message in seen if message.event == "approval"]
    states = [(hint["approval_id"], hint["state"]) for hint in hints]
    assert states[-2:] == [(str(another), "pending"), (str(waiting), "answered")]
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
