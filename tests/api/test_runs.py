"""Threads, runs and their logs through the API."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from apps.registry.models import AuditEntry, Project, Scope, User
from apps.registry.roles import Role
from apps.registry.services.members import grant_roles
from apps.runs import eventlog
from apps.runs.drive.driver import advance
from apps.runs.eventlog import system
from apps.runs.live.entries import Entry
from apps.runs.models import Projection, Run, Thread
from apps.runs.services.runs import create_run, create_thread
from tests.api.shapes import problem

pytestmark = [pytest.mark.req("API-1"), pytest.mark.django_db]


@pytest.fixture
def thread(project: Project, user: User) -> Thread:
    return create_thread(actor=user, project=project, title="First thread")


@pytest.fixture
def run(thread: Thread, user: User) -> Run:
    return create_run(actor=user, thread=thread, run_kind="script", input={"steps": 2})


def end(run: Run) -> Run:
    for before, after in (("queued", "running"), ("running", "done")):
        eventlog.append(run.pk, [system("state_changed", {"from": before, "to": after})])
    run.refresh_from_db()
    return run


def start(api: APIClient, thread: Thread, **body: Any) -> Any:
    return api.post(f"/api/threads/{thread.pk}/runs", {"run_kind": "script", **body})


@pytest.mark.req("RUN-1")
def test_the_life_of_a_thread(api: APIClient, project: Project) -> None:
    made = api.post("/api/projects/apollo/threads", {"title": " Landing sites "})
    assert made.status_code == 201, made.content
    row = made.json()
    assert (row["title"], row["project"], row["runs"]) == ("Landing sites", "apollo", 0)
    assert made["Location"].endswith(f"/api/threads/{row['id']}")
    where = f"/api/threads/{row['id']}"
    assert api.get(where).json() == row
    assert api.patch(where, {"title": "Sites"}).json()["title"] == "Sites"
    assert api.patch(where, {"archived": True}).json()["archived"] is True
    assert api.get("/api/projects/apollo/threads").json()["results"] == []
    found = api.get("/api/projects/apollo/threads?archived=any&q=sit").json()["results"]
    assert [each["id"] for each in found] == [row["id"]]
    problem(api.patch(where, {"title": ""}), 400, "invalid")
    problem(api.post("/api/projects/apollo/threads", {"title": "a\x1bb"}), 400, "invalid")


@pytest.mark.req("RUN-1")
def test_a_run_is_started_and_found(api: APIClient, thread: Thread) -> None:
    made = start(api, thread, run_kind="echo", text="Hello.")
    assert made.status_code == 201, made.content
    row = made.json()
    assert (row["status"], row["last_seq"], row["project"]) == ("queued", 2, "apollo")
    detail = api.get(f"/api/runs/{row['id']}").json()
    assert set(row) < set(detail)
    assert detail["usage"]["total_tokens"] == 0
    assert detail["pending_approvals"] == detail["children"] == []
    for query in ("", "?status=queued", "?run_kind=echo&project=apollo", f"?thread={thread.pk}"):
        assert [each["id"] for each in api.get(f"/api/runs{query}").json()["results"]] == [
            row["id"]
        ], query
    for query in ("?status=done", "?run_kind=script", "?project=none", "?since=2999-01-01T00:00Z"):
        assert api.get(f"/api/runs{query}").json()["results"] == [], query
    listed = api.get(f"/api/threads/{thread.pk}/runs").json()["results"]
    assert [each["id"] for each in listed] == [row["id"]]
    problem(api.get("/api/runs?status=asleep"), 400, "invalid")


@pytest.mark.req("RUN-6")
def test_a_run_id_or_a_key_makes_starting_twice_harmless(api: APIClient, thread: Thread) -> None:
    chosen = str(uuid.uuid4())
    first = start(api, thread, run_id=chosen, input={"steps": 1}).json()
    assert start(api, thread, run_id=chosen, input={"steps": 1}).json()["id"] == first["id"]
    keyed = {"headers": {"Idempotency-Key": "one"}}
    again = [
        api.post(f"/api/threads/{thread.pk}/runs", {"run_kind": "script"}, **keyed).json()["id"]
        for _ in range(2)
    ]
    assert again[0] == again[1]
    assert Run.objects.count() == 2


@pytest.mark.req("RUN-2")
@pytest.mark.parametrize(
    ("body", "status", "named"),
    [
        ({"run_kind": "dream"}, 400, "run_kind"),
        ({"run_kind": "script", "input": []}, 400, "input"),
        ({"run_kind": "script", "input": {"blob": "x" * 70_000}}, 413, "artifact"),
        ({"run_kind": "echo", "text": "x" * 70_000}, 413, "user_message"),
        ({"run_kind": "script", "run_id": "7"}, 400, "run_id"),
        ({"run_kind": "script", "wish": 1}, 400, "wish"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_written(
    api: APIClient, thread: Thread, body: dict[str, Any], status: int, named: str
) -> None:
    answer = api.post(f"/api/threads/{thread.pk}/runs", body)
    assert named in json.dumps(problem(answer, status))
    assert not Run.objects.exists()


@pytest.mark.req("RUN-3")
@pytest.mark.req("LIVE-1")
def test_events_come_in_order_with_the_bytes_of_the_stream(api: APIClient, run: Run) -> None:
    for number in range(5):
        message = {"text": f"é \u2028 {number}"}
        eventlog.append(run.pk, [eventlog.NewEvent("user_message", message)])
    first = api.get(f"/api/runs/{run.pk}/events?limit=4")
    texts = [Entry.of(event).text for event in eventlog.read_all(run.pk)]
    assert first.content.decode().startswith('{"results":[' + ",".join(texts[:4]) + "]")
    rest = api.get(first.json()["next"])
    assert rest.content.decode() == (
        '{"results":[' + ",".join(texts[4:]) + '],"next":null,"previous":null}'
    )
    one = api.get(f"/api/runs/{run.pk}/events/3")
    assert one.content.decode() == texts[2]
    kinds = api.get(f"/api/runs/{run.pk}/events?kind=run_created").json()["results"]
    assert [each["seq"] for each in kinds] == [1]
    problem(api.get(f"/api/runs/{run.pk}/events/99"), 404, "not_found")
    problem(api.get(f"/api/runs/{run.pk}/events/{10**30}"), 404, "not_found")
    for query in ("limit=1001", "limit=0", "after=-1", "after=x", "kind=dream", "aftr=1"):
        problem(api.get(f"/api/runs/{run.pk}/events?{query}"), 400, "invalid")


@pytest.mark.req("RUN-9")
def test_cancelling_twice_or_too_late_is_harmless_and_says_so(api: APIClient, run: Run) -> None:
    first = api.post(f"/api/runs/{run.pk}/cancel", {"reason": "Not needed."})
    assert (first.status_code, first.json()["cancelled"]) == (200, True)
    before = run.last_seq
    again = api.post(f"/api/runs/{run.pk}/cancel", {}).json()
    assert (again["cancelled"], again["status"]) == (False, "cancelled")
    assert "ended already" in again["reason"]
    run.refresh_from_db()
    assert run.last_seq == before + 2


@pytest.mark.req("RUN-8")
def test_resume_and_retry_fit_the_state(api: APIClient, run: Run) -> None:
    assert api.post(f"/api/runs/{run.pk}/resume").json()["last_seq"] == run.last_seq + 1
    problem(api.post(f"/api/runs/{run.pk}/retry"), 409, "conflict")
    end(run)
    problem(api.post(f"/api/runs/{run.pk}/resume"), 409, "conflict")
    problem(api.post(f"/api/runs/{run.pk}/messages", {"text": "Late."}), 409, "conflict")
    retried = api.post(f"/api/runs/{run.pk}/retry")
    assert retried.status_code == 201
    assert retried.json()["id"] != str(run.pk)
    assert retried.json()["run_kind"] == run.run_kind


@pytest.mark.req("RUN-1")
def test_a_message_becomes_an_event(api: APIClient, run: Run, user: User) -> None:
    said = api.post(f"/api/runs/{run.pk}/messages", {"text": "Go on."})
    assert said.status_code == 201
    assert (said.json()["kind"], said.json()["actor"]) == ("user_message", f"user:{user.pk}")
    assert said.json() == api.get(f"/api/runs/{run.pk}/events/{said.json()['seq']}").json()
    problem(api.post(f"/api/runs/{run.pk}/messages", {"text": ""}), 400, "invalid")


@pytest.mark.req("RUN-5")
def test_verify_proves_and_disproves(api: APIClient, run: Run) -> None:
    verdict = api.get(f"/api/runs/{run.pk}/verify").json()
    assert verdict == {"ok": True, "events": 1, "erased": 0, "seq": None, "reason": ""}
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE runs_runevent DISABLE TRIGGER USER")
        cursor.execute("""UPDATE runs_runevent SET payload = '{"run_kind": "echo"}'""")
        cursor.execute("ALTER TABLE runs_runevent ENABLE TRIGGER USER")
    broken = api.get(f"/api/runs/{run.pk}/verify").json()
    assert (broken["ok"], broken["seq"]) == (False, 1)
    assert "payload" in broken["reason"]


@pytest.mark.req("RUN-4")
def test_an_owner_erases_a_payload_and_the_log_still_holds(
    api: APIClient, thread: Thread, user: User
) -> None:
    """The text leaves log, projection and API; a tombstone and an audit entry say so."""
    run = create_run(actor=user, thread=thread, run_kind="echo", input={}, text="my secret word")
    where = f"/api/runs/{run.pk}/events/2"
    first = f"/api/runs/{run.pk}/events/1/erase"
    problem(api.post(first, {"reason": "It decides."}), 409, "conflict")
    end(run)
    assert api.get(f"/api/runs/{run.pk}").json()["status"] == "done"
    assert "my secret word" in api.get(where).content.decode()
    problem(api.post(f"{where}/erase", {}), 400, "invalid")
    done = api.post(f"{where}/erase", {"reason": "Privacy."})
    assert (done.status_code, done.json()["name"]) == (200, "payload_erased")
    assert api.get(where).json()["payload"] is None
    kept = [str(each.state) for each in Projection.objects.filter(pk=run.pk)]
    assert b"my secret word" not in api.get(f"/api/runs/{run.pk}/events").content
    assert "my secret word" not in str(kept)
    verdict = api.get(f"/api/runs/{run.pk}/verify").json()
    assert (verdict["ok"], verdict["erased"]) == (True, 1)
    entry = AuditEntry.objects.get(action="event_erased")
    assert (entry.actor, entry.target_id, entry.data["seq"]) == (user, str(run.pk), 2)
    problem(api.post(f"{where}/erase", {"reason": "Again."}), 409, "conflict")
    problem(api.post(f"/api/runs/{run.pk}/events/5/erase", {"reason": "It."}), 409, "conflict")
    problem(api.post(f"/api/runs/{run.pk}/events/77/erase", {"reason": "It."}), 404, "not_found")


@pytest.mark.req("SEC-2")
def test_roles_decide_who_may_steer(
    caller: Callable[..., APIClient], project: Project, run: Run, colleague: User, stranger: User
) -> None:
    """Members without the role are refused, strangers find nothing, a reading token only reads."""
    grant_roles(project=project, user=colleague, roles={Role.OPERATOR}, added_by=None)
    operator = caller(colleague)
    end(run)
    erase = f"/api/runs/{run.pk}/events/1/erase"
    problem(operator.post(erase, {"reason": "x"}), 403, "permission_denied")
    assert eventlog.event_at(run.pk, 1).payload is not None  # type: ignore[union-attr]
    grant_roles(project=project, user=stranger, roles={Role.VIEWER}, added_by=None)
    viewer = caller(stranger)
    assert viewer.get(f"/api/runs/{run.pk}").status_code == 200
    for path in ("cancel", "resume", "retry", "messages"):
        answer = viewer.post(f"/api/runs/{run.pk}/{path}", {"text": "x"} if "mess" in path else {})
        problem(answer, 403, "permission_denied")
    problem(viewer.patch(f"/api/threads/{run.thread_id}", {"title": "x"}), 403)
    reader = caller(colleague, Scope.READ)
    problem(reader.post(f"/api/runs/{run.pk}/retry"), 403, "permission_denied")


@pytest.mark.parametrize(
    "path", ["/api/runs", "/api/threads/{thread}/runs", "/api/projects/apollo/threads"]
)
def test_lists_do_not_ask_more_as_they_grow(
    api: APIClient, run: Run, thread: Thread, user: User, project: Project, path: str
) -> None:
    path = path.format(thread=thread.pk)
    before = queries(api, path)
    for number in range(6):
        other = create_thread(actor=user, project=project, title=f"Thread {number}")
        for each in (thread, other):
            create_run(actor=user, thread=each, run_kind="script", input={})
    assert queries(api, path) <= before


def queries(api: APIClient, path: str) -> int:
    with CaptureQueriesContext(connection) as seen:
        assert api.get(path).status_code == 200
    return len(seen)


@pytest.mark.req("RUN-7")
@pytest.mark.django_db(transaction=True)
def test_a_driven_run_shows_what_it_used_and_its_relatives(api: APIClient, thread: Thread) -> None:
    actions = [{"do": "child", "run_kind": "script", "input": {"steps": 1}}, {"do": "step"}]
    made = start(api, thread, input={"actions": actions}).json()
    drive(made["id"])
    detail = api.get(f"/api/runs/{made['id']}").json()
    assert (detail["status"], detail["waits_for"]) == ("running", "child")
    child = api.get(f"/api/runs/{detail['children'][0]['id']}").json()
    assert (child["parent"], child["depth"]) == (made["id"], 1)
    talk = start(api, thread, run_kind="echo", text="Hello there.").json()
    drive(talk["id"])
    answered = api.get(f"/api/runs/{talk['id']}").json()
    assert answered["status"] == "done"
    assert answered["usage"]["model_calls"] == 1
    assert answered["usage"]["total_tokens"] > 0


def drive(run_id: str) -> None:
    advance(uuid.UUID(run_id), worker_id=uuid.uuid4())
