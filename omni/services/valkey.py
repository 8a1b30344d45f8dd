"""The embedded Redis-compatible server, with an append-only file so that queued work survives."""

from __future__ import annotations

import re
import socket

from omni.services import binaries, ports, private
from omni.services.program import Program
from omni.services.server import EmbeddedServer

CONFIGURATION = """\
# Written at every start; changes here are lost.
bind 127.0.0.1
port {port}
protected-mode yes
requirepass {password}
daemonize no
dir "{folder}"
save ""
appendonly {durable}
appendfsync everysec
maxmemory-policy noeviction
tcp-backlog 128
"""


class ValkeyServer(EmbeddedServer):
    name = "redis"
    title = "Redis"

    def prepare(self) -> None:
        super().prepare()
        self._password = private.password(self.folder / "redis.password")
        data = private.make_folder(self.folder / "data")
        self._configuration = self.folder / "valkey.conf"
        text = CONFIGURATION.format(
            port=self.port,
            password=self._password,
            folder=str(data).replace("\\", "\\\\").replace('"', '\\"'),
            durable="yes" if self.durable else "no",
        )
        private.write(self._configuration, text)
        self.own(self._configuration)
        self.own(data)

    def program(self) -> Program:
        return Program(
            name=self.name,
            argv=(str(binaries.valkey()), str(self._configuration)),
            cwd=self.folder,
            env=self.environment(),
            confinement=self.confinement,
            folders=(self.folder,),
        )

    def url(self) -> str:
        return f"redis://:{self._password}@{ports.LOOPBACK}:{self.port}/0"

    def answers(self) -> bool:
        """Asked by hand: the client library would be the slowest import of a start."""
        try:
            with socket.create_connection((ports.LOOPBACK, self.port), timeout=2) as link:
                link.sendall(f"AUTH {self._password}\r\nPING\r\nQUIT\r\n".encode())
                return b"+PONG" in link.makefile("rb").read(1000)
        except OSError:
            return False

    def last_words(self, log: str) -> str:
        lines = re.findall(r" # ([^\n]+)|\*\*\* ([^\n]+)", log)
        return "".join(lines[-1]) if lines else ""
