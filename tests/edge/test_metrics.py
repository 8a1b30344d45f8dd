"""Metrics: for the operator only, with bounded labels, true over several processes."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from apps.runs.models import Worker
from apps.runs.services.workers import start_worker
from omni import config

pytestmark = [pytest.mark.urls("tests.edge.urls"), pytest.mark.req("OPS-2")]


def samples(text: str) -> dict[tuple[str, tuple[str, ...]], float]:
    return {
        (sample.name, tuple(sorted(sample.labels.values()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def token(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    changed = dataclasses.replace(config.current(), metrics_token=value)
    monkeypatch.setattr(config, "current", lambda: changed)


@pytest.mark.req("SEC-1")
@pytest.mark.django_db
class TestWhoMayRead:
    def test_without_a_token_only_this_machine(self, client: Client) -> None:
        assert client.get("/metrics").status_code == 200
        assert client.get("/metrics", REMOTE_ADDR="::1").status_code == 200
        for address in ("192.0.2.1", "", "nonsense"):
            assert client.get("/metrics", REMOTE_ADDR=address).status_code == 403

    @pytest.mark.parametrize(
        "name",
        [
            "X-Forwarded-For",
            "X-Forwarded-Proto",
            "X-Forwarded-Port",
            "Forwarded",
            "Via",
            "X-Real-IP",
        ],
    )
    def test_a_proxy_on_this_machine_is_not_this_machine(self, client: Client, name: str) -> None:
        response = client.get("/metrics", headers={name: "127.0.0.1"})
        assert response.status_code == 403

    @pytest.mark.parametrize(
        "behind", [{"trusted_proxies": 1}, {"public_url": "https://omni.example.org"}]
    )
    def test_behind_a_proxy_nobody_is_this_machine(
        self, client: Client, monkeypatch: pytest.MonkeyPatch, behind: dict[str, Any]
    ) -> None:
        """A proxy on this machine need not leave a trace in the request; the settings tell."""
        changed = dataclasses.replace(config.current(), **behind)
        monkeypatch.setattr(config, "current", lambda: changed)
        assert client.get("/metrics").status_code == 403

    def test_with_a_token_only_its_bearer(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        token(monkeypatch, "a-long-metrics-token")
        assert client.get("/metrics").status_code == 403
        for wrong in ("a-long-metrics-token", "Bearer wrong", "Bearer ä", "Bearer "):
            assert client.get("/metrics", headers={"Authorization": wrong}).status_code == 403
        right = {"Authorization": "Bearer a-long-metrics-token"}
        assert client.get("/metrics", headers=right, REMOTE_ADDR="192.0.2.1").status_code == 200


def test_requests_are_counted_by_route_and_not_by_address(db: None, client: Client) -> None:
    """Nobody can create series by inventing addresses or methods."""
    for address in ("/show", "/nothing-1", "/nothing-2", "/static/workspace/mark.svg"):
        client.get(address).close()
    client.generic("BREW", "/show")
    text = client.get("/metrics").content.decode()
    found = samples(text)
    assert found["omni_http_requests_total", ("200", "GET", "show")] >= 1
    assert found["omni_http_requests_total", ("404", "GET", "unmatched")] >= 2
    assert found["omni_http_requests_total", ("200", "GET", "static")] >= 1
    assert found["omni_http_requests_total", ("200", "OTHER", "show")] >= 1
    assert found["omni_http_request_duration_seconds_count", ("GET", "show")] >= 1
    assert "nothing-1" not in text and "BREW" not in text
    assert "process_resident_memory_bytes" in text


def test_the_platform_is_counted_at_the_moment_of_asking(
    db: None, client: Client, user: Any, project: Any
) -> None:
    before = samples(client.get("/metrics").content.decode())
    start_worker(kind=Worker.Kind.WORKER, pid=1, concurrency=3)
    after = samples(client.get("/metrics").content.decode())
    assert before["omni_workers_live", ("worker",)] == 0
    assert after["omni_workers_live", ("worker",)] == 1
    assert after["omni_worker_slots", ("worker",)] == 3
    assert after["omni_workers_live", ("beat",)] == 0
    assert after["omni_projects", ("active",)] == 1
    assert after["omni_people", ("all",)] == 1
    assert after["omni_database_up", ()] == 1


def test_without_a_database_the_rest_is_still_told(
    client: Client, monkeypatch: pytest.MonkeyPatch, django_db_blocker: Any
) -> None:
    monkeypatch.setitem(connections["default"].settings_dict, "PORT", "1")
    monkeypatch.setitem(connections["default"].settings_dict, "HOST", "127.0.0.1")
    with django_db_blocker.unblock():
        connections["default"].close()
        response = client.get("/metrics")
    found = samples(response.content.decode())
    assert response.status_code == 200
    assert found["omni_database_up", ()] == 0
    assert ("omni_projects", ("active",)) not in found


def test_several_web_processes_are_counted_together(tmp_path: Path) -> None:
    """Each scrape reaches one process and must report all of them."""
    environment = {**os.environ, "OMNI_WEB_WORKERS": "2", "OMNI_HOME": str(tmp_path)}
    start = "import django; django.setup(); from omni.edge import metrics; "
    count = start + "metrics.observe('GET', 'show', 200, 0.1)"
    show = start + "print(metrics.generate_latest(metrics._registry()).decode())"
    both = [subprocess.Popen([sys.executable, "-c", count], env=environment) for _ in range(2)]
    assert [process.wait(60) for process in both] == [0, 0]
    shown = subprocess.run(
        [sys.executable, "-c", show], env=environment, check=True, capture_output=True, text=True
    )
    assert samples(shown.stdout)["omni_http_requests_total", ("200", "GET", "show")] == 2
    assert (tmp_path / "run" / "metrics").stat().st_mode & 0o777 == 0o700
