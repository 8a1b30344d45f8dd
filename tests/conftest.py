"""What most tests need: people, a project, a clean cache. Servers come from tests.servers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import hypothesis
import pytest

# Each of these starts a whole site of its own, once per xdist worker that gets one of its tests.
SITES = ("cli", "e2e")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        room = item.path.parent.name
        if room in SITES:
            item.add_marker(pytest.mark.xdist_group(room))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "req(id, …): the requirement this test shows")
    config.addinivalue_line("markers", "browser: needs Chromium")
    import omni.celery  # noqa: F401  (makes our application the current one, as every door does)

    # A busy machine is no finding.
    hypothesis.settings.register_profile(
        "omni", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
    )
    hypothesis.settings.load_profile("omni")


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Each xdist worker has its own database, and its own Redis number through tests.settings."""


@pytest.fixture(autouse=True)
def _fresh_cache() -> Iterator[None]:
    """No throttle or session of one test reaches the next."""
    from django.core.cache import cache

    cache.clear()
    yield


@pytest.fixture
def make_user(db: None) -> Callable[..., Any]:
    from apps.registry.models import User

    def make(
        email: str = "ada@example.org", *, password: str = "correct-horse-9", **kw: Any
    ) -> Any:
        return User.objects.create_user(email, password, **kw)

    return make


@pytest.fixture
def user(make_user: Callable[..., Any]) -> Any:
    return make_user("ada@example.org", name="Ada")


@pytest.fixture
def stranger(make_user: Callable[..., Any]) -> Any:
    """Signed in, and a member of nothing."""
    return make_user("eve@example.org", name="Eve")


@pytest.fixture
def administrator(make_user: Callable[..., Any]) -> Any:
    return make_user("root@example.org", name="Root", is_staff=True, is_superuser=True)


@pytest.fixture
def project(user: Any) -> Any:
    """Owned by `user`."""
    from apps.registry.services.projects import create_project

    return create_project(actor=user, name="Apollo", description="A first project.")


@pytest.fixture(scope="session")
def bucket_server() -> Iterator[Any]:
    """An S3 server that all tests of one process share; each makes a bucket of its own."""
    from tests.buckets import serving

    with serving() as server:
        yield server


@pytest.fixture(scope="session", autouse=True)
def _quick_flush() -> Iterator[None]:
    """Empty our own tables after a transactional test, past the triggers that rightly refuse it.

    Django would empty every table and make all content types and permissions anew: seconds a test.
    """
    from django.test import TransactionTestCase

    original = TransactionTestCase._fixture_teardown
    TransactionTestCase._fixture_teardown = _empty_tables  # type: ignore[method-assign]
    yield
    TransactionTestCase._fixture_teardown = original  # type: ignore[method-assign]


APPEND_ONLY = ("registry_auditentry", "runs_runevent")
KEPT = ("auth_permission", "django_content_type", "django_migrations", "runs_transition")


def _empty_tables(_: Any) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        tables = [
            table for table in connection.introspection.table_names(cursor) if table not in KEPT
        ]
        guarded = [table for table in APPEND_ONLY if table in tables]
        for table in guarded:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        filled = [table for table in tables if _has_rows(cursor, table)]
        if filled:
            cursor.execute(f"TRUNCATE {', '.join(filled)} RESTART IDENTITY CASCADE")
        for table in guarded:
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")


def _has_rows(cursor: Any, table: str) -> bool:
    cursor.execute(f"SELECT EXISTS (SELECT 1 FROM {table})")
    return bool(cursor.fetchone()[0])
