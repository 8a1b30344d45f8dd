"""Both embedded servers without a supervisor, for tests, tools and backups.

with EmbeddedServices(folder, durable=False) as endpoints:
    psycopg.connect(endpoints.database_url)
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from omni.services import binaries, private, program, wording
from omni.services.confinement import confinement_for_root
from omni.services.postgres import PostgresServer
from omni.services.program import UNCONFINED, Program
from omni.services.server import EmbeddedServer
from omni.services.valkey import ValkeyServer


@dataclass(frozen=True)
class Endpoints:
    """Addresses of the servers; empty where one was not asked for."""

    database_url: str = ""
    redis_url: str = ""

    def write(self, file: Path) -> None:
        """In the form that `omni.config` reads."""
        urls = {"database_url": self.database_url, "redis_url": self.redis_url}
        private.write_json(file, {key: url for key, url in urls.items() if url})


def choose_servers(
    home: Path, *, postgres: bool = True, redis: bool = True, durable: bool = True
) -> list[EmbeddedServer]:
    """The embedded servers an installation needs, in starting order."""
    if not (postgres or redis):
        return []
    probed = binaries.postgres("postgres") if postgres else binaries.valkey()
    confinement = confinement_for_root(home, probed)
    if confinement is None and postgres:
        raise wording.cannot_confine()
    confinement = confinement or UNCONFINED
    servers: list[EmbeddedServer] = []
    if postgres:
        servers.append(PostgresServer(home, confinement=confinement, durable=durable))
    if redis:
        servers.append(ValkeyServer(home, confinement=confinement, durable=durable))
    return servers


def endpoints_of(servers: list[EmbeddedServer]) -> Endpoints:
    urls = {server.name: server.url() for server in servers}
    return Endpoints(database_url=urls.get("postgres", ""), redis_url=urls.get("redis", ""))


class EmbeddedServices:
    """Start and stop from the main thread: the servers die with the thread that started them."""

    def __init__(
        self, home: Path, *, durable: bool = True, postgres: bool = True, redis: bool = True
    ) -> None:
        self.home = home.absolute()
        self.endpoints = Endpoints()
        self._chosen = {"postgres": postgres, "redis": redis, "durable": durable}
        self._running: list[tuple[Program, subprocess.Popen[bytes]]] = []

    def start(self) -> Endpoints:
        """Start what was chosen, write `run/endpoints.json`, answer the addresses."""
        private.make_folder(self.home)
        servers = choose_servers(self.home, **self._chosen)
        try:
            for server in servers:
                self._start(server)
        except BaseException:
            self.stop()
            raise
        self.endpoints = endpoints_of(servers)
        self.endpoints.write(private.make_folder(self.home / "run") / "endpoints.json")
        return self.endpoints

    def stop(self) -> None:
        while self._running:
            program.stop(*self._running.pop())

    def _start(self, server: EmbeddedServer) -> None:
        server.prepare()
        plan = server.program()
        private.make_folder(server.log.parent)
        with server.log.open("ab") as log:
            server.log.chmod(0o600)
            child = program.start(plan, stdout=log.fileno())
        self._running.append((plan, child))
        server.wait(alive=lambda: child.poll() is None)
        server.settle()

    def __enter__(self) -> Endpoints:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
