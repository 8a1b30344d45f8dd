"""Tool calls of runs: decided, asked about, made, recorded, undone; with the built-in tools."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.registry.models import Project, User
from apps.runs import eventlog
from apps.runs.drive.driver import advance
from apps.runs.eventlog import Event
from apps.runs.eventlog.project import rebuild
from apps.runs.models import Approval, Run, Thread
from apps.runs.services.approvals import answer_approval, expire_approvals
from apps.runs.services.leases import take_lease
from apps.runs.services.rollback import roll_back
from apps.runs.services.runs import cancel_run, create_run, create_thread
from apps.runs.services.settle import settle_ended
from apps.tools.invoke import Invoker
from apps.tools.invoke.surroundings import workspace_of
from apps.tools.models import ProjectRule
from apps.tools.services.builtin import load_builtins
from omni.contracts.errors import Conflict, InvalidInput
from omni.contracts.ports import RunFacts, ToolFailed, ToolRequest, Verdict

pytestmark = pytest.mark.django_db(transaction=True)
Plan = Callable[..., Run]


@pytest.fixture
def thread(user: User) -> Thread:
    from apps.registry.services.projects import create_project

    load_builtins()
    project = create_project(actor=user, name="Apollo")
    return create_thread(actor=user, project=project, title="Files")


@pytest.fixture
def plan(thread: Thread, user: User) -> Plan:
    def make(*steps: dict[str, Any], mode: str = "normal") -> Run:
        return create_run(
            actor=user, thread=thread, run_kind="plan", input={"steps": list(steps)}, mode=mode
        )

    return make


def step(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments}


def write(path: str = "notes/a.txt", text: str = "hello\n", **more: Any) -> dict[str, Any]:
    return step("filesystem.write_file", path=path, text=text, **more)


def drive(run: Run) -> str:
    return advance(run.pk, worker_id=uuid.uuid4())


def events(run: Run) -> list[Event]:
    return list(eventlog.read_all(run.pk))


def names(run: Run) -> list[str]:
    return [event.name or event.kind for event in events(run)]


def payload(run: Run, name: str, number: int = -1) -> dict[str, Any]:
    found = [event.payload for event in events(run) if name in (event.name, event.kind)]
    assert found[number] is not None
    return found[number]


def answer(run: Run, user: User, word: str) -> Approval:
    approval = Approval.objects.get(run=run, state="pending")
    return answer_approval(actor=user, approval=approval, answer=word)[0]


def done(run: Run, user: User, word: str = "approve") -> Run:
    """Drive a run and answer what it asks until it ends."""
    while drive(run).startswith("waiting"):
        answer(run, user, word)
    run.refresh_from_db()
    return run


@pytest.mark.req("TOOL-7", "TOOL-9", "POL-1")
def test_reading_is_allowed_and_the_decision_is_in_the_log(plan: Plan, thread: Thread) -> None:
    (workspace_of(thread.pk) / "a.txt").write_text("hello")
    run = plan(step("filesystem.read_file", path="a.txt"), step("filesystem.list"))
    assert drive(run) == "done"
    assert names(run)[2:-1] == ["policy_decided", "tool_call", "tool_result"] * 2
    decided = payload(run, "policy_decided", 0)
    assert decided["effect"] == "allow" and decided["rule"] and decided["reason"]
    assert payload(run, "tool_result", 0)["output"]["text"] == "hello"
    assert payload(run, "tool_call", 0)["executor"] == "inproc_safe 1.0.0"
    assert payload(run, "tool_result")["output"]["entries"] == [
        {"path": "a.txt", "kind": "file", "size": 5}
    ]


@pytest.mark.req("POL-2", "POL-3", "TOOL-8")
def test_a_write_waits_for_a_person_and_is_recorded_with_its_diff(
    plan: Plan, user: User, thread: Thread
) -> None:
    run = plan(write(text="one\n"))
    assert drive(run) == "waiting for approval"
    file = workspace_of(thread.pk) / "notes" / "a.txt"
    assert not file.exists()
    approval = Approval.objects.get()
    assert approval.detail["arguments"] == {"path": "notes/a.txt", "text": "one\n"}
    assert "+one" in approval.detail["preview"]
    assert approval.options == ["approve", "approve_run", "approve_project", "reject"]
    answer(run, user, "approve")
    assert drive(run) == "done"
    assert file.read_text() == "one\n"
    change = payload(run, "workspace_changed")
    assert (change["path"], change["change"], change["before"]) == ("notes/a.txt", "created", None)
    assert change["diff"]["media_type"] == "text/x-diff"
    order = names(run)
    assert order.index("policy_decided") < order.index("approval_requested")
    assert order.index("approval_answered") < order.index("tool_call") < order.index("tool_result")
    assert payload(run, "policy_decided")["effect"] == "allow"
    assert eventlog.verify(run.pk).ok


@pytest.mark.req("POL-3", "TOOL-6")
def test_a_rejected_call_is_an_error_of_permission_and_nothing_happens(
    plan: Plan, user: User, thread: Thread
) -> None:
    run = plan(write())
    assert done(run, user, "reject").status == "failed"
    assert payload(run, "tool_error")["category"] == "permission_denied"
    assert names(run).count("tool_call") == 1
    assert not (workspace_of(thread.pk) / "notes").exists()


@pytest.mark.req("POL-4")
def test_an_answer_for_the_run_reaches_to_its_end_and_no_further(plan: Plan, user: User) -> None:
    run = plan(write("a.txt"), write("b.txt"))
    drive(run)
    answer(run, user, "approve_run")
    assert drive(run) == "done"
    assert payload(run, "policy_decided")["policy"] == "run-grants"
    assert payload(run, "approval_answered")["scope"] == "run"
    assert drive(plan(write("c.txt"))) == "waiting for approval"


@pytest.mark.req("POL-4")
def test_an_answer_for_the_project_becomes_a_rule_with_its_origin(plan: Plan, user: User) -> None:
    first = plan(write("a.txt"))
    drive(first)
    approval = answer(first, user, "approve_project")
    assert drive(first) == "done"
    rule = ProjectRule.objects.get()
    assert (rule.approval_id, rule.run_id, rule.added_by) == (approval.pk, first.pk, user)
    second = plan(write("b.txt"))
    assert drive(second) == "done"
    assert payload(second, "policy_decided")["rule"] == rule.rule_id


@pytest.mark.req("POL-3")
def test_an_approval_is_worth_nothing_for_another_call(plan: Plan, user: User) -> None:
    run = plan(write("a.txt"), write("b.txt"))
    drive(run)
    first = answer(run, user, "approve")
    assert drive(run) == "waiting for approval"
    second = Approval.objects.get(state="pending")
    assert first.detail["call_hash"] != second.detail["call_hash"]


@pytest.mark.req("POL-3")
def test_an_approver_may_change_the_arguments_of_a_tool_that_allows_it(
    plan: Plan, user: User, thread: Thread
) -> None:
    run = plan(write("a.txt", "wrong"), write("b.txt"))
    drive(run)
    approval = Approval.objects.get()
    for arguments, word in (({"path": 1}, "approve"), ({"path": "a"}, "approve_run")):
        with pytest.raises(InvalidInput):
            answer_approval(actor=user, approval=approval, answer=word, arguments=arguments)
    right = {"path": "a.txt", "text": "right"}
    answer_approval(actor=user, approval=approval, answer="approve", arguments=right)
    assert drive(run) == "waiting for approval"
    assert payload(run, "tool_call")["arguments"] == right
    assert (workspace_of(thread.pk) / "a.txt").read_text() == "right"


@pytest.mark.req("POL-5")
def test_analysis_only_refuses_changes_whatever_the_rules_say(
    plan: Plan, user: User, thread: Thread
) -> None:
    allowed = plan(write("a.txt"))
    drive(allowed)
    answer(allowed, user, "approve_project")
    drive(allowed)
    run = plan(write("b.txt"), mode="analysis_only")
    assert drive(run) == "failed"
    assert payload(run, "policy_decided")["rule"] == "mode-analysis-only"
    assert not (workspace_of(thread.pk) / "b.txt").exists()
    assert drive(plan(step("filesystem.list"), mode="analysis_only")) == "done"


@pytest.mark.req("POL-5")
def test_a_dry_run_says_what_it_would_do(plan: Plan, user: User, thread: Thread) -> None:
    run = plan(write("a.txt"), step("command.run", command=["true"]), mode="dry_run")
    assert done(run, user).status == "done"
    assert payload(run, "tool_result", 0)["simulated"] is True
    assert payload(run, "tool_result")["output"]["would_do"]["tool"] == "command.run"
    assert "workspace_changed" not in names(run)
    assert not (workspace_of(thread.pk) / "a.txt").exists()


@pytest.mark.req("TOOL-2", "TOOL-6")
@pytest.mark.parametrize(
    ("call", "category"),
    [
        (step("filesystem.read_file"), "invalid_input"),
        (step("filesystem.read_file", path="a", more=1), "invalid_input"),
        (step("filesystem.read_file", path="../../etc/passwd"), "permission_denied"),
        (step("filesystem.read_file", path="nothing"), "tool_failed"),
        (step("no.such_tool"), "misconfigured"),
        ({**step("filesystem.list"), "version": "9.0.0"}, "misconfigured"),
    ],
)
def test_three_kinds_of_failure_are_told_apart(
    plan: Plan, call: dict[str, Any], category: str
) -> None:
    run = plan(call)
    assert drive(run) == "failed"
    assert payload(run, "tool_error")["category"] == category
    assert names(run).count("tool_call") == names(run).count("tool_error") == 1


@pytest.mark.req("TOOL-5")
def test_a_plan_uses_earlier_results_and_goes_on_after_declared_errors(
    plan: Plan, user: User, thread: Thread
) -> None:
    (workspace_of(thread.pk) / "a.txt").write_text("from a")
    run = plan(
        {**step("filesystem.read_file", path="missing"), "id": "gone", "on_error": "continue"},
        {**step("filesystem.read_file", path="a.txt"), "id": "first"},
        step(
            "filesystem.write_file",
            path={"$result": "gone", "pointer": "/path", "default": "b.txt"},
            text={"$result": "first", "pointer": "/text"},
        ),
    )
    assert done(run, user).status == "done"
    assert (workspace_of(thread.pk) / "b.txt").read_text() == "from a"
    assert payload(run, "state_changed")["result"] == {"steps": 3, "failed": ["gone"]}


@pytest.mark.req("TOOL-5")
@pytest.mark.parametrize(
    "steps",
    [
        [],
        [{"tool": "Not a name"}],
        [{"tool": "http.get", "arguments": {"url": {"$result": "later"}}}],
        [{"id": "a", "tool": "http.get"}, {"id": "a", "tool": "http.get"}],
    ],
)
def test_a_plan_that_makes_no_sense_never_starts(
    thread: Thread, user: User, steps: list[Any]
) -> None:
    with pytest.raises(InvalidInput):
        create_run(actor=user, thread=thread, run_kind="plan", input={"steps": steps})
    assert not Run.objects.exists()


@pytest.mark.req("TOOL-8")
def test_a_run_is_rolled_back_unless_somebody_changed_the_file_since(
    plan: Plan, user: User, thread: Thread
) -> None:
    folder = workspace_of(thread.pk)
    (folder / "a.txt").write_text("before")
    run = plan(write("a.txt", "one"), write("a.txt", "two"), write("new.txt", "new"))
    done(run, user)
    undone = done(roll_back(actor=user, run=run), user)
    assert undone.status == "done"
    assert (folder / "a.txt").read_text() == "before"
    assert not (folder / "new.txt").exists()
    again = plan(write("a.txt", "mine"))
    done(again, user)
    (folder / "a.txt").write_text("somebody else's")
    failed = done(roll_back(actor=user, run=again), user)
    assert failed.status == "failed"
    assert (folder / "a.txt").read_text() == "somebody else's"
    with pytest.raises(Conflict):
        roll_back(actor=user, run=plan_without_changes(plan, user))


def plan_without_changes(plan: Plan, user: User) -> Run:
    return done(plan(step("filesystem.list")), user)


@pytest.mark.req("RUN-11")
def test_an_interrupted_read_is_repeated_and_an_interrupted_write_is_not(
    plan: Plan, user: User, thread: Thread
) -> None:
    (workspace_of(thread.pk) / "a.txt").write_text("x")
    read, changed = plan(step("filesystem.read_file", path="a.txt")), plan(write("b.txt"))
    drive(changed)
    answer(changed, user, "approve")
    for run in (read, changed):
        _die_in_the_call(run)
    assert drive(read) == "done"
    assert names(read).count("tool_call") == 1
    assert drive(changed) == "waiting for approval"
    assert payload(changed, "tool_error")["category"] == "outcome_unknown"
    answer(changed, user, "fail")
    assert drive(changed) == "failed"
    assert not (workspace_of(thread.pk) / "b.txt").exists()


class _Dead(BaseException):
    """Stands for kill -9 between the intent and the effect."""


def _die_in_the_call(run: Run) -> None:
    class Dying(Invoker):
        def execute(self, *_: Any) -> Any:
            raise _Dead

    from apps.runs.drive.ports import Ports

    with pytest.raises(_Dead):
        advance(run.pk, worker_id=uuid.uuid4(), ports=Ports(tools=Dying()))
    assert take_lease(run.pk, owner=uuid.uuid4()) is None
    Run.objects.filter(pk=run.pk).update(lease_until="2000-01-01T00:00:00Z")


@pytest.mark.req("POL-1")
@pytest.mark.parametrize("decision", [None, {"effect": "ask"}, {"effect": "deny"}])
def test_the_door_makes_no_call_without_a_decision_that_allows_it(
    project: Project, decision: dict[str, Any] | None
) -> None:
    facts = RunFacts(project.pk, project.slug, uuid.uuid4())
    request = ToolRequest(facts, "c1", "filesystem.list", {})
    with pytest.raises(ToolFailed) as caught:
        Invoker().execute(
            Verdict("filesystem.list", decision=decision),
            request,
            context=None,  # type: ignore[arg-type]
        )
    assert caught.value.kind == "permission_denied"


@pytest.mark.req("TOOL-7")
def test_a_project_remembers_what_it_is_told_and_no_other_project_does(
    plan: Plan, user: User, thread: Thread
) -> None:
    fact = "The launch takes place in Kourou."
    run = plan(
        step("memory.remember", text=fact),
        step("memory.remember", text=f"  {fact.upper()} "),
        step("memory.search", query="Where is the launch?"),
        step("memory.search", query="nothing of the kind"),
    )
    assert done(run, user).status == "done"
    first, again, found, nothing = (
        payload(run, "tool_result", number)["output"] for number in range(4)
    )
    assert (first["is_new"], again["is_new"], first["id"]) == (True, False, again["id"])
    assert [item["text"] for item in found["items"]] == [fact]
    assert found["items"][0]["source_run"] == str(run.pk) and "launch" in found["items"][0]["why"]
    assert nothing["items"] == []
    from apps.registry.services.projects import create_project

    other = create_thread(
        actor=user, project=create_project(actor=user, name="Gemini"), title="Other"
    )
    steps = [step("memory.search", query="launch")]
    elsewhere = create_run(actor=user, thread=other, run_kind="plan", input={"steps": steps})
    assert done(elsewhere, user).status == "done"
    assert payload(elsewhere, "tool_result")["output"]["items"] == []


@pytest.mark.req("RUN-14", "TOOL-7")
def test_an_artifact_is_read_within_its_project_only(
    plan: Plan, user: User, thread: Thread
) -> None:
    from apps.runs.services.artifacts import store_artifact

    run = plan(write("a.txt"))
    sha256 = store_artifact(run.pk, b"some bytes", media_type="text/plain").sha256
    reader = plan(step("artifact.read", sha256=sha256, offset=5))
    assert drive(reader) == "done"
    assert payload(reader, "tool_result")["output"]["text"] == "bytes"
    stranger = plan(step("artifact.read", sha256="0" * 64))
    assert drive(stranger) == "failed"


@pytest.mark.req("POL-5")
def test_a_child_cannot_leave_the_safe_mode_of_its_parent(thread: Thread, user: User) -> None:
    child = {"do": "child", "run_kind": "plan", "input": {"steps": [write("a.txt")]}}
    parent = create_run(
        actor=user,
        thread=thread,
        run_kind="script",
        input={"actions": [child]},
        mode="analysis_only",
    )
    drive(parent)
    inner = parent.children.get()
    assert drive(inner) == "failed"
    assert payload(inner, "policy_decided")["rule"] == "mode-analysis-only"


@pytest.mark.req("TOOL-5")
def test_a_child_with_a_plan_that_makes_no_sense_is_refused(thread: Thread, user: User) -> None:
    child = {"do": "child", "run_kind": "plan", "input": {"steps": []}}
    parent = create_run(actor=user, thread=thread, run_kind="script", input={"actions": [child]})
    assert drive(parent) == "failed"
    assert not parent.children.exists()


@pytest.mark.req("POL-3")
def test_an_answer_that_comes_too_late_is_told_so(plan: Plan, user: User) -> None:
    run = plan(write("a.txt"))
    drive(run)
    Approval.objects.update(expires_at="2000-01-01T00:00:00Z")
    with pytest.raises(Conflict, match="expired"):
        answer(run, user, "approve")


@pytest.mark.req("POL-3")
def test_a_question_with_a_wrong_detail_does_not_keep_others_from_expiring(
    thread: Thread, user: User
) -> None:
    for detail in ({"on_expiry": "x"}, {}):
        ask = {"do": "ask", "title": "?", "seconds": 0, "detail": detail}
        drive(create_run(
            actor=user, thread=thread, run_kind="script", input={"actions": [ask]}
        ))  # fmt: skip
    assert expire_approvals() == 2


@pytest.mark.req("TOOL-8", "MCP-3", "UI-6")
def test_trying_a_tool_and_rolling_back_on_pages(
    client: Client, plan: Plan, user: User, thread: Thread
) -> None:
    client.force_login(user)
    page = f"/projects/{thread.project.slug}/tools/filesystem.write_file/try"
    form = client.get(page)
    assert form.status_code == 200 and b"arg-path" in form.content
    wrong = client.post(page, {"arg-path": "a.txt", "mode": "normal"})
    assert wrong.status_code == 422 and b"required" in wrong.content
    run_id = uuid.uuid4()
    entered = {"arg-path": "a.txt", "arg-text": "one", "mode": "normal", "run_id": str(run_id)}
    for _ in range(2):
        assert client.post(page, entered).status_code == 302
    run = Run.objects.get()
    assert run.pk == run_id
    shown = done(run, user)
    about = client.get(f"/runs/{shown.pk}")
    assert b"Roll back" in about.content
    assert b"Roll back" in client.get(f"/runs/{shown.pk}/rollback").content
    assert client.post(f"/runs/{shown.pk}/rollback").status_code == 302
    undoing = Run.objects.exclude(pk=run_id).get()
    assert done(undoing, user).status == "done"
    assert not (workspace_of(shown.thread_id) / "a.txt").exists()


@pytest.mark.req("RUN-7")
def test_approvals_are_derived_anew_from_events(plan: Plan, user: User) -> None:
    answered, waiting, stopped = plan(write("a.txt")), plan(write("b.txt")), plan(write("c.txt"))
    done(answered, user)
    drive(waiting)
    drive(stopped)
    cancel_run(actor=user, run=stopped)
    settle_ended(stopped.pk)
    rows = list(Approval.objects.order_by("pk").values())
    assert {row["state"] for row in rows} == {"answered", "pending", "withdrawn"}
    for run in (answered, waiting, stopped):
        assert rebuild(run.pk)
    assert list(Approval.objects.order_by("pk").values()) == rows
    Approval.objects.filter(run=answered).update(answer="reject")
    assert not rebuild(answered.pk)
    assert list(Approval.objects.order_by("pk").values()) == rows
