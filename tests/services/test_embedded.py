"""The embedded servers: real, private, durable, and gone with whoever started them."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
import redis

from omni.services import ports
from omni.services.embedded import EmbeddedServices
from tests.services.installation import ROOT, eventually

pytestmark = pytest.mark.req("OPS-1")


def test_both_servers_start_and_keep_what_was_written(tmp_path: Path) -> None:
    """A second start on the same folder finds rows and keys again, on the same ports."""
    services = EmbeddedServices(tmp_path / "my home")
    with services as first:
        with psycopg.connect(first.database_url) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
        with redis.Redis.from_url(first.redis_url) as client:
            client.set("kept", "yes")
    with services as second:
        assert second == first
        with psycopg.connect(second.database_url) as connection:
            assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)
        with redis.Redis.from_url(second.redis_url) as client:
            assert client.get("kept") == b"yes"


def test_nothing_starts_where_both_servers_are_somebody_elses(tmp_path: Path) -> None:
    """As when tests run against the servers that the URLs name."""
    with EmbeddedServices(tmp_path / "home", postgres=False, redis=False) as endpoints:
        assert (endpoints.database_url, endpoints.redis_url) == ("", "")


def test_the_application_role_is_weak_and_the_extensions_are_there(tmp_path: Path) -> None:
    """`omni` is no superuser, may create databases, and every new one has vector and pg_trgm."""
    services = EmbeddedServices(tmp_path, redis=False, durable=False)
    with services as endpoints:
        with psycopg.connect(endpoints.database_url, autocommit=True) as connection:
            facts = "SELECT rolsuper, rolcreatedb, rolcreaterole FROM pg_roles WHERE rolname='omni'"
            assert connection.execute(facts).fetchone() == (False, True, False)
            assert connection.execute("SHOW timezone").fetchone() == ("UTC",)
            assert connection.execute("SHOW server_encoding").fetchone() == ("UTF8",)
            connection.execute("CREATE DATABASE another")
        another = endpoints.database_url.removesuffix("/omni") + "/another"
        with psycopg.connect(another) as connection:
            found = connection.execute("SELECT extname FROM pg_extension").fetchall()
            assert {("vector",), ("pg_trgm",)} <= set(found)
            distance = connection.execute("SELECT '[1,0]'::vector <-> '[0,0]'::vector").fetchone()
            assert distance == (1.0,)
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("COPY (SELECT 1) TO PROGRAM 'true'")


def test_nothing_answers_without_the_password_and_no_secret_is_readable(tmp_path: Path) -> None:
    """Wrong passwords are refused, secret files are 0600, and no command line shows one."""
    services = EmbeddedServices(tmp_path / "home", durable=False)
    with services as endpoints:
        password = endpoints.database_url.split(":")[2].split("@")[0]
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(endpoints.database_url.replace(password, "wrong"))
        anonymous = "redis://" + endpoints.redis_url.split("@")[1]
        with redis.Redis.from_url(anonymous) as client, pytest.raises(redis.AuthenticationError):
            client.ping()
        secrets = [*services.home.rglob("*.password"), *services.home.rglob("*.conf")]
        secrets.append(services.home / "run" / "endpoints.json")
        assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in secrets} == {0}
        lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if _mine(path)]
        assert not any(password.encode() in line for line in lines)


def _mine(path: Path) -> bool:
    return path.exists() and os.access(path, os.R_OK)


@pytest.mark.req("SEC-3")
def test_statements_and_the_values_in_them_never_reach_the_log(tmp_path: Path) -> None:
    """Failed, slow or in a deadlock: ciphertexts travel in statements, logs are read by others."""
    services = EmbeddedServices(tmp_path, redis=False, durable=False)
    with services as endpoints, psycopg.connect(endpoints.database_url) as connection:
        connection.execute("CREATE TABLE kept (name text UNIQUE)")
        connection.execute("INSERT INTO kept VALUES ('sealed-value')")
        connection.execute("SELECT pg_sleep(2.1), 'sealed-value'")
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute("INSERT INTO kept VALUES ('sealed-value')")
    log = (tmp_path / "logs" / "postgres.log").read_text()
    assert "duplicate key" in log
    assert "sealed-value" not in log


def test_a_taken_port_is_chosen_anew(tmp_path: Path) -> None:
    """Another program on last time's port moves the server, not the data."""
    file = tmp_path / "ports.json"
    port = ports.remembered(file, "postgres")
    assert ports.remembered(file, "postgres") == port
    with socket.create_server(("127.0.0.1", port)):
        assert ports.remembered(file, "postgres") != port


def test_a_stale_lock_of_a_killed_server_does_not_stop_the_next(tmp_path: Path) -> None:
    """postmaster.pid may name a number that a stranger has now; the server starts all the same."""
    services = EmbeddedServices(tmp_path, redis=False)
    with services as endpoints, psycopg.connect(endpoints.database_url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1")
    stale = tmp_path / "postgres" / "data" / "postmaster.pid"
    stale.write_text(f"{os.getpid()}\n{stale.parent}\n1\n1\n\n127.0.0.1\n")
    with services as endpoints, psycopg.connect(endpoints.database_url) as connection:
        assert connection.execute("SELECT count(*) FROM kept").fetchone() == (1,)


HOLD = """
import sys, pathlib
from omni.services.embedded import EmbeddedServices
services = EmbeddedServices(pathlib.Path(sys.argv[1]), durable=False)
services.start()
print(*(child.pid for _, child in services._running), flush=True)
sys.stdin.read()
"""


def test_the_servers_die_with_their_starter(tmp_path: Path) -> None:
    """kill -9 of the process that started them leaves no server behind."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout and holder.stdin
    pids = [int(word) for word in holder.stdout.readline().split()]
    assert len(pids) == 2 and all(Path(f"/proc/{pid}").exists() for pid in pids)
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    holder.stdin.close()
    holder.stdout.close()
    eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))
