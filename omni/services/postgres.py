"""The embedded PostgreSQL: cluster, configuration, and the application's role and database."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import LiteralString

import psycopg
from psycopg import sql

from omni.services import binaries, ports, private, wording
from omni.services.program import Program, start
from omni.services.server import EmbeddedServer

EXTENSIONS: tuple[LiteralString, ...] = ("vector", "pg_trgm")
SETTINGS, ACCESS_RULES = "postgresql.conf", "pg_hba.conf"
ROLE = "omni"
DATABASE = "omni"

CONFIGURATION = """\
# Written at every start; changes here are lost.
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = ''
max_connections = 200
shared_buffers = 128MB
password_encryption = 'scram-sha-256'
timezone = 'UTC'
log_timezone = 'UTC'
lc_messages = 'C'
log_line_prefix = '%m [%p] '
# Statements hold values: none of them belongs into a log, whatever goes wrong.
log_statement = 'none'
log_min_duration_statement = -1
log_min_error_statement = 'panic'
log_error_verbosity = 'terse'
max_wal_size = 512MB
"""
# Only for data that is thrown away afterwards: a crash of the machine would damage it.
CARELESS = "fsync = off\nsynchronous_commit = off\nfull_page_writes = off\nautovacuum = off\n"
ACCESS = "host all all 127.0.0.1/32 scram-sha-256\n"


class PostgresServer(EmbeddedServer):
    name = "postgres"
    title = "PostgreSQL"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def prepare(self) -> None:
        super().prepare()
        self._superuser_password = private.password(self.folder / "superuser.password")
        self._password = private.password(self.folder / "omni.password")
        if not (self.data / "PG_VERSION").exists():
            self._make_cluster()
        self._require_version()
        self._forget_dead_postmaster()
        self._configure()
        self.own(self.data)

    def program(self) -> Program:
        return Program(
            name=self.name,
            argv=(
                *(str(binaries.postgres("postgres")), "-D", str(self.data)),
                *("-c", f"config_file={self.folder / SETTINGS}"),
                *("-c", f"hba_file={self.folder / ACCESS_RULES}"),
            ),
            cwd=self.folder,
            folders=(self.folder,),
            env=self.environment(),
            confinement=self.confinement,
            stop_signal=signal.SIGINT,
            stop_seconds=20,
            death_signal=signal.SIGQUIT,
        )

    def url(self) -> str:
        return f"postgresql://{ROLE}:{self._password}@{ports.LOOPBACK}:{self.port}/{DATABASE}"

    def answers(self) -> bool:
        try:
            self._connect("postgres").close()
        except psycopg.OperationalError:
            return False
        return True

    def settle(self) -> None:
        """Role, database and extensions; in template1 too, so that test databases have them."""
        with self._connect("template1") as connection:
            self._add_extensions(connection)
        with self._connect("postgres") as connection:
            self._add_role(connection)
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE])
            if not found.fetchone():
                names = sql.Identifier(DATABASE), sql.Identifier(ROLE)
                connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(*names))
        with self._connect(DATABASE) as connection:
            self._add_extensions(connection)

    def last_words(self, log: str) -> str:
        lines = re.findall(r"(?:FATAL|PANIC|could not)[^\n]*", log)
        return lines[-1] if lines else ""

    def _connect(self, database: str) -> psycopg.Connection:
        return psycopg.connect(
            host=ports.LOOPBACK,
            port=self.port,
            user="postgres",
            password=self._superuser_password,
            dbname=database,
            connect_timeout=5,
            autocommit=True,
        )

    def _add_extensions(self, connection: psycopg.Connection) -> None:
        for name in EXTENSIONS:
            statement = sql.SQL("CREATE EXTENSION IF NOT EXISTS {}").format(sql.Identifier(name))
            connection.execute(statement)

    def _add_role(self, connection: psycopg.Connection) -> None:
        """No superuser, but may create databases; sent hashed, so no log can hold the password."""
        hashed = connection.pgconn.encrypt_password(
            self._password.encode(), ROLE.encode(), b"scram-sha-256"
        ).decode()
        found = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [ROLE]).fetchone()
        verb = sql.SQL("ALTER" if found else "CREATE")
        options = "{} ROLE {} LOGIN CREATEDB NOSUPERUSER NOCREATEROLE PASSWORD {}"
        statement = sql.SQL(options).format(verb, sql.Identifier(ROLE), sql.Literal(hashed))
        connection.execute(statement)

    def _make_cluster(self) -> None:
        """Beside its place, renamed when complete: an interrupted first start starts over."""
        unfinished = self.folder / "data.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        private.make_folder(unfinished)
        secret = unfinished.with_name("initdb.password")
        private.write(secret, self._superuser_password)
        self.own(unfinished)
        self.own(secret)
        try:
            self._run_initdb(unfinished, secret)
        finally:
            secret.unlink(missing_ok=True)
        with private.said_plainly(self.folder):
            shutil.rmtree(self.data, ignore_errors=True)
            unfinished.rename(self.data)

    def _run_initdb(self, folder: Path, secret: Path) -> None:
        command = Program(
            name="initdb",
            argv=(
                str(binaries.postgres("initdb")),
                *("-D", str(folder), "--username=postgres", f"--pwfile={secret}"),
                *("--auth=scram-sha-256", "--encoding=UTF8", "--no-instructions"),
                *("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"),
                *(() if self.durable else ("--no-sync",)),
            ),
            cwd=self.folder,
            env=self.environment(),
            confinement=self.confinement,
            folders=(self.folder,),
        )
        child = start(command, stdout=subprocess.PIPE)
        said = child.communicate(timeout=120)[0].decode(errors="replace")
        if "No space left" in said:
            raise wording.disk_full(self.folder)
        if child.returncode:
            lines = [line for line in said.splitlines() if "error" in line or "FATAL" in line]
            raise wording.initdb_failed((lines or said.splitlines() or [""])[-1])

    def _require_version(self) -> None:
        found = (self.data / "PG_VERSION").read_text().strip()
        text = subprocess.run(  # noqa: S603  (our own argument vector)
            [binaries.postgres("postgres"), "--version"], capture_output=True, text=True, check=True
        ).stdout
        carried = text.split()[-1].partition(".")[0]
        if found != carried:
            raise wording.database_version(found, carried)

    def _configure(self) -> None:
        text = CONFIGURATION.format(port=self.port) + ("" if self.durable else CARELESS)
        # Beside the data: root writes nothing into a folder that belongs to somebody else.
        for name, content in ((SETTINGS, text), (ACCESS_RULES, ACCESS)):
            private.write(self.folder / name, content)
            self.own(self.folder / name)

    def _forget_dead_postmaster(self) -> None:
        """After kill -9 the number in postmaster.pid may belong to a stranger; we know better."""
        lock = self.data / "postmaster.pid"
        until = time.monotonic() + 10
        while (pid := _postmaster(lock, self.data)) and time.monotonic() < until:
            time.sleep(0.1)
        if pid:
            raise wording.still_in_use(self.title, pid)
        lock.unlink(missing_ok=True)


def _postmaster(lock: Path, data: Path) -> int:
    """The process named in the lock file if it is really a server on this folder, else 0."""
    try:
        pid = int(lock.read_text().split("\n", 1)[0])
        arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (OSError, ValueError):
        return 0
    return pid if os.fsencode(data) in arguments else 0
