"""The processes of an installation and the steps that come before them."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass

from omni.config import ROOT, Config
from omni.services.program import MARK, Program


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to run around the servers; tests put stand-ins here.

    `setup` writes a line {"done": part} for each part, then one with the administrator.
    """

    setup: Program
    processes: tuple[Program, ...]
    ready_path: str = "/readyz"


def make_plan(config: Config, *, readable_logs: bool) -> Plan:
    env = environment(config, readable_logs=readable_logs)
    return Plan(
        setup=_command(env, "setup", "bootstrap", "--migrate", "--json"),
        processes=(_web(config, env), _worker(config, env), _beat(config, env)),
    )


def environment(config: Config, *, readable_logs: bool) -> dict[str, str]:
    """Ours, and what a child must know although it was not set there."""
    env = {**os.environ, "PYTHONUNBUFFERED": "1", MARK: str(config.home)}
    env |= {"OMNI_HOME": str(config.home), "OMNI_PORT": str(config.port), "OMNI_HOST": config.host}
    if readable_logs and config.log_format == "auto":
        env["OMNI_LOG_FORMAT"] = "console"
    return env


def _command(env: dict[str, str], name: str, *arguments: str) -> Program:
    argv = (sys.executable, str(ROOT / "manage.py"), *arguments)
    return Program(name=name, argv=argv, cwd=ROOT, env={**env, "OMNI_PROCESS": name})


def _web(config: Config, env: dict[str, str]) -> Program:
    several = ("--workers", str(config.web_workers)) if config.web_workers > 1 else ()
    return Program(
        name="web",
        argv=(
            *(sys.executable, "-m", "uvicorn", "omni.asgi:application"),
            *("--host", config.host, "--port", str(config.port), *several),
            # Django judges forwarded headers by OMNI_TRUSTED_PROXIES and logs each request itself.
            *("--no-proxy-headers", "--no-server-header", "--no-access-log", "--lifespan", "off"),
            *("--timeout-graceful-shutdown", "5", "--log-level", config.log_level.lower()),
        ),
        cwd=ROOT,
        env={**env, "OMNI_PROCESS": "web"},
        stop_seconds=8,
        # Asked rather than killed: several web workers die only with an orderly master.
        death_signal=signal.SIGTERM,
    )


def _worker(config: Config, env: dict[str, str]) -> Program:
    node = config.node_id.replace("%", "%%")
    return Program(
        name="worker",
        argv=(
            *(sys.executable, "-m", "celery", "-A", "omni.celery", "--quiet", "worker"),
            *("--pool", "prefork", "--concurrency", str(config.worker_concurrency)),
            *("--hostname", f"omni@{node}", "--loglevel", config.log_level),
            *("--without-gossip", "--without-mingle"),
        ),
        cwd=ROOT,
        env={**env, "OMNI_PROCESS": "worker"},
        stop_seconds=20,
    )


def _beat(config: Config, env: dict[str, str]) -> Program:
    return Program(
        name="beat",
        argv=(
            *(sys.executable, "-m", "celery", "-A", "omni.celery", "--quiet", "beat"),
            # No pid file: a killed beat would leave one that stops the next.
            *("--pidfile", "", "--loglevel", config.log_level),
        ),
        cwd=ROOT,
        env={**env, "OMNI_PROCESS": "beat"},
        stop_seconds=8,
    )
