"""A repeated POST with the same Idempotency-Key happens once, whatever goes wrong in between."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, connections
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone
from rest_framework.test import APIClient

from apps.registry.api import projects as projects_api
from apps.registry.models import ApiToken, AuditEntry, IdempotencyRecord, Project, User
from apps.registry.services.tokens import create_token
from omni import keyring
from tests.api.shapes import problem

pytestmark = pytest.mark.req("API-1")

KEY = {"Idempotency-Key": "5a1f6d0e-7a43"}


def test_the_same_request_gets_the_same_answer(api: APIClient) -> None:
    first = api.post("/api/projects", {"name": "Apollo"}, headers=KEY)
    again = api.post("/api/projects", {"name": "Apollo"}, headers=KEY)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.content == first.content
    assert again["Location"] == first["Location"]
    assert again["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first
    assert Project.objects.count() == 1


def test_the_order_of_fields_is_the_same_request(api: APIClient) -> None:
    api.post("/api/projects", {"name": "Apollo", "slug": "a"}, headers=KEY)
    again = api.post("/api/projects", {"slug": "a", "name": "Apollo"}, headers=KEY)
    assert again.status_code == 201


@pytest.mark.parametrize(
    ("path", "body"),
    [("/api/projects", {"name": "Gemini"}), ("/api/tokens", {"name": "Apollo"}),
     ("/api/projects?x=1", {"name": "Apollo"})],
)  # fmt: skip
def test_another_request_with_the_key_is_refused(
    api: APIClient, path: str, body: dict[str, Any]
) -> None:
    api.post("/api/projects", {"name": "Apollo"}, headers=KEY)
    problem(api.post(path, body, headers=KEY), 422, "idempotency_mismatch")
    assert Project.objects.count() == 1


def test_keys_of_two_people_have_nothing_to_do_with_each_other(
    api: APIClient, caller: Callable[..., APIClient], stranger: User
) -> None:
    api.post("/api/projects", {"name": "Apollo"}, headers=KEY)
    other = caller(stranger).post("/api/projects", {"name": "Gemini"}, headers=KEY)
    assert (other.status_code, other.json()["slug"]) == (201, "gemini")


def test_failures_are_not_remembered(api: APIClient, project: Project) -> None:
    problem(api.post("/api/projects", {"name": "Apollo"}, headers=KEY), 409)
    assert not IdempotencyRecord.objects.exists()
    project.slug = "other"
    project.save()
    assert api.post("/api/projects", {"name": "Apollo"}, headers=KEY).status_code == 201


@pytest.mark.parametrize("key", ["", " ", "with space", "ü", "k" * 256, "a\tb"])
def test_a_key_that_is_none_is_refused(api: APIClient, key: str) -> None:
    headers = {"Idempotency-Key": key}
    body = problem(api.post("/api/projects", {"name": "A"}, headers=headers), 400)
    assert list(body["errors"]) == ["Idempotency-Key"]


@pytest.mark.req("SEC-3")
def test_a_stored_answer_with_a_token_is_sealed(api: APIClient) -> None:
    sent = {"name": "nightly", "scopes": ["read"], "days": 7}
    made = api.post("/api/tokens", sent, headers=KEY).json()
    stored = bytes(IdempotencyRecord.objects.get().body)
    assert made["token"].encode() not in stored
    assert made["name"].encode() not in stored
    assert api.post("/api/tokens", sent, headers=KEY).json()["token"] == made["token"]
    assert ApiToken.objects.filter(name="nightly").count() == 1


def test_an_answer_whose_key_is_gone_is_a_conflict(api: APIClient) -> None:
    """The work is not done twice only because its answer cannot be opened."""
    api.post("/api/projects", {"name": "Apollo"}, headers=KEY)
    other = keyring.Keyring(keys=["A" * 43 + "="])
    IdempotencyRecord.objects.update(body=other.encrypt("x"))
    problem(api.post("/api/projects", {"name": "Apollo"}, headers=KEY), 409, "conflict")
    assert Project.objects.count() == 1


def test_a_key_is_forgotten_after_its_time(api: APIClient) -> None:
    api.post("/api/projects", {"name": "Apollo"}, headers=KEY)
    IdempotencyRecord.objects.update(created_at=timezone.now() - timedelta(hours=25))
    assert api.post("/api/projects", {"name": "Gemini"}, headers=KEY).status_code == 201


def test_every_post_honours_the_key() -> None:
    """Whoever adds a POST without it is told here."""
    missing, seen = [], 0
    for view in _views(get_resolver()):
        post = getattr(view, "post", None)
        if post is not None:
            seen += 1
            if not getattr(post, "is_idempotent", False):
                missing.append(view.__name__)
    assert missing == []
    assert seen >= 7


def _views(resolver: URLResolver) -> list[type]:
    found: list[type] = []
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            found += _views(pattern)
        elif isinstance(pattern, URLPattern):
            cls = getattr(pattern.callback, "cls", None)
            if cls is not None and cls.__module__.startswith("apps."):
                found.append(cls)
    return found


# --- with real threads and connections --------------------------------------------------------


def _post(token: str, name: str = "Apollo") -> Any:
    try:
        return Client(raise_request_exception=False).post(
            "/api/projects",
            {"name": name},
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}", **KEY},
        )
    finally:
        connections.close_all()


@pytest.fixture
def token(transactional_db: None) -> str:
    user = User.objects.create_user("ada@example.org", "correct-horse-9")
    return create_token(user=user, name="t", scopes={"read", "write"})[1]


@pytest.mark.django_db(transaction=True)
def test_of_many_at_once_one_does_the_work(token: str) -> None:
    """The others are told to come back, or get the stored answer; none does it again."""
    start = threading.Barrier(8)

    def send(_: int) -> Any:
        start.wait()
        return _post(token)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(send, range(8)))
    made = [each for each in answers if each.status_code == 201]
    assert {each.status_code for each in answers} <= {201, 409}
    assert sum("Idempotency-Replayed" not in each for each in made) == 1
    assert len({each.content for each in made}) == 1
    assert Project.objects.count() == 1
    assert AuditEntry.objects.filter(action="project_created").count() == 1


@pytest.mark.django_db(transaction=True)
def test_while_the_first_is_at_work_the_second_is_told_to_wait(
    token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside, go_on = threading.Event(), threading.Event()
    create = projects_api.projects.create_project

    def slow(**given: Any) -> Project:
        inside.set()
        assert go_on.wait(20)
        return create(**given)

    monkeypatch.setattr(projects_api.projects, "create_project", slow)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(_post, token)
        assert inside.wait(20)
        second = _post(token)
        go_on.set()
        assert first.result().status_code == 201
    problem(second, 409, "conflict")
    assert int(second["Retry-After"]) >= 1
    assert _post(token)["Idempotency-Replayed"] == "true"
    assert Project.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_crash_in_the_middle_leaves_neither_work_nor_record(
    token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection dies after the work and before the commit; the repeat does it, once."""
    create = projects_api.projects.create_project

    def die(**given: Any) -> Project:
        project = create(**given)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            pid = cursor.fetchone()[0]
        killer = connections["default"].copy()
        with killer.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s)", [pid])
        killer.close()
        return project

    with monkeypatch.context() as patch:
        patch.setattr(projects_api.projects, "create_project", die)
        assert _post(token).status_code in (500, 503)
    assert not Project.objects.exists()
    assert not IdempotencyRecord.objects.exists()
    again = _post(token)
    assert again.status_code == 201
    assert "Idempotency-Replayed" not in again
    assert Project.objects.count() == 1
