"""Checks of the machine and the installation, each with what to do about it."""

from __future__ import annotations

import json
import os
import platform
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from omni import bucket
from omni.config import LOOPBACK, Config
from omni.contracts.errors import OmniError
from omni.llm.endpoint import list_models
from omni.sandbox.probe import probe
from omni.services import binaries, commands, ports, reachable
from omni.services.confinement import confinement_for_root
from omni.services.greeting import PASSWORD_FILE
from omni.services.misspelt import unknown_settings
from omni.services.supervisor import ask_ready
from omni.telemetry.sinks.build import sink_trouble

Grade = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class Finding:
    name: str
    status: Grade
    detail: str
    remedy: str = ""


def run_checks(config: Config) -> list[Finding]:
    """All of them; one that breaks is a finding itself and stops no other."""
    findings: list[Finding] = []
    running = commands.status(config)
    if running.port:
        # It may have been started with other settings than this command was.
        config = replace(config, host=running.host, port=running.port)
    for check in CHECKS:
        try:
            findings.extend(check(config))
        except OmniError as error:
            findings.append(Finding(_title(check), "fail", error.message, error.remedy))
        except Exception as error:  # noqa: BLE001  (a check must never hide the others)
            findings.append(Finding(_title(check), "fail", f"{type(error).__name__}: {error}"))
    return findings


def _title(check: Callable[[Config], Iterator[Finding]]) -> str:
    return check.__name__.strip("_").replace("_", " ").capitalize()


def _python(config: Config) -> Iterator[Finding]:
    yield Finding("Python", "ok", f"{platform.python_version()}, {sys.executable}")


def _settings(config: Config) -> Iterator[Finding]:
    for each in unknown_settings():
        yield Finding("Settings", "warn", each.sentence, each.remedy)


def _disk(config: Config) -> Iterator[Finding]:
    place = config.home
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free / 2**30
    detail = f"{free:.1f} GB free for {config.home}"
    grade: Grade = "ok" if free >= 2 else "warn" if free >= 0.5 else "fail"
    yield Finding("Disk", grade, detail, "" if grade == "ok" else "Free at least 2 GB.")


def _memory(config: Config) -> Iterator[Finding]:
    lines = Path("/proc/meminfo").read_text().splitlines()
    facts = {key: int(rest.split()[0]) for key, _, rest in (line.partition(":") for line in lines)}
    available = facts.get("MemAvailable", 0) / 2**20
    enough = available >= 1
    remedy = "" if enough else "Close programs, or lower OMNI_WORKER_CONCURRENCY."
    yield Finding("Memory", "ok" if enough else "warn", f"{available:.1f} GB available", remedy)


def _web_port(config: Config) -> Iterator[Finding]:
    name, place = "Web port", f"{config.host}:{config.port}"
    if commands.status(config).running:
        yield Finding(name, "ok", f"{place}, used by this installation")
        return
    ports.require_free(config.host, config.port)
    yield Finding(name, "ok", f"{place} is free")


def _home_folder(config: Config) -> Iterator[Finding]:
    name, folder = "Home folder", config.home
    if not folder.exists():
        yield Finding(name, "ok", f"{folder} will be made by the first start")
    elif not os.access(folder, os.W_OK | os.X_OK):
        remedy = "Change its owner, or set OMNI_HOME to a folder you own."
        yield Finding(name, "fail", f"{folder} cannot be written by this user", remedy)
    elif folder.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH | stat.S_IWGRP | stat.S_IWOTH):
        yield Finding(name, "warn", f"{folder} is open to others", f"Run `chmod go= {folder}`.")
    else:
        yield Finding(name, "ok", f"{folder}, private")


def _first_password(config: Config) -> Iterator[Finding]:
    file = config.key_dir / PASSWORD_FILE
    if file.exists():
        remedy = f"Sign in with it, choose another one, and run `rm '{file}'`."
        yield Finding("First password", "warn", f"is still in {file}", remedy)


HOW = {
    "none": "as this user",
    "view": "as a user of its own who sees only its folders",
    "user": "as nobody",
}


def _embedded_servers(config: Config) -> Iterator[Finding]:
    if not config.database_url:
        yield _rights_of_postgres(config)
    if not config.redis_url:
        binaries.valkey()
        yield Finding("Embedded Redis", "ok", "installed")


def _rights_of_postgres(config: Config) -> Finding:
    name, remedy = (
        "Embedded PostgreSQL",
        "Start Omni as an ordinary user, or set OMNI_DATABASE_URL.",
    )
    found = confinement_for_root(config.home, binaries.postgres("postgres"))
    if found is None:
        return Finding(name, "fail", "cannot run as root here", remedy)
    if found.way == "namespace":
        detail = "installed, runs without capabilities but with root's access to files"
        return Finding(name, "warn", detail, remedy)
    return Finding(name, "ok", f"installed, runs {HOW[found.way]}")


def _database(config: Config) -> Iterator[Finding]:
    if not config.database_url and not commands.status(config).running:
        yield Finding("PostgreSQL", "warn", "not running", "Start it with `make up`.")
        return
    answer = reachable.ask_database(config.resolved_database_url())
    where = "OMNI_DATABASE_URL" if config.database_url else "`make logs NAME=postgres`"
    if not answer.ok:
        yield Finding("PostgreSQL", "fail", answer.detail, f"Check {where}.")
    elif not answer.has_vector:
        yield Finding("PostgreSQL", "fail", answer.detail, "Install pgvector on that server.")
    else:
        yield Finding("PostgreSQL", "ok", answer.detail)


def _redis(config: Config) -> Iterator[Finding]:
    if not config.redis_url and not commands.status(config).running:
        yield Finding("Redis", "warn", "not running", "Start it with `make up`.")
        return
    answer = reachable.ask_redis(config.resolved_redis_url())
    where = "OMNI_REDIS_URL" if config.redis_url else "`make logs NAME=redis`"
    remedy = "" if answer.ok else f"Check {where}."
    yield Finding("Redis", "ok" if answer.ok else "fail", answer.detail, remedy)


def _broker(config: Config) -> Iterator[Finding]:
    if not config.broker_url:
        yield Finding("Broker", "ok", "the Redis above")
        return
    answer = reachable.ask_broker(config.broker_url)
    remedy = "" if answer.ok else "Check OMNI_BROKER_URL."
    yield Finding("Broker", "ok" if answer.ok else "fail", answer.detail, remedy)


def _artifacts(config: Config) -> Iterator[Finding]:
    if config.artifact_store == "disk":
        yield Finding("Artifacts", "ok", f"on the disk, {config.home / 'artifacts'}")
        return
    client = bucket.connect(config)
    place = {"bucket": config.artifact_bucket, "prefix": config.artifact_prefix}
    bucket.look(client, **place)
    bucket.try_writing(client, **place)
    where = "/".join(filter(None, place.values()))
    if urlsplit(config.artifact_endpoint).scheme == "http":
        host = urlsplit(config.artifact_endpoint).hostname or ""
        if host not in LOOPBACK:
            remedy = "Use an https address in OMNI_ARTIFACT_ENDPOINT."
            yield Finding("Artifacts", "warn", f"in the bucket {where}, without TLS", remedy)
            return
    yield Finding("Artifacts", "ok", f"in the bucket {where}")


def _telemetry(config: Config) -> Iterator[Finding]:
    """Only warnings: a sink that is away harms nothing but its own copies."""
    for name in config.telemetry_sinks:
        title = f"Telemetry: {name}"
        reason, remedy = sink_trouble(config, name)
        yield Finding(title, "warn" if reason else "ok", reason or "ready", remedy)


def _web_worker_beat(config: Config) -> Iterator[Finding]:
    """Worker and beat as `/readyz` sees them."""
    if not commands.status(config).running:
        yield Finding("Web, worker, beat", "warn", "not running", "Start it with `make up`.")
        return
    ready, said = ask_ready(config)
    try:
        checks = json.loads(said)["checks"]
    except (ValueError, KeyError, TypeError):
        checks = {}
    if not checks:
        grade: Grade = "ok" if ready else "fail"
        yield Finding("Web", grade, "ready" if ready else said[:200] or "no answer", _logs(ready))
    for name, fact in checks.items():
        good, detail = _judge(fact)
        yield Finding(f"Ready: {name}", "ok" if good else "fail", detail, _logs(good))


def _judge(fact: object) -> tuple[bool, str]:
    if isinstance(fact, dict):
        good = fact.get("ok", fact.get("status") in ("ok", True))
        return bool(good), str(fact.get("detail") or fact.get("status") or ("ok" if good else "no"))
    return fact in ("ok", True), str(fact)


def _logs(good: bool) -> str:
    return "" if good else "Look with `make status` and `make logs`."


def _isolation(config: Config) -> Iterator[Finding]:
    found = probe()
    detail = ", ".join((found.tier, *found.extras))
    if found.missing:
        detail += f"; without {', '.join(found.missing)}"
    if found.tier == "namespaces":
        yield Finding("Isolation", "ok", detail)
    elif found.tier == "bubblewrap":
        yield Finding("Isolation", "ok", f"{detail} ({'; '.join(found.reasons)})")
    else:
        remedy = (
            "Allow unprivileged user namespaces, or install bubblewrap; until then code is refused."
        )
        yield Finding("Isolation", "warn", "; ".join(found.reasons), remedy)


def _model(config: Config) -> Iterator[Finding]:
    if not config.model_url:
        remedy = "Set OMNI_MODEL_URL to an OpenAI-compatible endpoint, such as Ollama's."
        yield Finding("Model", "warn", "no endpoint is configured", remedy)
        return
    answer = list_models(config.model_url)
    if answer.ok:
        names = ", ".join(answer.models[:5]) + (" …" if len(answer.models) > 5 else "")
        yield Finding("Model", "ok", f"{config.model_url}: {names}")
    else:
        remedy = "Start that server or correct OMNI_MODEL_URL."
        yield Finding("Model", "fail", f"{config.model_url}: {answer.reason}", remedy)


CHECKS: tuple[Callable[[Config], Iterator[Finding]], ...] = (
    _python,
    _settings,
    _disk,
    _memory,
    _web_port,
    _home_folder,
    _first_password,
    _embedded_servers,
    _database,
    _redis,
    _broker,
    _artifacts,
    _telemetry,
    _web_worker_beat,
    _isolation,
    _model,
)
