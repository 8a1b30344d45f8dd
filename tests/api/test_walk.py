"""One test walks every address of every surface, as nobody and as a stranger, and finds nothing.

The addresses come from Django's resolver, so a new one is walked as soon as it exists; it is
filled with the real ids of somebody else's things.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.tokens import default_token_generator
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils.http import urlsafe_base64_encode

from apps.registry.models import ApiToken, AuditEntry, Membership, Project, Scope, User
from apps.registry.services.projects import create_project
from apps.registry.services.tokens import create_token
from apps.runs import eventlog
from apps.runs.models import Approval, Run, Thread, Worker
from apps.runs.services.artifacts import store_artifact
from apps.runs.services.leases import take_lease
from apps.runs.services.runs import create_run, create_thread
from apps.runs.services.workers import start_worker
from apps.tools.models import (
    McpEntry,
    McpServer,
    OpenApiDocument,
    PolicyVersion,
    ProjectPolicy,
    ProjectRule,
    Secret,
    ToolVersion,
)
from apps.tools.services.openapi import add_openapi_document
from apps.tools.services.policies import add_project_rule, publish_policy, put_policy_in_force
from apps.tools.services.secrets import set_secret
from apps.tools.services.tools import install_tool, register_tool
from tests.mcp.furnish import furnished_server
from tests.tools.manifests import manifest
from tests.tools.policies import policy, rule

pytestmark = [pytest.mark.req("SEC-2"), pytest.mark.req("SEC-1")]

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
# It is in the names, descriptions and addresses of what the owner has, and in no id or slug.
MARK = "qzxvw"

# What anybody may open; everything else must not answer with success before a sign-in.
PUBLIC = {
    "healthz",
    "readyz",
    "metrics",  # from this machine, or with its own token
    "api/openapi.json",
    "api/docs/",
    "api/schemas",  # shapes of documents, and no document
    "api/schemas/<path:name>",
    "login",
    "logout",  # ends a session; without one it leads to the sign-in
    "password/reset",
    "password/reset/sent",
    "password/set/done",
    "password/set/<uidb64>/<token>",
    "theme",  # a cookie of the browser
    "admin/login/",
}
# A link to set a password is for whoever holds it, signed in or not.
BEARER_LINKS = {"password/set/<uidb64>/<token>"}
# Processes belong to the platform; of what they drive everybody sees only their own.
SHARED = {"workers/<uuid:worker_id>", "api/workers/<uuid:id>"}
# Where a refused visitor is sent: to a sign-in, or to the page that tells about the API.
LEADS_NOWHERE = re.compile(r"/login\b|^/api/docs/$|^/admin/$")


def routes(resolver: URLResolver, prefix: str = "") -> Iterator[str]:
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            yield from routes(pattern, prefix + str(pattern.pattern))
        elif isinstance(pattern, URLPattern):
            yield prefix + str(pattern.pattern)


ROUTES = sorted(set(routes(get_resolver())))


def surface_of(route: str) -> str:
    if route in ("healthz", "readyz", "metrics"):
        return "health"
    first = route.lstrip("^").split("/")[0].split("(")[0]
    return first if first in ("api", "admin") else "workspace"


SURFACES = {
    surface: [route for route in ROUTES if surface_of(route) == surface]
    for surface in ("api", "workspace", "admin", "health")
}


@dataclass(frozen=True)
class Victim:
    """Somebody else's project with everything in it."""

    owner: User
    project: Project
    secret: Secret
    tool: ToolVersion
    token: ApiToken
    entry: AuditEntry
    run: Run
    approval: Approval
    sha256: str
    worker_id: uuid.UUID
    mcp: McpEntry
    document: OpenApiDocument

    def fill(self, route: str) -> str:
        values = {
            "slug": self.project.slug,
            "name": self.secret.name,
            "tool": self.tool.name,
            "version": self.tool.version,
            "policy": "hidden",
            "rule": "hidden",
            "user_id": self.owner.pk,
            "token_id": self.token.pk,
            "entry_id": self.entry.pk,
            "uidb64": urlsafe_base64_encode(str(self.owner.pk).encode()),
            "token": default_token_generator.make_token(self.owner),
            "app_label": "registry",
            "content_type_id": "1",
            "url": "unknown",
            "object_id": self._row(route),
            "id": {
                "tokens": self.token.pk, "audit": self.entry.pk, "runs": self.run.pk,
                "threads": self.run.thread_id, "approvals": self.approval.pk,
                "tools": self.tool.pk,
                "workers": self.worker_id,
            }.get(route.split("/")[1] if "/" in route else "", self.owner.pk),
            "run_id": self.run.pk,
            "thread_id": self.run.thread_id,
            "approval_id": self.approval.pk,
            "worker_id": self.worker_id,
            "seq": 1,
            "server": self.mcp.server.slug,
            "mcp_entry": self.mcp.pk,
            "sha256": self.sha256,
            "document": self.document.sha256,
        }  # fmt: skip
        path = re.sub(r"<(?:\w+:)?(\w+)>", lambda name: str(values[name[1]]), _simple(route))
        # A file is asked for through its run; without one the question is not even complete.
        return f"/{path}?run={self.run.pk}" if route.startswith("api/artifacts/") else f"/{path}"

    def _row(self, route: str) -> str:
        """The owner's row of the model that an admin page is about."""
        page = re.match(r"admin/(\w+)/(\w+)/<", route)
        model = apps.get_model(page[1], page[2]) if page else Project
        mine: dict[type, Any] = {
            Project: self.project, User: self.owner, Secret: self.secret, ApiToken: self.token,
            AuditEntry: self.entry, Run: self.run, Approval: self.approval, ToolVersion: self.tool,
            McpServer: self.mcp.server, McpEntry: self.mcp,
            OpenApiDocument: self.document,
        }  # fmt: skip
        row = mine.get(model) or model._default_manager.first()
        return str(row.pk if row else 1)

    def state(self) -> Any:
        """What nobody else may have changed."""
        secret = Secret.objects.filter(pk=self.secret.pk).values("ciphertext", "description")
        return (
            Project.objects.filter(pk=self.project.pk).values().get(),
            sorted(Membership.objects.filter(project=self.project).values_list("user", "role")),
            [{**row, "ciphertext": bytes(row["ciphertext"])} for row in secret],
            ApiToken.objects.filter(pk=self.token.pk).values("revoked_at", "scopes").get(),
            User.objects.filter(pk=self.owner.pk).values("password", "is_active", "name").get(),
            Run.objects.filter(pk=self.run.pk).values("status", "last_seq", "tip_hash").get(),
            Thread.objects.filter(project=self.project).values("title", "archived_at").get(),
            Approval.objects.filter(pk=self.approval.pk).values("state", "answer").get(),
            list(self.project.installations.values("tool", "is_pinned", "enabled")),
            list(ToolVersion.objects.values("sha256", "deprecated")),
            list(PolicyVersion.objects.values("sha256")),
            list(ProjectPolicy.objects.values("policy", "withdrawn_at")),
            list(ProjectRule.objects.values("rule", "withdrawn_at")),
            McpServer.objects.filter(pk=self.mcp.server_id).values("url", "enabled").get(),
            McpEntry.objects.filter(pk=self.mcp.pk).values("state", "accepted_sha256").get(),
            OpenApiDocument.objects.filter(pk=self.document.pk).values("title", "base_url").get(),
        )


def _simple(route: str) -> str:
    """Regular expressions of the admin and of the catch-all, as plain routes."""
    route = re.sub(r"\(\?P(<\w+>)[^)]*\)", r"\1", route.replace("/^", "/"))
    return route.replace("^api(?:/|$)", "api/unknown").rstrip("$")


@pytest.fixture
def victim(make_user: Callable[..., User]) -> Victim:
    owner = make_user(f"{MARK}@example.org", name=f"{MARK} owner")
    project = create_project(
        actor=owner, name=f"{MARK} project", slug="hidden", description=f"{MARK} description"
    )
    secret, _ = set_secret(
        actor=owner, project=project, name="HIDDEN", value="v", description=f"{MARK} secret"
    )
    set_secret(
        actor=make_user("keeper@example.org", is_staff=True, is_superuser=True),
        project=None, name="PLATFORM", value="v", description=f"{MARK} platform",
    )  # fmt: skip
    token, _ = create_token(user=owner, name=f"{MARK} token", scopes=set(Scope))
    entry = AuditEntry.objects.filter(project=project)[0]
    tool = guarded_tool(owner, project)
    mcp = furnished_server(owner, project, word=MARK).entries.get(name="search")
    text = f'{{"openapi": "3.1.0", "info": {{"title": "{MARK} api"}}, "paths": {{}}}}'
    document, _, _ = add_openapi_document(
        actor=owner, project=project, text=text, base_url=f"https://{MARK}.example.org"
    )
    asking = asking_run(owner, project)
    return Victim(owner, project, secret, tool, token, entry, *asking, mcp, document)


def guarded_tool(owner: User, project: Project) -> ToolVersion:
    """A tool of the project's own, with a policy and a rule that speak of it."""
    about = manifest(name="hidden.tool", description=f"{MARK} tool")
    tool, _ = register_tool(actor=owner, manifest=about, project=project)
    install_tool(actor=owner, project=project, tool=tool)
    document = policy(rule("ask", "r"), name="hidden") | {"description": f"{MARK} policy"}
    published, _ = publish_policy(actor=owner, document=document, project=project)
    put_policy_in_force(actor=owner, policy=published, project=project)
    added = rule("deny", "hidden", agents=["x"]) | {"reason": f"{MARK} reason"}
    add_project_rule(actor=owner, project=project, rule=added)
    return tool


def asking_run(owner: User, project: Project) -> tuple[Run, Approval, str, uuid.UUID]:
    """A run with a file, which asks, and the worker that drives it."""
    thread = create_thread(actor=owner, project=project, title=f"{MARK} thread")
    run = create_run(actor=owner, thread=thread, run_kind="echo", input={}, text=f"{MARK} text")
    body = f"{MARK} content".encode()
    file = store_artifact(run.pk, body, media_type="text/plain", name=f"{MARK}.txt")
    asked = {"approval_id": str(run.pk), "title": f"{MARK}?", "options": ["yes", "no"]}
    eventlog.append(run.pk, [eventlog.system("approval_requested", asked)])
    worker = start_worker(kind=Worker.Kind.WORKER, pid=1)
    take_lease(run.pk, owner=worker)
    run.refresh_from_db()
    return run, Approval.objects.get(run=run), str(file.pk), worker


def visit(client: Client, method: str, path: str, **headers: str) -> Any:
    return client.generic(method, path, b"{}", content_type="application/json", headers=headers)


def answered(client: Client, method: str, path: str) -> int:
    response = visit(client, method, path)
    # A file is let go of when it was read.
    b"".join(response)
    return int(response.status_code)


def leaks(response: Any) -> bool:
    body = b"".join(response.streaming_content) if response.streaming else response.content
    return MARK.encode() in (body + str(response.headers).encode()).lower()


def fails(route: str, code: int) -> bool:
    # The platform is not ready while no worker reports, and says so with 503.
    return code >= 500 and not (route == "readyz" and code == 503)


@pytest.mark.parametrize("surface", SURFACES)
def test_nobody_finds_anything(surface: str, victim: Victim) -> None:
    """Without a sign-in: no success beyond the named public addresses, no data, no failure."""
    found, before = [], victim.state()
    client = Client(raise_request_exception=False)
    for route in SURFACES[surface]:
        path = victim.fill(route)
        for method in METHODS:
            client.cookies.clear()
            response = visit(client, method, path)
            code, goes_to = response.status_code, response.headers.get("Location", "")
            is_open = code < 300 or (300 <= code < 400 and not LEADS_NOWHERE.search(goes_to))
            if fails(route, code) or leaks(response) or (is_open and route not in PUBLIC):
                found.append(f"{method} {path}: {code} {goes_to}")
    assert found == []
    assert victim.state() == before


@pytest.mark.parametrize("surface", SURFACES)
def test_a_stranger_finds_nothing(surface: str, victim: Victim, stranger: User) -> None:
    """Signed in and a member of nothing: what belongs to others is not there."""
    found, before = [], victim.state()
    _, token = create_token(user=stranger, name="mine", scopes=set(Scope))
    by_token = {"Authorization": f"Bearer {token}"}
    browser = Client(raise_request_exception=False)
    program = Client(raise_request_exception=False)
    for route in SURFACES[surface]:
        path = victim.fill(route)
        is_theirs = "<" in _simple(route) and route not in BEARER_LINKS | SHARED
        browser.force_login(stranger, "django.contrib.auth.backends.ModelBackend")
        for method in METHODS:
            answers = [visit(browser, method, path)]
            if surface == "api":
                answers.append(visit(program, method, path, **by_token))
            for response in answers:
                code = response.status_code
                if fails(route, code) or leaks(response) or (is_theirs and code < 300):
                    found.append(f"{method} {path}: {code}")
    assert found == []
    assert victim.state() == before


@pytest.mark.parametrize("surface", SURFACES)
def test_an_operator_without_permissions_finds_nothing(
    surface: str, victim: Victim, make_user: Callable[..., User]
) -> None:
    """Marked as an operator and in no group: the console opens, and is empty."""
    found, before = [], victim.state()
    staff = make_user("bare@example.org", is_staff=True)
    client = Client(raise_request_exception=False)
    for route in SURFACES[surface]:
        path = victim.fill(route)
        is_theirs = "<" in _simple(route) and route not in BEARER_LINKS | SHARED
        client.force_login(staff, "django.contrib.auth.backends.ModelBackend")
        for method in METHODS:
            response = visit(client, method, path)
            code = response.status_code
            if fails(route, code) or leaks(response) or (is_theirs and code < 300):
                found.append(f"{method} {path}: {code}")
    assert found == []
    assert victim.state() == before


HOSTILE = (
    "q=%27%22%3C%25_(%5B", "page=-1", "page=99999999999999999999", "page=x", "page_size=0",
    "page_size=99999999999999999999", "cursor=x", "cursor=" + "A" * 4000, "p=99999999999",
    "o=-99.x", "project=%2F..%2F", "actor=x", "since=99999-99-99", "until=1e309", "allowed=2",
    "action=nothing", "kind=%F0%9F%A6%84", "alive=maybe", "active=2", "archived=%C2%A0",
    "next=%2F%2Fexample.org", "e=1", "_to_field=password", "_popup=1&id__in=x", "at__year=0",
    "=", "&&&", "q=a&q=b", "q=" + "z" * 3000,
)  # fmt: skip


@pytest.mark.parametrize("surface", SURFACES)
def test_hostile_queries_do_no_harm(surface: str, victim: Victim, administrator: User) -> None:
    """Every page without a row in its address, asked for nonsense, refuses or ignores it."""
    client, found = Client(raise_request_exception=False), []
    client.force_login(administrator, "django.contrib.auth.backends.ModelBackend")
    for route in SURFACES[surface]:
        if "<" in _simple(route) or route in ("logout", "readyz"):
            continue
        for query in HOSTILE:
            code = client.get(f"{victim.fill(route)}?{query}").status_code
            if code >= 500:
                found.append(f"{route}?{query[:60]}: {code}")
    assert found == []


@pytest.mark.parametrize("surface", ["api", "workspace"])
def test_the_owner_does_find_it(surface: str, victim: Victim) -> None:
    """The walk is worth something only if the same addresses lead somewhere for the owner."""
    dead, client = [], Client()
    for route in SURFACES[surface]:
        if not re.search(r"<slug:|api/(runs|threads|approvals|artifacts|tools)/<", route):
            continue
        with transaction.atomic():
            client.force_login(victim.owner, "django.contrib.auth.backends.ModelBackend")
            methods = ("GET", "PUT", "PATCH", "POST")
            codes = {answered(client, each, victim.fill(route)) for each in methods}
            transaction.set_rollback(True)
        if codes <= {404, 405}:
            dead.append(f"{route}: {codes}")
    assert dead == []


def test_the_walk_covers_every_surface() -> None:
    """An address that is not there proves nothing."""
    assert sum(map(len, SURFACES.values())) == len(ROUTES)
    assert {name: len(found) > 2 for name, found in SURFACES.items()} == dict.fromkeys(
        SURFACES, True
    )
    assert set(ROUTES) >= PUBLIC
