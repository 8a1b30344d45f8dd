"""The doctor's findings, the model endpoint and the isolation probe, against real things."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from omni.config import Config
from omni.llm.endpoint import list_models
from omni.sandbox.probe import probe
from omni.services.doctor import Finding, run_checks
from omni.services.logfile import LogFile, tail
from omni.services.misspelt import unknown_settings
from tests.services.installation import Installation, free_port

pytestmark = pytest.mark.req("OPS-2")


def findings(config: Config) -> dict[str, Finding]:
    return {finding.name: finding for finding in run_checks(config)}


def test_a_machine_without_a_running_installation(tmp_path: Path) -> None:
    """Everything that is not ok says what to do; what is absent is a warning, not a failure."""
    found = findings(Config(home=tmp_path / "home", port=free_port()))
    assert {"Python", "Disk", "Memory", "Web port", "Home folder", "Isolation"} <= found.keys()
    assert found["Embedded PostgreSQL"].status == "ok"
    assert found["PostgreSQL"].status == found["Redis"].status == found["Model"].status == "warn"
    assert all(each.remedy for each in found.values() if each.status != "ok")


def test_a_running_installation(omni: Installation) -> None:
    """Versions of the embedded servers, pgvector included; the port is the one it was given."""
    omni.up()
    found = findings(Config(home=omni.home))
    assert found["PostgreSQL"].status == "ok" and "pgvector" in found["PostgreSQL"].detail
    assert found["Redis"].status == found["Web"].status == "ok"
    assert found["Web port"].detail == f"127.0.0.1:{omni.port}, used by this installation"


def test_a_misspelt_setting_is_a_warning_with_a_suggestion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Named, with the setting that was probably meant; its value, perhaps a password, is not."""
    monkeypatch.setenv("OMNI_DATABSE_URL", "postgresql://u:hunter2@h/x")
    (finding,) = [each for each in run_checks(Config(home=tmp_path)) if each.name == "Settings"]
    assert finding.status == "warn"
    assert "OMNI_DATABSE_URL" in finding.detail and "OMNI_DATABASE_URL?" in finding.remedy
    assert "hunter2" not in f"{finding}"


def test_only_names_that_nothing_reads_are_strange() -> None:
    """Settings, the command line's two and other programs' names are left alone."""
    known = {"OMNI_PORT": "1", "OMNI_URL": "x", "OMNI_POSTGRES_PASSWORD": "p", "PROMNI_X": "y"}
    strange = unknown_settings(known | {"OMNI_PROT": "1", "OMNI_FAVOURITE_COLOUR": "red"})
    assert [(each.name, each.meant) for each in strange] == [
        ("OMNI_FAVOURITE_COLOUR", ""),
        ("OMNI_PROT", "OMNI_PORT"),
    ]
    assert all(each.remedy for each in strange)


def test_external_servers_that_are_away_are_failures(tmp_path: Path) -> None:
    """Each names its setting."""
    port = free_port()
    config = Config(
        home=tmp_path,
        database_url=f"postgresql://omni@127.0.0.1:{port}/omni",
        redis_url=f"redis://127.0.0.1:{port}/0",
        broker_url=f"amqp://127.0.0.1:{port}//",
        model_url=f"http://127.0.0.1:{port}/v1",
    )
    found = findings(config)
    for name, setting in (
        ("PostgreSQL", "OMNI_DATABASE_URL"),
        ("Redis", "OMNI_REDIS_URL"),
        ("Broker", "OMNI_BROKER_URL"),
        ("Model", "OMNI_MODEL_URL"),
    ):
        assert found[name].status == "fail"
        assert setting in found[name].remedy


@pytest.fixture
def endpoint() -> Iterator[tuple[str, dict[str, bytes]]]:
    """A model server whose answer a test chooses."""
    answer = {"body": b""}

    class Door(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path == "/v1/models"
            self.send_response(200 if found else 404)
            self.end_headers()
            self.wfile.write(answer["body"] if found else b"")

        def log_message(self, *args: object) -> None:
            return

    server = http.server.HTTPServer(("127.0.0.1", 0), Door)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1", answer
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_model_endpoint_lists_its_models(endpoint: tuple[str, dict[str, bytes]]) -> None:
    """Names when it answers well; a reason when it answers something else."""
    url, answer = endpoint
    answer["body"] = json.dumps({"data": [{"id": "small"}, {"id": "large"}]}).encode()
    assert list_models(url).models == ("small", "large")
    assert list_models(f"{url}/").ok
    for nonsense in (b"<html>", b"[]", b'{"data": 3}'):
        answer["body"] = nonsense
        assert list_models(url).reason == "its answer is not a list of models"
    assert list_models(url.removesuffix("/v1")).reason == "it answered 404"
    assert list_models("not a url").reason


def test_the_isolation_probe_answers_a_tier_with_reasons() -> None:
    """A lower tier must say why; the best needs no excuse."""
    found = probe()
    assert found.tier in ("namespaces", "bubblewrap", "none")
    assert bool(found.reasons) == (found.tier != "namespaces")


def test_the_last_lines_are_whole_however_long_they_are(tmp_path: Path) -> None:
    """As many as asked for where there are as many, and none of them cut at its beginning."""
    log = tmp_path / "web.log"
    log.write_text("".join(f"{number} {'x' * 3000}\n" for number in range(60)))
    assert [line.split()[0] for line in tail(log, 50)] == [str(n) for n in range(10, 60)]
    assert len(tail(log, 500)) == 60 and tail(log, 0) == [] and tail(tmp_path / "none", 5) == []


def test_log_files_turn_over_and_stay_private(tmp_path: Path) -> None:
    """Old files are numbered, the oldest is dropped, no line is cut."""
    log = LogFile(tmp_path / "web.log", largest=100, kept=2)
    for number in range(50):
        log.write(f"line {number}\n".encode())
    log.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["web.log", "web.log.1", "web.log.2"]
    assert tail(tmp_path / "web.log", 1) == ["line 49"]
    assert all(path.stat().st_mode & 0o077 == 0 for path in tmp_path.iterdir())
    assert all(path.stat().st_size <= 100 for path in tmp_path.iterdir())
