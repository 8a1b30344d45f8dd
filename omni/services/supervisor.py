"""Starts an installation phase by phase, keeps it running, and stops it in reverse order."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omni import bucket
from omni.config import Config
from omni.contracts.errors import Unavailable
from omni.services import embedded, home, ports, reachable, wording
from omni.services.child import Child
from omni.services.crew import Crew, StopRequested
from omni.services.logfile import tail
from omni.services.program import Program
from omni.services.programs import Plan
from omni.services.server import EmbeddedServer
from omni.services.state import Phase, Status, state_file, write_state
from omni.services.terminal import Terminal

READY_SECONDS = 120
READY_INTERVAL = 0.25
EXTERNAL_SECONDS = 30
HOPELESS_RESTARTS = 4


@dataclass(frozen=True)
class Administrator:
    """The first sign-in; the password goes to a terminal or into a private file, once."""

    email: str
    password: str | None


class Supervisor:
    def __init__(self, config: Config, plan: Plan, terminal: Terminal) -> None:
        self.config = config
        self.plan = plan
        self.terminal = terminal
        self.administrator = Administrator(config.admin_email, None)
        self._lock = home.Lock(config.home)
        self._phase: Phase = "starting"
        self._started_at = time.time()
        self._began = time.monotonic()
        self._crew: Crew

    def run(self, *, announce: Callable[[float], None]) -> None:
        """Until somebody asks to stop; `announce` hears how long it took to be ready."""
        self._open()
        try:
            self._start()
            self._set_phase("ready")
            announce(time.monotonic() - self._began)
            self._crew.echoing = True
            while not self._crew.stop_requests:
                self._crew.attend(1.0)
        except StopRequested:
            self.terminal.line()
        finally:
            self._close()

    def _open(self) -> None:
        with self.terminal.phase("Checks"):
            home.open_home(self.config.home, self._lock)
            ended = home.end_leftovers(self.config.home)
            # Counters of processes that are gone would be added to the new ones.
            shutil.rmtree(self.config.run_dir / "metrics", ignore_errors=True)
            ports.require_free(self.config.host, self.config.port)
        self._crew = Crew(self.config.log_dir, self.terminal, self._write_state)
        self._crew.listen()
        self._crew.note(f"supervisor started (pid {os.getpid()})")
        if ended:
            self._crew.note(f"ended {len(ended)} processes that an earlier supervisor left")
        self._write_state()

    def _start(self) -> None:
        self._start_servers()
        self._await_external()
        step, heard = self._crew.begin_confidential(self.plan.setup)
        with self.terminal.phase("Database schema"):
            self._await_part(step, heard, "schema")
        # Worker and beat load while the rest is prepared; web reads static files when it starts.
        self._launch(lambda program: program.name != "web")
        with self.terminal.phase("Content and static files"):
            self._await_part(step, heard, "assets")
            self._launch(lambda program: program.name == "web")
            self._meet_administrator(step, heard)
        with self.terminal.phase("Web, worker, beat"):
            self._await_ready()

    def _launch(self, chosen: Callable[[Program], bool]) -> None:
        for program in filter(chosen, self.plan.processes):
            self._crew.launch(program)

    def _start_servers(self) -> None:
        config = self.config
        servers = embedded.choose_servers(
            config.home, postgres=not config.database_url, redis=not config.redis_url
        )
        for server in servers:
            with self.terminal.phase(server.title):
                self._start_server(server)
        embedded.endpoints_of(servers).write(config.endpoints_file)

    def _start_server(self, server: EmbeddedServer) -> None:
        server.prepare()
        port = server.port

        def prepare_again() -> None:
            server.prepare()
            # Everybody else knows the old address, so a taken port is an error to retry.
            if server.port != port:
                raise wording.port_in_use(ports.LOOPBACK, port)

        child = self._crew.launch(server.program(), prepare_again)
        server.wait(alive=lambda: child.alive, idle=self._crew.turn)
        server.settle()

    def _await_external(self) -> None:
        config = self.config
        for title, setting, url, ask in (
            ("PostgreSQL", "OMNI_DATABASE_URL", config.database_url, reachable.ask_database),
            ("Redis", "OMNI_REDIS_URL", config.redis_url, reachable.ask_redis),
            ("Broker", "OMNI_BROKER_URL", config.broker_url, reachable.ask_broker),
        ):
            if not url:
                continue
            with self.terminal.phase(f"{title} (external)"):
                until = time.monotonic() + EXTERNAL_SECONDS
                while not (answer := ask(url)).ok:
                    if time.monotonic() > until:
                        raise wording.external_unreachable(title, setting, answer.detail)
                    self._crew.turn(0.5)
                if setting == "OMNI_DATABASE_URL" and not answer.has_vector:
                    raise wording.pgvector_missing(answer.detail)

        if config.artifact_store == "s3":
            with self.terminal.phase("Artifacts (external)"):
                self._await_bucket(time.monotonic() + EXTERNAL_SECONDS)

    def _await_bucket(self, until: float) -> None:
        client = bucket.connect(self.config)
        place = {"bucket": self.config.artifact_bucket, "prefix": self.config.artifact_prefix}
        while True:
            try:
                return bucket.look(client, **place)
            except Unavailable:
                if time.monotonic() > until:
                    raise
            self._crew.turn(0.5)

    def _await_part(self, step: Child, heard: list[bytes], part: str) -> None:
        while step.alive and {"done": part} not in map(as_json, heard):
            self._crew.turn()
        if not step.alive:
            self._finish(step)

    def _finish(self, step: Child) -> None:
        log = self.config.log_dir / f"{step.name}.log"
        if step in self._crew.steps and self._crew.finish(step):
            raise wording.step_failed(step.name, log, last_words(log))

    def _meet_administrator(self, step: Child, heard: list[bytes]) -> None:
        """Its output holds the password, so it goes to us and never to a log."""
        self._finish(step)
        answer = as_json(heard[-1]) if heard else {}
        try:
            self.administrator = Administrator(answer["admin_email"], answer["admin_password"])
        except KeyError as error:
            log = self.config.log_dir / f"{step.name}.log"
            raise wording.step_failed(step.name, log, "no answer") from error

    def _await_ready(self) -> None:
        until = time.monotonic() + READY_SECONDS
        reason, ask_at = "", 0.0
        while (now := time.monotonic()) < until:
            self._crew.turn(0.25)
            self._require_hope()
            # A turn ends early when a child speaks, and each question makes one speak.
            if now < ask_at:
                continue
            ask_at = now + READY_INTERVAL
            ready, reason = ask_ready(self.config, self.plan.ready_path)
            if ready:
                return
        raise wording.never_ready(READY_SECONDS, what_is_missing(reason), self.config.log_dir)

    def _require_hope(self) -> None:
        for child in self._crew.children:
            if child.restarts >= HOPELESS_RESTARTS:
                log = self.config.log_dir / f"{child.name}.log"
                raise wording.child_keeps_failing(child.name, log, last_words(log))

    def _close(self) -> None:
        self._set_phase("stopping")
        self._crew.echoing = False
        servers = [c for c in self._crew.children if c.name in ("postgres", "redis")]
        others = [c for c in self._crew.children if c not in servers]
        if self._crew.children:
            with self.terminal.phase("Stopping"):
                self._stop(others[::-1])
                for server in servers[::-1]:
                    self._stop([server])
        self.config.endpoints_file.unlink(missing_ok=True)
        self._crew.note("supervisor stopped")
        self._crew.close()
        state_file(self.config.home).unlink(missing_ok=True)
        self._lock.release()

    def _stop(self, children: list[Child]) -> None:
        """Ask all of them, wait as long as the slowest may take; one more Ctrl-C shortens it."""
        for child in children:
            child.state = "stopping"
            child.next_start = None
            child.signal(child.program.stop_signal)
        asked, requests = time.monotonic(), self._crew.stop_requests
        while any(child.alive for child in children):
            self._crew.attend(0.1, restart=False)
            late = self._crew.stop_requests > max(requests, 1)
            for child in children:
                if late or time.monotonic() - asked > child.program.stop_seconds:
                    child.signal(signal.SIGKILL, group=True)
        self._crew.attend(0, restart=False)

    def _set_phase(self, phase: Phase) -> None:
        self._phase = phase
        self._write_state()

    def _write_state(self) -> None:
        status = Status(
            running=True,
            phase=self._phase,
            pid=os.getpid(),
            url=self.config.base_url,
            host=self.config.host,
            port=self.config.port,
            started_at=self._started_at,
            processes=[child.status() for child in self._crew.children],
        )
        try:
            write_state(self.config.home, status)
        except wording.ServiceError as error:
            self._crew.note(f"the state could not be written: {error.message}")


def ask_ready(config: Config, path: str = "/readyz") -> tuple[bool, str]:
    """Whether the web server reports that everything works, and what it said."""
    host = "127.0.0.1" if config.host in ("0.0.0.0", "") else config.host  # noqa: S104
    host = "::1" if host == "::" else host
    connection = http.client.HTTPConnection(host, config.port, timeout=3)
    try:
        connection.request("GET", path, headers={"Host": f"localhost:{config.port}"})
        response = connection.getresponse()
        return response.status == 200, response.read(2000).decode(errors="replace").strip()
    except (OSError, http.client.HTTPException) as error:
        return False, str(error)
    finally:
        connection.close()


def as_json(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def what_is_missing(answer: str) -> str:
    """The failed checks in the readiness document, or whatever else was answered."""
    try:
        checks = json.loads(answer)["checks"].values()
        return " ".join(check["detail"] for check in checks if check["status"] != "ok")
    except (ValueError, KeyError, TypeError, AttributeError):
        return answer[:200]


def last_words(log: Path) -> str:
    lines = [line for line in tail(log, 30) if line.strip()]
    return lines[-1].strip()[:300] if lines else ""
