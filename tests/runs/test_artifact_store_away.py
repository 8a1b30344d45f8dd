"""A store that is away, wrongly set up or slow: said in one sentence, and no result vanishes."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
import tracemalloc
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from apps.runs import eventlog
from apps.runs.drive import overflow
from apps.runs.drive.driver import advance
from apps.runs.drive.ports import Ports
from apps.runs.models import Run
from apps.runs.services.artifacts import location, open_artifact, store_artifact
from apps.runs.services.collection import collect_garbage
from apps.runs.services.upkeep import clean_up
from apps.runs.storage import artifact_store
from omni.config import Config
from omni.contracts.errors import Unavailable
from omni.edge import health
from omni.services.doctor import Finding, _artifacts, run_checks
from omni.telemetry.redaction import register_secret
from tests.buckets import OBJECTS, BucketServer, serving, use_store
from tests.permitted import Permitted

pytestmark = [pytest.mark.req("RUN-14"), pytest.mark.django_db(transaction=True)]
ROOT = Path(__file__).resolve().parents[2]
LARGE = {"text": "x" * 200_000}
SCRIPT = [{"do": "tool", "tool": "t"}]


@pytest.fixture(scope="module")
def own_server() -> Iterator[BucketServer]:
    """One that these tests may stop."""
    with serving() as server:
        yield server


@pytest.fixture
def server(own_server: BucketServer, settings: Any) -> Iterator[BucketServer]:
    use_store(settings, OBJECTS, own_server.options(own_server.make_bucket()))
    yield own_server
    if own_server.process is None:
        own_server.start()


class Tool(Permitted):
    """Gives the same answer at every call, and counts them."""

    def __init__(self, output: Any, meanwhile: Callable[[], None] = lambda: None) -> None:
        self.output, self.meanwhile = output, meanwhile
        self.calls = 0

    def call(self, tool: str, arguments: Any, call_id: str, context: Any) -> Any:
        self.calls += 1
        self.meanwhile()
        return self.output


def drive(run: Run, tool: Tool) -> str:
    return advance(run.pk, worker_id=uuid.uuid4(), ports=Ports(tools=tool))


def outcomes(run: Run) -> list[eventlog.Event]:
    kinds = ("tool_result", "tool_error")
    return [event for event in eventlog.read_all(run.pk) if event.kind in kinds]


@pytest.mark.req("RUN-10")
def test_a_result_waits_for_a_store_that_comes_back(
    make_run: Callable[..., Run], server: BucketServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tool is called once; its output is in the store before the log refers to it."""
    run = make_run(actions=SCRIPT)
    tool = Tool(LARGE, meanwhile=server.stop)
    refused = threading.Event()
    monkeypatch.setattr(overflow, "PATIENCE_SECONDS", 600.0)
    monkeypatch.setattr(overflow.log, "warning", lambda *a, **k: refused.set())
    ends: list[str] = []

    def work() -> None:
        try:
            ends.append(drive(run, tool))
        finally:
            connection.close()

    driver = threading.Thread(target=work)
    driver.start()
    assert refused.wait(120), "the store was never away"
    server.start()
    driver.join(120)
    assert (ends, tool.calls) == (["done"], 1)
    [result] = outcomes(run)
    assert result.kind == "tool_result" and result.payload is not None
    with open_artifact(result.payload["output"]["artifact"]) as stored:
        assert json.load(stored) == LARGE
    assert eventlog.verify(run.pk).ok


@pytest.mark.req("RUN-10")
def test_a_result_that_cannot_be_kept_is_an_error_that_says_so(
    make_run: Callable[..., Run], server: BucketServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overflow, "PATIENCE_SECONDS", 0.0)
    run = make_run(actions=SCRIPT)
    tool = Tool(LARGE, meanwhile=server.stop)
    assert drive(run, tool) == "failed"
    assert tool.calls == 1
    [error] = outcomes(run)
    assert error.payload is not None and error.payload["category"] == "unavailable"
    assert error.payload["message"].startswith("The tool did its work, but its output could not")
    assert "does not answer" in error.payload["message"]
    assert eventlog.verify(run.pk).ok


@pytest.mark.req("TEL-3")
def test_a_large_output_has_no_secrets_either(make_run: Callable[..., Run]) -> None:
    """What the log would mask is masked in the artifact that takes its place."""
    register_secret("ulmenrinde-4711")
    output = {**LARGE, "note": "it is ulmenrinde-4711", "api_key": "hunter2", "list": ["fine"]}
    run = make_run(actions=SCRIPT)
    assert drive(run, Tool(output)) == "done"
    [result] = outcomes(run)
    assert result.payload is not None
    with open_artifact(result.payload["output"]["artifact"]) as stored:
        text = stored.read()
    assert b"ulmenrinde" not in text and b"hunter2" not in text
    assert json.loads(text)["list"] == ["fine"] and json.loads(text)["text"] == LARGE["text"]


def test_an_output_of_several_megabytes_moves_too(make_run: Callable[..., Run]) -> None:
    """More than any event or document may have; and one that is no JSON is an error as ever."""
    run = make_run(actions=SCRIPT)
    assert drive(run, Tool(["y" * 1000] * 3000)) == "done"
    [result] = outcomes(run)
    assert result.payload is not None and result.payload["artifacts"][0]["size"] > 3_000_000
    odd = make_run(actions=SCRIPT)
    assert drive(odd, Tool(["y" * 1000] * 3000 + [float("nan")])) == "failed"
    assert [event.kind for event in outcomes(odd)] == ["tool_error"]


@pytest.mark.req("API-1")
def test_people_are_told_that_the_store_is_away(
    client: Client, user: Any, make_run: Callable[..., Run], server: BucketServer
) -> None:
    client.force_login(user)
    run = make_run(actions=SCRIPT)
    kept = store_artifact(run.pk, b"there", media_type="text/plain", name="there.txt")
    page = f"/runs/{run.pk}/artifacts/{kept.sha256}"
    before = run.last_seq
    server.stop()
    api = f"/api/artifacts/{kept.sha256}?run={run.pk}"
    answer = client.get(api)
    assert (answer.status_code, answer.json()["category"]) == (503, "unavailable")
    assert answer.json()["detail"] == "The artifact store does not answer."
    assert client.get(page).status_code == 503
    with pytest.raises(Unavailable):
        store_artifact(run.pk, b"lost", media_type="text/plain", name="lost.txt")
    clean_up()
    run.refresh_from_db()
    assert run.last_seq == before + 1
    server.start()
    assert b"".join(client.get(page).streaming_content) == b"there"  # type: ignore[arg-type]


def test_without_a_disk_that_can_be_written_it_is_the_same(
    make_run: Callable[..., Run], settings: Any, tmp_path: Path
) -> None:
    (tmp_path / "artifacts").write_text("A file where the folder should be.")
    store = settings.STORAGES["artifacts"]
    use_store(settings, store["BACKEND"], {**store["OPTIONS"], "location": tmp_path / "artifacts"})
    with pytest.raises(Unavailable, match="cannot be used") as refused:
        store_artifact(make_run().pk, b"x", media_type="text/plain")
    assert str(tmp_path) not in str(refused.value)


WRONG = [
    ({"bucket": "not-there"}, "The artifact store has no such bucket.", "OMNI_ARTIFACT_BUCKET"),
    ({"secret": "wrong"}, "The artifact store refuses the key.", "OMNI_ARTIFACT_SECRET_KEY"),
    ({"key": "wrong"}, "The artifact store refuses the key.", "OMNI_ARTIFACT_ACCESS_KEY"),
    ({"port": 1}, "The artifact store does not answer.", "OMNI_ARTIFACT_ENDPOINT"),
]


@pytest.mark.req("OPS-2")
@pytest.mark.parametrize(("wrong", "sentence", "setting"), WRONG)
def test_the_doctor_and_readiness_say_what_is_wrong(
    bucket_server: BucketServer, settings: Any, wrong: dict[str, Any], sentence: str, setting: str
) -> None:
    """Readiness tells anybody, so it names no bucket, host or key."""
    bucket = wrong.get("bucket") or bucket_server.make_bucket()
    given: dict[str, Any] = {}
    if "port" in wrong:
        given["endpoint_url"] = "http://127.0.0.1:1"
    given |= {
        f"{name}": wrong[short]
        for short, name in (("secret", "secret_key"), ("key", "access_key"))
        if short in wrong
    }
    use_store(settings, OBJECTS, bucket_server.options(bucket, **given))
    finding = health._examine("artifacts")
    assert (finding["status"], finding["detail"]) == ("fail", sentence)
    renamed = {"endpoint_url": "endpoint"}
    changed = {f"artifact_{renamed.get(name, name)}": value for name, value in given.items()}
    found = diagnosis(bucket_server.config(bucket, **changed))
    assert (found.status, found.detail) == ("fail", sentence)
    assert setting in found.remedy


@pytest.mark.req("OPS-2")
def test_the_doctor_tries_to_write(bucket_server: BucketServer, settings: Any) -> None:
    bucket = bucket_server.make_bucket()
    found = diagnosis(bucket_server.config(bucket, artifact_prefix="some/where"))
    assert (found.status, found.detail) == ("ok", f"in the bucket {bucket}/some/where")
    use_store(settings, OBJECTS, bucket_server.options(bucket))
    assert health._examine("artifacts")["status"] == "ok"
    assert list(artifact_store().everything()) == [], "it cleans up behind itself"
    assert diagnosis(Config(artifact_store="disk")).status == "ok"


def diagnosis(config: Config) -> Finding:
    """As `omni doctor` reports it, without the other checks."""
    from omni.services import doctor

    before, doctor.CHECKS = doctor.CHECKS, (_artifacts,)
    try:
        return run_checks(config)[0]
    finally:
        doctor.CHECKS = before


def test_uploads_that_nobody_completed_are_dropped(server: BucketServer) -> None:
    store: Any = artifact_store()
    store._client.create_multipart_upload(Bucket=store.bucket_name, Key=location("a" * 64))
    assert store.drop_unfinished(timezone.now() - timedelta(hours=1)) == 0
    assert collect_garbage() == 0
    assert store.drop_unfinished(timezone.now() + timedelta(minutes=1)) == 1
    assert store.drop_unfinished(timezone.now() + timedelta(minutes=1)) == 0


def test_two_installations_share_a_bucket(bucket_server: BucketServer, settings: Any) -> None:
    """Each sees what is in its own folder, and collects nothing of the other."""
    options = bucket_server.options(bucket_server.make_bucket())
    for prefix in ("", "one", "one/two"):
        use_store(settings, OBJECTS, {**options, "location": prefix})
        artifact_store().put(location("c" * 64), io.BytesIO(b"x"))
    use_store(settings, OBJECTS, {**options, "location": "one/two"})
    assert [each.name for each in artifact_store().everything()] == [location("c" * 64)]
    assert collect_garbage(grace=timedelta(minutes=-1)) == 1
    assert artifact_store().size_of(location("c" * 64)) is None
    for prefix in ("", "one"):
        use_store(settings, OBJECTS, {**options, "location": prefix})
        assert artifact_store().size_of(location("c" * 64)) == 1


@pytest.mark.parametrize("kind", ["disk", "s3"])
def test_a_large_file_is_never_all_in_memory(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str
) -> None:
    """Three parts of an upload: one of them is in memory at a time, there and back."""
    if kind == "s3":
        request.getfixturevalue("server")
    size = 40 << 20
    store, name = artifact_store(), location("b" * 64)
    with (tmp_path / "large").open("w+b") as file:
        file.write(os.urandom(size))
        file.seek(0)
        store.put(name, io.BytesIO(b"warm"))
        tracemalloc.start()
        try:
            store.put(name, file)
            stored = store.fetch(name)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < size * 0.75
        file.seek(0)
        with stored:
            assert all(stored.read(1 << 20) == file.read(1 << 20) for _ in range(41))
    store.remove(name)


@pytest.mark.req("OPS-1")
def test_who_does_not_use_a_bucket_or_a_sink_does_not_load_its_library() -> None:
    program = """
import sys, django.urls, omni.asgi, omni.bucket, omni.celery
django.urls.get_resolver().url_patterns
heavy = ("boto3", "botocore", "storages", "opentelemetry.proto", "google.protobuf")
print([name for name in heavy if name in sys.modules])
"""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "omni.settings"}
    run = [sys.executable, "-c", program]
    said = subprocess.run(run, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True)
    assert said.stdout.strip() == b"[]"
