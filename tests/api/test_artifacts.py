"""Files of runs: stored once, whole or not at all, checked when read, and nobody else's."""

from __future__ import annotations

import hashlib
import io
import os
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction
from rest_framework.test import APIClient

from apps.registry.models import Project, User
from apps.registry.services.projects import create_project
from apps.runs import eventlog
from apps.runs.eventlog import system
from apps.runs.models import Artifact, Run
from apps.runs.services.artifacts import location, store_artifact
from apps.runs.services.collection import collect_garbage
from apps.runs.services.runs import create_run, create_thread
from apps.runs.storage import artifact_store
from omni import config
from omni.contracts.errors import Unavailable
from tests.api.shapes import problem
from tests.buckets import OBJECTS, BucketServer, use_store

pytestmark = [pytest.mark.req("RUN-14"), pytest.mark.django_db]

BODY = b"<script>alert(1)</script>\x00\xff"
SHA = hashlib.sha256(BODY).hexdigest()
OLD = timedelta(seconds=-60)


@pytest.fixture(params=["disk", "s3"], autouse=True)
def folder(request: pytest.FixtureRequest, settings: Any, tmp_path: Path) -> Path:
    """A store of this test's own; both keep their files below a folder that the test can see."""
    if request.param == "disk":
        store = settings.STORAGES["artifacts"]
        options = {**store["OPTIONS"], "location": tmp_path / "artifacts"}
        use_store(settings, store["BACKEND"], options)
        return tmp_path / "artifacts"
    server: BucketServer = request.getfixturevalue("bucket_server")
    bucket = server.make_bucket()
    use_store(settings, OBJECTS, {**server.options(bucket), "location": "some/where"})
    return server.folder / bucket / "some/where"


@pytest.fixture
def run(project: Project, user: User) -> Run:
    thread = create_thread(actor=user, project=project, title="Files")
    return create_run(actor=user, thread=thread, run_kind="script", input={})


def put(api: APIClient, run: Run, body: bytes = BODY, kind: str = "text/html", **kw: Any) -> Any:
    name = kw.pop("name", "report.html")
    return api.post(f"/api/runs/{run.pk}/artifacts?name={name}", data=body, content_type=kind, **kw)


def files(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.rglob("*") if each.is_file())


def plant(sha256: str, body: bytes) -> None:
    """Put bytes into the store that no run knows of."""
    artifact_store().put(location(sha256), io.BytesIO(body))


@pytest.mark.req("API-1")
def test_a_file_goes_in_and_comes_out_as_it_was(api: APIClient, run: Run, folder: Path) -> None:
    made = put(api, run)
    assert made.status_code == 201, made.content
    row = made.json()
    assert (row["sha256"], row["size"], row["media_type"]) == (SHA, len(BODY), "text/html")
    assert api.get(f"/api/runs/{run.pk}/artifacts").json()["results"] == [row]
    last = api.get(f"/api/runs/{run.pk}/events?kind=artifact_ref").json()["results"][-1]
    assert last["payload"]["sha256"] == SHA
    got = api.get(row["url"])
    assert b"".join(got.streaming_content) == BODY
    assert got["Content-Type"] == "application/octet-stream"
    assert got["Content-Disposition"] == 'attachment; filename="report.html"'
    assert got["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in got["Content-Security-Policy"]
    assert got["Content-Length"] == str(len(BODY))
    assert files(folder) == [SHA]


def test_the_same_bytes_are_stored_once(api: APIClient, run: Run, folder: Path) -> None:
    assert put(api, run).json() == put(api, run).json()
    put(api, run, name="copy.html")
    assert files(folder) == [SHA]
    assert Artifact.objects.count() == 1
    refs = [each for each in eventlog.read_all(run.pk) if each.kind == "artifact_ref"]
    assert [each.payload["name"] for each in refs] == ["report.html", "copy.html"]  # type: ignore[index]
    keyed = {"headers": {"Idempotency-Key": "k"}}
    assert put(api, run, b"other", **keyed).json() == put(api, run, b"other", **keyed).json()
    problem(put(api, run, b"another", **keyed), 422, "idempotency_mismatch")


def test_what_is_too_large_is_refused_and_leaves_nothing(
    api: APIClient, run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = config.load({"OMNI_ARTIFACT_MAX_BYTES": "1024"})
    monkeypatch.setattr("omni.config.current", lambda: small)
    problem(put(api, run, b"x" * 1025), 413, "too_large")
    assert put(api, run, b"x" * 1024).status_code == 201
    assert len(files(folder)) == 1


@pytest.mark.parametrize("kind", ["multipart/form-data; boundary=x", "not a type"])
def test_media_types_are_checked(api: APIClient, run: Run, folder: Path, kind: str) -> None:
    assert put(api, run, kind=kind).status_code in (400, 415)
    assert files(folder) == []


def test_an_empty_file_and_odd_names(api: APIClient, run: Run) -> None:
    empty = put(api, run, b"", name="empty")
    assert (empty.status_code, empty.json()["size"]) == (201, 0)
    problem(put(api, run, name="../../etc/passwd"), 400, "invalid")
    odd = put(api, run, name="r%C3%A9sum%C3%A9%22.txt")
    assert odd.status_code == 201
    got = api.get(odd.json()["url"])
    got.close()
    assert "filename*=utf-8''r%C3%A9sum%C3%A9%22.txt" in got["Content-Disposition"]


@pytest.mark.parametrize(
    "name", ["..", ".", "%20..%20", "exe%E2%80%AEgpj.", "a%2Fb", "a%5Cb", "%00"]
)
def test_names_that_mislead_are_refused(api: APIClient, run: Run, folder: Path, name: str) -> None:
    assert put(api, run, name=name).status_code == 400
    assert files(folder) == []


@pytest.mark.parametrize(
    "kind", ['text/html; a="\r\nX-Evil: 1"', f"text/{'x' * 120}", "TEXT", "text/", "a/b\x00"]
)
def test_types_that_mislead_are_refused(api: APIClient, run: Run, folder: Path, kind: str) -> None:
    assert put(api, run, kind=kind).status_code in (400, 415)
    assert files(folder) == []


@pytest.mark.req("SEC-2")
def test_a_hash_alone_opens_nothing(
    api: APIClient, caller: Callable[..., APIClient], run: Run, stranger: User
) -> None:
    """Also not through a run of one's own, nor by storing the same bytes elsewhere."""
    url = put(api, run).json()["url"]
    theirs = create_project(actor=stranger, name="Theirs")
    thread = create_thread(actor=stranger, project=theirs, title="x")
    mine = create_run(actor=stranger, thread=thread, run_kind="script", input={})
    other = caller(stranger)
    problem(other.get(url), 404, "not_found")
    problem(other.get(f"/api/artifacts/{SHA}?run={mine.pk}"), 404, "not_found")
    problem(other.get(f"/api/artifacts/{SHA}"), 400, "invalid")
    problem(put(other, run), 404, "not_found")
    put(other, mine, name="mine")
    problem(other.get(url), 404, "not_found")


def test_damaged_bytes_are_not_handed_out(api: APIClient, run: Run, folder: Path) -> None:
    url = put(api, run).json()["url"]
    plant(SHA, BODY[:-1] + b"\xfe")
    assert "do not match" in problem(api.get(url), 500, "internal")["detail"]
    artifact_store().remove(location(SHA))
    problem(api.get(url), 404, "not_found")
    put(api, run, name="again")
    assert b"".join(api.get(url).streaming_content) == BODY


def test_a_run_that_ended_takes_no_file(api: APIClient, run: Run, folder: Path) -> None:
    change = {"from": "queued", "to": "cancelled"}
    eventlog.append(run.pk, [system("state_changed", change)])
    problem(put(api, run), 409, "conflict")
    assert files(folder) == []


def test_a_half_written_file_is_never_seen(folder: Path, run: Run) -> None:
    """A writer that dies leaves nothing under the final name."""

    class Dies(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if self.tell():
                raise OSError(5, "Input/output error")
            return super().read(min(size or 5, 5))

    with pytest.raises(Unavailable, match="input/output error"):
        artifact_store().put(location(SHA), Dies(BODY))
    assert files(folder) == []
    assert artifact_store().size_of(location(SHA)) is None


def test_garbage_goes_and_what_an_event_refers_to_stays(
    api: APIClient, run: Run, folder: Path
) -> None:
    put(api, run)
    orphan = hashlib.sha256(b"orphan").hexdigest()
    plant(orphan, b"orphan")
    artifact_store().put("readme.txt", io.BytesIO(b"Somebody else's."))
    assert collect_garbage() == 0, "fresh bytes may belong to somebody who is storing them"
    assert collect_garbage(grace=OLD) == 1
    assert files(folder) == [SHA, "readme.txt"]


@pytest.mark.req("RUN-4")
def test_erasing_the_last_reference_lets_the_bytes_go(
    api: APIClient, run: Run, folder: Path
) -> None:
    seq = put(api, run).json() and run.last_seq + 1
    change = {"from": "queued", "to": "cancelled"}
    eventlog.append(run.pk, [system("state_changed", change)])
    assert collect_garbage(grace=OLD) == 0
    done = api.post(f"/api/runs/{run.pk}/events/{seq}/erase", {"reason": "Privacy."})
    assert done.status_code == 200, done.content
    problem(api.get(f"/api/artifacts/{SHA}?run={run.pk}"), 404, "not_found")
    assert collect_garbage(grace=OLD) == 1
    assert files(folder) == []
    assert not Artifact.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_the_collector_leaves_alone_what_is_being_stored(run: Run, folder: Path) -> None:
    """The bytes lie there as an old leftover; while a writer takes them over they must stay."""
    plant(SHA, BODY)
    stored, go = threading.Event(), threading.Event()

    def write() -> None:
        try:
            with transaction.atomic():
                store_artifact(run.pk, BODY, media_type="text/html")
                stored.set()
                go.wait(60)
        finally:
            connection.close()

    writer = threading.Thread(target=write)
    writer.start()
    assert stored.wait(60)
    assert collect_garbage(grace=OLD) == 0
    go.set()
    writer.join()
    assert collect_garbage(grace=OLD) == 0
    assert files(folder) == [SHA]


@pytest.mark.django_db(transaction=True)
def test_many_store_the_same_bytes_at_once(run: Run, folder: Path) -> None:
    body = os.urandom(200_000)
    errors: list[BaseException] = []

    def write() -> None:
        try:
            store_artifact(run.pk, body, media_type="text/plain")
        except BaseException as error:  # noqa: BLE001  (handed to the test)
            errors.append(error)
        finally:
            connection.close()

    writers = [threading.Thread(target=write) for _ in range(6)]
    for each in writers:
        each.start()
    for _ in range(10):
        collect_garbage(grace=OLD)
        time.sleep(0.01)
    for each in writers:
        each.join()
    assert errors == []
    assert files(folder) == [hashlib.sha256(body).hexdigest()]
    refs = [each for each in eventlog.read_all(run.pk) if each.kind == "artifact_ref"]
    assert len(refs) == 1
