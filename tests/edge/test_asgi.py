"""The assembled application on a real server: limits, streams and threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.core.handlers.asgi import ASGIHandler
from django.utils.module_loading import import_string

from omni.edge.body_limit import BodyLimit
from omni.edge.liveness import Healthz

pytestmark = pytest.mark.urls("tests.edge.urls")

LIMIT = 100_000


@pytest.fixture
def url(serve: Callable[[Any], int]) -> str:
    return f"http://127.0.0.1:{serve(Healthz(BodyLimit(ASGIHandler(), limit=LIMIT)))}"


@pytest.mark.req("SEC-1")
def test_a_large_upload_is_refused_before_django_has_kept_it(url: str) -> None:
    """Also when it is streamed in pieces without a declared length."""
    pieces = (b"x" * 10_000 for _ in range(100))
    response = httpx.post(f"{url}/api/show", content=pieces)
    assert response.status_code == 413
    assert response.json()["category"] == "too_large"
    assert httpx.get(f"{url}/healthz").status_code == 200


@pytest.mark.req("OPS-2")
def test_an_event_stream_passes_every_layer(url: str) -> None:
    response = httpx.get(f"{url}/stream")
    assert response.text == "data: 0\n\ndata: 1\n\ndata: 2\n\n"
    assert response.headers["x-request-id"]


@pytest.mark.req("SEC-1")
@pytest.mark.parametrize("address", ["/show?q=%00", "/show?q=%ff", "/sh%00ow", "/sh%ffow"])
def test_an_address_that_is_no_text_is_a_clean_400_on_the_wire(url: str, address: str) -> None:
    response = httpx.get(url + address)
    assert response.status_code == 400
    assert response.json()["category"] == "invalid"


@pytest.mark.req("OPS-2")
def test_one_thread_carries_a_request_through_all_middleware() -> None:
    """Django then changes threads once per request, not once per hook; see omni.edge.middleware."""
    classes = [import_string(name) for name in settings.MIDDLEWARE]
    assert all(getattr(one, "sync_capable", True) for one in classes)
    assert not getattr(classes[-1], "async_capable", False)
    assert settings.MIDDLEWARE[0] == "omni.edge.middleware.RequestMiddleware"
    assert settings.MIDDLEWARE[-1] == "omni.edge.middleware.PersonMiddleware"


@pytest.mark.req("OPS-2")
def test_the_platform_uses_what_is_tested_here() -> None:
    """The real application and addresses are put together the same way."""
    import omni.urls
    from omni.asgi import application

    assert isinstance(application, Healthz)
    assert isinstance(application.app, BodyLimit)
    for status in (400, 403, 404, 500):
        assert getattr(omni.urls, f"handler{status}").startswith("omni.edge.errors.")
    assert settings.CSRF_FAILURE_VIEW == "omni.edge.errors.csrf_failure"
    assert settings.LOGGING_CONFIG == "omni.telemetry.logs.apply"
