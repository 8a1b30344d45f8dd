"""The pages of threads, runs and approvals: who sees what, who may do what, and how it reads."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.registry.models import AuditAction, AuditEntry, Project, User
from apps.registry.roles import Role
from apps.registry.services.members import set_member_roles
from apps.runs import eventlog
from apps.runs.eventlog import NewEvent, system
from apps.runs.models import Approval, Run, Thread
from apps.runs.services.artifacts import store_artifact
from apps.runs.views import timeline

pytestmark = [pytest.mark.django_db, pytest.mark.req("UI-3"), pytest.mark.req("SEC-2")]

HOSTILE = (
    "<script>alert(1)</script>\n  <img src=x onerror=alert(2)> & \u202eevil\u2028\r\n'\"{{ 7 }}"
)
Maker = Callable[..., Run]


@pytest.fixture
def member(make_user: Any, user: User, project: Project) -> Callable[[Role], User]:
    def make(role: Role) -> User:
        person: User = make_user(f"{role.value}@example.org", name=role.label)
        set_member_roles(actor=user, project=project, user=person, roles={role})
        return person

    return make


@pytest.fixture
def ada(client: Client, user: User) -> Client:
    client.force_login(user)
    return client


@pytest.fixture
def run(make_run: Maker) -> Run:
    return make_run("echo", text="hello there")


def asked(run: Run, title: str = "May I?") -> Approval:
    payload = {"approval_id": str(uuid.uuid4()), "title": title, "options": ["approve", "reject"]}
    eventlog.append(run.pk, [system("approval_requested", payload)])
    return Approval.objects.get(pk=payload["approval_id"])


def denials(person: User) -> int:
    found = AuditEntry.objects.filter(action=AuditAction.PERMISSION_DENIED, actor=person)
    return found.filter(allowed=False).count()


def addresses(run: Run, approval: Approval) -> list[str]:
    threads = f"/projects/{run.project.slug}/threads"
    of_run = ("", "/summary", "/timeline", "/timeline/stream", "/events/1", "/verify")
    return [
        threads,
        f"{threads}/{run.thread_id}",
        f"{threads}/{run.thread_id}/runs",
        *(f"/runs/{run.pk}{each}" for each in of_run),
        f"/approvals/{approval.pk}",
        f"/approvals/{approval.pk}/panel",
    ]


CHANGES = ("cancel", "resume", "retry", "artifacts")


def test_a_stranger_finds_nothing(client: Client, stranger: User, run: Run) -> None:
    """Not a page, not a fragment, not a stream, not a change; and a missing run answers alike."""
    approval = asked(run)
    client.force_login(stranger)
    for address in addresses(run, approval):
        assert client.get(address).status_code == 404, address
    for change in CHANGES:
        assert client.post(f"/runs/{run.pk}/{change}").status_code == 404
        assert client.post(f"/runs/{uuid.uuid4()}/{change}").status_code == 404
    assert client.post(f"/approvals/{approval.pk}", {"answer": "approve"}).status_code == 404
    for address in ("/runs/", "/approvals/", "/"):
        assert b"First thread" not in client.get(address).content
        assert b"May I?" not in client.get(address).content
    assert client.get(f"/projects/{run.project.slug}/threads/{uuid.uuid4()}").status_code == 404


def test_who_is_not_signed_in_is_asked_to(client: Client, run: Run) -> None:
    for address in addresses(run, asked(run)):
        assert client.get(address).status_code in (302, 401), address


def test_a_viewer_watches_and_changes_nothing(
    client: Client, member: Callable[[Role], User], run: Run
) -> None:
    """No composer, no buttons; whoever tries anyway is refused clearly and on record."""
    viewer, approval = member(Role.VIEWER), asked(run)
    client.force_login(viewer)
    for address in addresses(run, approval):
        assert client.get(address).status_code == 200, address
    page = client.get(f"/runs/{run.pk}").content.decode()
    assert f"/runs/{run.pk}/cancel" not in page
    assert "Say more" not in page
    thread = f"/projects/apollo/threads/{run.thread_id}"
    assert 'id="composer"' not in client.get(thread).content.decode()
    assert "New thread" not in client.get("/projects/apollo/threads").content.decode()
    panel = client.get(f"/approvals/{approval.pk}/panel").content.decode()
    assert "<button" not in panel and "owner or an approver" in panel
    before = (run.last_seq, Run.objects.count(), Thread.objects.count())
    attempts = [client.post(f"/runs/{run.pk}/{change}") for change in CHANGES]
    attempts.append(client.post(thread, {"text": "hello"}))
    attempts.append(client.post("/projects/apollo/threads/new", {"title": "Mine"}))
    attempts.append(client.post(f"/approvals/{approval.pk}", {"answer": "approve"}))
    assert {answer.status_code for answer in attempts} == {403}
    assert b"do not include" in attempts[0].content
    assert denials(viewer) == len(attempts)
    assert (before[1], before[2]) == (Run.objects.count(), Thread.objects.count())
    assert eventlog.verify(run.pk).events == before[0] + 1


def test_an_approver_answers_but_does_not_operate(
    client: Client, member: Callable[[Role], User], run: Run
) -> None:
    approval = asked(run)
    client.force_login(member(Role.APPROVER))
    assert b'value="approve"' in client.get(f"/approvals/{approval.pk}/panel").content
    assert f"/runs/{run.pk}/cancel" not in client.get(f"/runs/{run.pk}").content.decode()
    answer = client.post(f"/approvals/{approval.pk}", {"answer": "approve", "reason": "Fine"})
    assert (answer.status_code, answer["Location"]) == (302, "/approvals/")
    approval.refresh_from_db()
    assert (approval.state, approval.answer, approval.reason) == ("answered", "approve", "Fine")
    assert b"Fine" in client.get("/approvals/").content


@pytest.mark.req("UI-2")
def test_an_inline_answer_shows_where_the_question_stands(ada: Client, run: Run) -> None:
    """The first answer counts; a later and a wrong one change nothing and say so."""
    approval = asked(run)
    headers = {"HX-Request": "true", "HX-Target": f"approval-{approval.pk}"}
    wrong = ada.post(f"/approvals/{approval.pk}", {"answer": "maybe"}, headers=headers)
    assert wrong.status_code == 422
    first = ada.post(f"/approvals/{approval.pk}", {"answer": "reject"}, headers=headers)
    assert b"Your answer is recorded" in first.content and b"<form" not in first.content
    again = ada.post(f"/approvals/{approval.pk}", {"answer": "approve"}, headers=headers)
    assert again.status_code == 200 and b"answered already" in again.content
    approval.refresh_from_db()
    assert approval.answer == "reject"


@pytest.mark.req("LIVE-4")
def test_the_inbox_counts_what_waits(
    client: Client, user: User, member: Callable[[Role], User], run: Run
) -> None:
    """For those who may answer; the number is in the navigation, and gone when all is settled."""
    client.force_login(user)
    assert b"Nothing waits for an answer" in client.get("/approvals/").content
    assert client.get("/approvals/count").content.strip() == b""
    approval = asked(run, "Deploy it?")
    assert b"Deploy it?" in client.get("/approvals/rows").content
    assert b"1" in client.get("/approvals/count").content
    assert b'class="nav-number">1<' in client.get("/").content
    client.force_login(member(Role.VIEWER))
    assert client.get("/approvals/count").content.strip() == b""
    assert b"Not for your role" in client.get("/approvals/").content
    client.force_login(user)
    client.post(f"/approvals/{approval.pk}", {"answer": "approve"})
    assert client.get("/approvals/count").content.strip() == b""


@pytest.mark.req("UI-2")
def test_a_message_starts_an_echo_run(ada: Client, thread: Thread) -> None:
    address = f"/projects/apollo/threads/{thread.pk}"
    assert b"only says back what it is told" in ada.get(address).content
    assert ada.post(address, {"text": ""}).status_code == 422
    sent = ada.post(address, {"text": HOSTILE})
    run = Run.objects.get()
    assert (sent.status_code, sent["Location"]) == (302, f"/runs/{run.pk}")
    assert run.run_kind == "echo"
    assert str(run).encode() in ada.get(address).content


def test_threads_are_found_and_begun(ada: Client, project: Project) -> None:
    address = "/projects/apollo/threads"
    assert b"No threads yet" in ada.get(address).content
    begun = ada.post(f"{address}/new", {"title": "Plan the launch"})
    assert begun["Location"] == f"{address}/{Thread.objects.get().pk}"
    assert b"Plan the launch" in ada.get(f"{address}?q=LAUNCH").content
    assert b"No thread matches" in ada.get(f"{address}?q=nothing").content
    assert ada.post(f"{address}/new", {"title": " "}).status_code == 422


def test_cancel_asks_and_is_harmless_when_repeated(ada: Client, run: Run) -> None:
    address = f"/runs/{run.pk}/cancel"
    assert b"Cancel this run?" in ada.get(address).content
    ada.post(address, {"reason": "Enough"})
    run.refresh_from_db()
    assert run.status == "cancelled"
    page = ada.get(f"/runs/{run.pk}").content.decode()
    assert "Enough" in page and f"/runs/{run.pk}/retry" in page and address not in page
    assert b"nothing left to stop" in ada.post(address, follow=True).content


def test_resume_and_retry_tell_what_they_did(ada: Client, run: Run) -> None:
    assert (
        b"A worker looks at the run now" in ada.post(f"/runs/{run.pk}/resume", follow=True).content
    )
    assert b"not ended yet" in ada.post(f"/runs/{run.pk}/retry", follow=True).content
    ada.post(f"/runs/{run.pk}/cancel")
    assert b"has ended" in ada.post(f"/runs/{run.pk}/resume", follow=True).content
    again = ada.post(f"/runs/{run.pk}/retry", follow=True)
    assert b"retried an earlier run" in again.content
    assert Run.objects.count() == 2


@pytest.mark.req("SEC-1")
def test_hostile_text_is_only_text(ada: Client, make_run: Maker) -> None:
    """In a message, a title, arguments, names of artifacts and reasons: nothing becomes markup."""
    run = make_run("echo", text=HOSTILE, **{"note": HOSTILE})
    call = {"call_id": "c1", "tool": "files.read", "version": "1.0.0", "idempotent": True}
    eventlog.append(
        run.pk,
        [
            NewEvent("tool_call", {**call, "arguments": {HOSTILE: HOSTILE}}),
            NewEvent(
                "tool_error", {"call_id": "c1", "category": "tool_failed", "message": HOSTILE[:200]}
            ),
            system("cancel_requested", {"reason": "<b>stop</b>"}),
        ],
    )
    for address in (f"/runs/{run.pk}", f"/runs/{run.pk}/events/2", f"/runs/{run.pk}/timeline"):
        page = ada.get(address).content.decode()
        assert "<script>alert" not in page and "<img src=x" not in page and "<b>stop" not in page
    page = ada.get(f"/runs/{run.pk}").content.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\n  &lt;img" in page
    assert "\r" not in page.split('id="timeline"')[1]


def test_filters_show_what_was_chosen(ada: Client, run: Run) -> None:
    """By the address alone, so that a link, a reload and a browser without scripts agree."""
    eventlog.append(run.pk, [system("step_finished", {"step": "s1"})])
    everything = ada.get(f"/runs/{run.pk}").content.decode()
    assert everything.count('<li class="event ') == 3
    messages = ada.get(f"/runs/{run.pk}?show=messages").content.decode()
    assert messages.count('<li class="event ') == 1 and "hello there" in messages
    both = ada.get(f"/runs/{run.pk}?show=messages,steps").content.decode()
    assert both.count('<li class="event ') == 2
    assert f"/runs/{run.pk}?show=messages,steps,system" in both
    assert f'data-follow="/runs/{run.pk}/timeline/stream?show=messages,steps"' in both
    assert "Nothing of this kind" in ada.get(f"/runs/{run.pk}?show=tools").content.decode()
    odd = ada.get(f"/runs/{run.pk}?show=<b>,nonsense").content.decode()
    assert odd.count('<li class="event ') == 3


def test_a_long_log_comes_in_pieces(
    ada: Client, make_run: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest first; going back shows every event once, in place or as pages."""
    monkeypatch.setattr(timeline, "PAGE", 20)
    run = make_run()
    eventlog.append(run.pk, [system("step_finished", {"step": f"s{n}"}) for n in range(50)])
    seen: list[str] = []
    page = ada.get(f"/runs/{run.pk}").content.decode()
    headers = {"HX-Request": "true", "HX-Target": "earlier"}
    while True:
        seen = re.findall(r'<li class="event [^"]*" id="e(\d+)"', page) + seen
        more = re.search(r'href="([^"]*before=[^"]*)"', page)
        if more is None:
            break
        page = ada.get(more[1], headers=headers).content.decode()
        assert "<html" not in page
    assert seen == [str(number) for number in range(1, 52)]
    older = ada.get(f"/runs/{run.pk}/timeline?before=11").content.decode()
    assert "<!doctype html>" in older and "data-follow=" not in older


def test_a_recorded_event_and_the_verdict(ada: Client, run: Run) -> None:
    event = ada.get(f"/runs/{run.pk}/events/2")
    found = eventlog.event_at(run.pk, 2)
    assert found is not None
    assert found.hash.encode() in event.content and found.prev_hash.encode() in event.content
    assert b'data-copy="#raw"' in event.content
    assert ada.get(f"/runs/{run.pk}/events/99").status_code == 404
    assert b"The log holds" in ada.get(f"/runs/{run.pk}/verify").content
    Run.objects.filter(pk=run.pk).update(tip_hash="f" * 64)
    assert b"The log does not hold" in ada.get(f"/runs/{run.pk}/verify").content


def test_artifacts_are_downloads_and_nothing_else(
    ada: Client, client: Client, stranger: User, run: Run
) -> None:
    stored = store_artifact(run.pk, b"<script>", media_type="text/html", name="page.html")
    address = f"/runs/{run.pk}/artifacts/{stored.sha256}"
    assert address in ada.get(f"/runs/{run.pk}").content.decode()
    answer = ada.get(address)
    assert b"".join(answer.streaming_content) == b"<script>"
    assert answer["Content-Disposition"] == 'attachment; filename="page.html"'
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["X-Content-Type-Options"] == "nosniff"
    client.force_login(stranger)
    assert client.get(address).status_code == 404


@pytest.mark.req("RUN-14")
def test_a_file_is_given_from_the_browser(ada: Client, run: Run) -> None:
    """Through the same service as over the API: checked, named, in the log, and back as it was."""
    address = f"/runs/{run.pk}/artifacts"
    assert address in ada.get(f"/runs/{run.pk}").content.decode()
    assert b'enctype="multipart/form-data"' in ada.get(address).content
    assert ada.post(address).status_code == 422
    file = SimpleUploadedFile("notes.md", b"# Notes", content_type="text/markdown")
    assert ada.post(address, {"file": file}).status_code == 302
    last = list(eventlog.read_all(run.pk))[-1]
    assert last.kind == "artifact_ref" and last.payload is not None
    assert (last.payload["name"], last.payload["media_type"]) == ("notes.md", "text/markdown")
    got = ada.get(f"{address}/{last.payload['sha256']}")
    assert b"".join(got.streaming_content) == b"# Notes"  # type: ignore[arg-type]
    assert got["Cache-Control"] == "private, no-store"
    hostile = SimpleUploadedFile("x\u202egnp.exe", b"x", content_type="image/png")
    assert ada.post(address, {"file": hostile}).status_code == 302
    kept = list(eventlog.read_all(run.pk))[-1].payload
    assert kept is not None and kept["name"] == "xgnp.exe", "it reads as what it is"
    odd = SimpleUploadedFile("x", b"x", content_type="text/html\x00<script>")
    assert ada.post(address, {"file": odd}).status_code in (302, 422)
    eventlog.append(run.pk, [system("state_changed", {"from": "queued", "to": "cancelled"})])
    late = SimpleUploadedFile("late.txt", b"late")
    assert b"The run has ended" in ada.post(address, {"file": late}).content
    assert address not in re.findall(r'href="([^"]*)"', ada.get(f"/runs/{run.pk}").content.decode())


@pytest.mark.req("UI-5", "LIVE-4")
def test_the_dashboard_counts_runs(ada: Client, make_run: Maker) -> None:
    assert b"Nothing has run yet" in ada.get("/").content
    run = make_run()
    eventlog.append(run.pk, [system("state_changed", {"from": "queued", "to": "running"})])
    page = ada.get("/").content.decode()
    assert "First thread" in page
    tiles = ada.get("/home/tiles").content.decode()
    assert "dot-working" in tiles
    change = {"from": "running", "to": "failed", "reason": "It broke"}
    eventlog.append(run.pk, [system("state_changed", change)])
    tiles = ada.get("/home/tiles").content.decode()
    assert "dot-bad" in tiles and "dot-working" not in tiles
    assert b"It broke" in ada.get(f"/runs/{run.pk}").content
    assert b"Failed" in ada.get("/runs/?status=failed").content
    assert b"No such run" in ada.get("/runs/?status=queued").content


def test_children_and_parents_are_linked(ada: Client, user: User, make_run: Maker) -> None:
    run = make_run()
    child = Run.objects.create(
        project=run.project, thread=run.thread, run_kind="script", created_by=user, parent=run
    )
    created: dict[str, Any] = {"run_kind": "script", "input": {}, "pins": {}}
    created["parent"] = {"run_id": str(run.pk), "call_id": "c", "depth": 1}
    eventlog.append(child.pk, [NewEvent("run_created", created)])
    assert f'href="/runs/{child.pk}"' in ada.get(f"/runs/{run.pk}").content.decode()
    page = ada.get(f"/runs/{child.pk}").content.decode()
    assert page.count(f'href="/runs/{run.pk}"') == 2
