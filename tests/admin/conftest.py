"""A platform with at least one row of everything, some of which must never be shown."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.utils import timezone

SECRET_VALUE = "s3cret-value-never-shown"
TYPED_PASSWORD = "typed into the wrong field"
SEALED_ANSWER = b"sealed-answer-never-shown"


@pytest.fixture
def make_rows(db: None) -> dict[str, Callable[[int], Any]]:
    """Makes row number `n` of a model, by label."""
    from axes.models import AccessAttempt, AccessLog
    from django.contrib.auth.models import Group
    from django_celery_beat import models as beat

    from apps.memory.services.items import remember
    from apps.registry.models import IdempotencyRecord, Scope, User
    from apps.registry.services.members import set_member_roles
    from apps.registry.services.projects import create_project
    from apps.registry.services.tokens import create_token
    from apps.registry.sessions import SessionStore
    from apps.runs import eventlog
    from apps.runs.eventlog.project import rebuild
    from apps.runs.models import Approval, BudgetUse, Projection, Worker
    from apps.runs.services.artifacts import store_artifact
    from apps.runs.services.runs import create_run, create_thread
    from apps.tools.services.openapi import add_openapi_document
    from apps.tools.services.policies import add_project_rule, publish_policy, put_policy_in_force
    from apps.tools.services.secrets import set_secret
    from apps.tools.services.tools import install_tool, register_tool
    from tests.mcp.furnish import furnished_server
    from tests.tools.manifests import manifest
    from tests.tools.policies import policy, rule

    def person(n: int) -> Any:
        return User.objects.create_user(f"person{n}@example.org", name=f"Person {n}")

    def member(n: int) -> Any:
        owner = person(n)
        project = create_project(actor=owner, name=f"Project {n}")
        other = User.objects.create_user(f"member{n}@example.org")
        set_member_roles(actor=owner, project=project, user=other, roles={"viewer", "approver"})
        return project

    def token(n: int) -> Any:
        return create_token(user=person(n), name=f"Token {n}", scopes={Scope.READ})

    def session(n: int) -> Any:
        store = SessionStore()
        store["_auth_user_id"] = str(person(n).pk)
        store.create()
        return store

    def answer(n: int) -> Any:
        return IdempotencyRecord.objects.create(
            user=person(n), key=f"key-{n}", request_hash="0" * 64, status=201, body=SEALED_ANSWER
        )

    def secret(n: int) -> Any:
        project = member(n)
        owner = project.created_by
        return set_secret(actor=owner, project=project, name=f"name{n}", value=SECRET_VALUE)[0]

    def document(n: int) -> Any:
        project = member(n)
        text = f'{{"openapi": "3.1.0", "info": {{"title": "API {n}"}}, "paths": {{}}}}'
        url = "https://api.example.org"
        return add_openapi_document(
            actor=project.created_by, project=project, text=text, base_url=url
        )[0]

    def tool(n: int) -> Any:
        project = member(n)
        owner = project.created_by
        made, _ = register_tool(
            actor=owner, manifest=manifest(name=f"tool.number{n}"), project=project
        )
        return install_tool(actor=owner, project=project, tool=made)

    def policies(n: int) -> Any:
        project = member(n)
        owner = project.created_by
        made, _ = publish_policy(actor=owner, document=policy(rule()), project=project)
        put_policy_in_force(actor=owner, policy=made, project=project)
        return add_project_rule(actor=owner, project=project, rule=rule("deny", "x"))

    def thread(n: int) -> Any:
        project = member(n)
        return create_thread(actor=project.created_by, project=project, title=f"Thread {n}")

    def run(n: int) -> Any:
        within = thread(n)
        return create_run(
            actor=within.created_by, thread=within, run_kind="script", input={"steps": 1}
        )

    def approval(n: int) -> Any:
        asks = run(n)
        payload = {"approval_id": str(asks.pk), "title": f"Question {n}?", "options": ["yes", "no"]}
        eventlog.append(asks.pk, [eventlog.system("approval_requested", payload)])
        return Approval.objects.get(run=asks)

    def artifact(n: int) -> Any:
        return store_artifact(run(n).pk, f"file {n}".encode(), media_type="text/plain", name="f")

    def projection(n: int) -> Any:
        kept = run(n)
        rebuild(kept.pk)
        return Projection.objects.get(pk=kept.pk)

    def budget(n: int) -> Any:
        bound = {"scope": f"project:{n}", "unit": "steps", "amount": n}
        return BudgetUse.objects.create(project=member(n), **bound)

    def memory(n: int) -> Any:
        return remember(project_id=member(n).pk, text=f"Fact {n}")[0]

    def worker(n: int) -> Any:
        now = timezone.now()
        return Worker.objects.create(
            kind="worker",
            node_id=f"node{n}",
            pid=n + 1,
            queues=["omni"],
            started_at=now,
            seen_at=now,
        )

    def access(model: Any, **fields: Any) -> Callable[[int], Any]:
        def make(n: int) -> Any:
            address = f"10.0.{n // 250}.{n % 250 + 1}"
            base = {"user_agent": f"Browser {n}", "ip_address": address, "path_info": "/login"}
            name = TYPED_PASSWORD if n % 2 else f"person{n}@example.org"
            return model.objects.create(username=name, http_accept="*/*", **base, **fields)

        return make

    def interval(n: int) -> Any:
        return beat.IntervalSchedule.objects.create(every=n + 2, period="hours")

    def crontab(n: int) -> Any:
        return beat.CrontabSchedule.objects.create(minute=str(n % 60), hour=str(n // 60 % 24))

    def task(n: int) -> Any:
        return beat.PeriodicTask.objects.create(
            name=f"Task {n}", task="apps.runs.tasks.clean_up", interval=interval(n)
        )

    def mcp(n: int) -> Any:
        project = member(n)
        return furnished_server(project.created_by, project, slug=f"server-{n}")

    return {
        "tools.mcpserver": mcp,
        "tools.mcpentry": mcp,
        "tools.mcpcheck": mcp,
        "tools.mcpcatalog": mcp,
        "auth.group": lambda n: Group.objects.create(name=f"Group {n}"),
        "registry.user": person,
        "registry.project": member,
        "registry.membership": member,
        "registry.projectuserobjectpermission": member,
        "registry.apitoken": token,
        "registry.session": session,
        "registry.idempotencyrecord": answer,
        "registry.auditentry": member,
        "tools.secret": secret,
        "tools.openapidocument": document,
        "tools.toolversion": tool,
        "tools.toolinstallation": tool,
        "tools.policyversion": policies,
        "tools.projectpolicy": policies,
        "tools.projectrule": policies,
        "runs.thread": thread,
        "runs.run": run,
        "runs.approval": approval,
        "runs.artifact": artifact,
        "runs.artifactuse": artifact,
        "runs.projection": projection,
        "runs.budgetuse": budget,
        "memory.memoryitem": memory,
        "runs.worker": worker,
        "axes.accessattempt": access(
            AccessAttempt, get_data="", post_data="password=x", failures_since_start=9
        ),
        "axes.accesslog": access(AccessLog),
        "django_celery_beat.intervalschedule": interval,
        "django_celery_beat.crontabschedule": crontab,
        "django_celery_beat.clockedschedule": lambda n: beat.ClockedSchedule.objects.create(
            clocked_time=datetime(2030, 1, 1, tzinfo=UTC) + timedelta(hours=n)
        ),
        "django_celery_beat.solarschedule": lambda n: beat.SolarSchedule.objects.create(
            event="sunrise", latitude=n % 90, longitude=n / 20
        ),
        "django_celery_beat.periodictask": task,
    }


@pytest.fixture
def furnished(make_rows: dict[str, Callable[[int], Any]]) -> SimpleNamespace:
    """One row of every model, two where an odd one differs."""
    made = SimpleNamespace(rows={})
    for position, (label, make) in enumerate(make_rows.items()):
        made.rows[label] = [make(100 + 2 * position), make(101 + 2 * position)]
    return made


@pytest.fixture
def console(administrator: Any, client: Client) -> Client:
    """A browser in which an administrator is signed in."""
    client.force_login(administrator)
    return client


@pytest.fixture
def make_staff(make_user: Callable[..., Any]) -> Callable[..., Any]:
    """An operator with exactly these model permissions, such as `registry.view_user`."""

    def make(email: str, *permissions: str) -> Any:
        staff = make_user(email, is_staff=True)
        for name in permissions:
            app, codename = name.split(".")
            found = Permission.objects.get(content_type__app_label=app, codename=codename)
            staff.user_permissions.add(found)
        return staff

    return make


@pytest.fixture
def onlooker(make_staff: Callable[..., Any]) -> Any:
    """An operator who may view everything and change nothing."""
    staff = make_staff("looks@example.org")
    staff.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    return staff
