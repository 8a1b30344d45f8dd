"""Every setting of the platform, read from OMNI_* with a safe default; free of any framework.

Django's settings, the supervisor and the command line all read this one dataclass, and
`docs/settings.md` is generated from it.
"""

from __future__ import annotations

import functools
import json
import os
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, get_type_hints
from urllib.parse import parse_qs, urlsplit

from dotenv import dotenv_values

from omni import config_checks
from omni.contracts.errors import ConfigError

ROOT = Path(__file__).resolve().parent.parent
LOOPBACK = ("127.0.0.1", "localhost", "::1")
REMEDY = "Correct it where it is set, in the environment or in .env; docs/settings.md explains it."


def _setting(default: Any, section: str, help: str, *, secret: bool = False) -> Any:
    return field(default=default, metadata={"section": section, "help": help, "secret": secret})


@dataclass(frozen=True, kw_only=True)
class Config:
    """A field named `port` is the setting `OMNI_PORT`."""

    home: Path = _setting(
        ROOT / ".omni", "Server", "Folder for data, keys, logs and sockets of this installation."
    )
    host: str = _setting("127.0.0.1", "Server", "Address the web server binds to.")
    port: int = _setting(8000, "Server", "Port of the web server.")
    public_url: str = _setting(
        "",
        "Server",
        "Address people use, such as `https://omni.example.org`. An https address switches on "
        "secure cookies, HSTS and the redirect to https, and needs OMNI_TRUSTED_PROXIES. Empty: "
        "`http://127.0.0.1:<port>`.",
    )
    web_workers: int = _setting(1, "Server", "Number of web server processes.")
    worker_concurrency: int = _setting(2, "Server", "Number of runs one worker executes at a time.")
    node_id: str = _setting(
        socket.gethostname(),
        "Server",
        "Name of this machine among several; shown with its workers.",
    )
    process: str = _setting(
        "command", "Server", "Name of this process in logs; the supervisor and the doors set it."
    )
    debug: bool = _setting(
        False, "Server", "Development mode with detailed error pages. Never on a reachable address."
    )
    heartbeat_seconds: int = _setting(
        5,
        "Server",
        "How often workers and beat report; after four missed reports they count as lost.",
    )
    workers_kept: int = _setting(
        50, "Server", "How many of the most recent workers and beats are remembered."
    )

    lease_seconds: int = _setting(
        10, "Runs", "How long a worker keeps a run without a sign of life; then another takes over."
    )
    artifact_max_bytes: int = _setting(256 * 1024 * 1024, "Runs", "Largest artifact.")
    artifact_store: str = _setting(
        "disk",
        "Artifacts",
        "Where the bytes of artifacts are kept: `disk` (the folder `artifacts` in `OMNI_HOME`) or "
        "`s3` (a bucket of an S3-compatible server).",
    )
    artifact_bucket: str = _setting("", "Artifacts", "Name of the bucket; it must exist.")
    artifact_prefix: str = _setting(
        "", "Artifacts", "Folder within the bucket, such as `omni/artifacts`. Empty: its top."
    )
    artifact_endpoint: str = _setting(
        "",
        "Artifacts",
        "Address of the S3-compatible server, such as `https://s3.example.org`. Empty: Amazon's.",
    )
    artifact_region: str = _setting("us-east-1", "Artifacts", "Region of the bucket.")
    artifact_access_key: str = _setting(
        "",
        "Artifacts",
        "Id of the key for the bucket. Empty, with the secret below: what the machine provides "
        "(instance role, `AWS_*` variables, shared files).",
        secret=True,
    )
    artifact_secret_key: str = _setting("", "Artifacts", "Secret of that key.", secret=True)
    artifact_path_style: bool = _setting(
        True,
        "Artifacts",
        "Name the bucket in the path of addresses, which every server understands; `no` names it "
        "in the host.",
    )

    sweep_seconds: int = _setting(
        2, "Runs", "How often runs are looked for that are due or whose worker fell silent."
    )
    mcp_check_seconds: int = _setting(
        300, "Runs", "How often each MCP server is checked and its catalog read anew."
    )
    mcp_programs: str = _setting(
        "",
        "Runs",
        "Folder with programs of MCP servers. In the sandbox it is `/workspace`, read-only; beside "
        "it they see what is below `/usr`.",
    )

    stream_heartbeat_seconds: int = _setting(
        15, "Runs", "How often an idle live stream gives a sign of life."
    )
    streams_per_user: int = _setting(
        64, "Runs", "Live streams one person may have open at a time, in each web process."
    )

    database_url: str = _setting(
        "",
        "Services",
        "`postgresql://user:password@host:port/name` (PostgreSQL 15 or newer with pgvector). "
        "Empty: the embedded server.",
        secret=True,
    )
    redis_url: str = _setting(
        "",
        "Services",
        "`redis://…` for cache, live updates and, by default, the broker. Empty: the embedded one.",
        secret=True,
    )
    broker_url: str = _setting(
        "",
        "Services",
        "Celery broker, `redis://…` or `amqp://…` (RabbitMQ). Empty: the Redis above.",
        secret=True,
    )

    allowed_hosts: tuple[str, ...] = _setting(
        (), "Security", "Further host names the server answers to, separated by commas."
    )
    cors_origins: tuple[str, ...] = _setting(
        (), "Security", "Origins whose scripts may call the API, separated by commas. Empty: none."
    )
    trusted_proxies: int = _setting(
        0,
        "Security",
        "Number of reverse proxies in front whose X-Forwarded-For and X-Forwarded-Proto are "
        "believed.",
    )
    django_secret: str = _setting(
        "",
        "Security",
        "Signing key for sessions. Empty: made on first start, kept in `keys/`.",
        secret=True,
    )
    secret_keys: tuple[str, ...] = _setting(
        (),
        "Security",
        "Fernet keys that encrypt stored secrets, newest first, separated by commas. Empty: made "
        "on first start, kept in `keys/`.",
        secret=True,
    )
    max_request_bytes: int = _setting(
        10 * 1024 * 1024, "Security", "Largest request body; a larger one is answered with 413."
    )
    rate_anon: str = _setting("60/min", "Security", "API requests without a sign-in, per address.")
    rate_user: str = _setting("1200/min", "Security", "API requests per signed-in user or token.")
    login_attempts: int = _setting(
        5, "Security", "Wrong passwords for one account from one address before it must wait."
    )
    login_cooldown_minutes: int = _setting(15, "Security", "How long it must wait then.")
    session_hours: int = _setting(336, "Security", "How long a sign-in in the browser lasts.")
    token_max_days: int = _setting(365, "Security", "Longest life of an API token.")
    metrics_token: str = _setting(
        "",
        "Security",
        "Bearer token for `/metrics`. Empty: only requests from this machine are answered, and "
        "none behind a proxy.",
        secret=True,
    )
    idempotency_hours: int = _setting(24, "Security", "How long an Idempotency-Key is remembered.")

    egress_private: tuple[str, ...] = _setting(
        (),
        "Security",
        "Places inside your network that tools may reach although their addresses are not public, "
        "as `host:port`, separated by commas.",
    )

    admin_email: str = _setting(
        "admin@omni.local", "People", "Login of the administrator made on first start."
    )
    email_url: str = _setting(
        "",
        "People",
        "`smtp://user:password@host:587?tls=1` or `smtps://user:password@host` for mail. Empty: "
        "none is sent, and operators hand out links to set a password.",
        secret=True,
    )
    email_from: str = _setting("omni@localhost", "People", "Sender of that mail.")

    log_level: str = _setting("INFO", "Logs", "DEBUG, INFO, WARNING or ERROR.")
    log_format: str = _setting(
        "auto", "Logs", "`console`, `json`, or `auto`: readable in a terminal, JSON elsewhere."
    )

    telemetry_sinks: tuple[str, ...] = _setting(
        (),
        "Telemetry",
        "Where copies of events go besides the log itself, separated by commas: `jsonl` (a file), "
        "`stdout`, `otlp` (OpenTelemetry spans). Empty: nowhere.",
    )
    telemetry_payloads: bool = _setting(
        True,
        "Telemetry",
        "Copies in `jsonl` and `stdout` carry payloads (without secrets). Erasing a payload from "
        "the log does not reach copies; `no` leaves payloads out of them.",
    )
    telemetry_file: str = _setting(
        "", "Telemetry", "The file of `jsonl`. Empty: `logs/events.jsonl` in `OMNI_HOME`."
    )
    telemetry_file_bytes: int = _setting(
        64 * 1024 * 1024,
        "Telemetry",
        "Size at which that file is set aside for a new one; the last four are kept.",
    )
    telemetry_queue: int = _setting(
        10_000,
        "Telemetry",
        "Events that may wait for one sink in one process; more are dropped and counted.",
    )
    otlp_endpoint: str = _setting(
        "http://127.0.0.1:4318/v1/traces",
        "Telemetry",
        "Where `otlp` sends spans, as OTLP over HTTP with protobuf.",
    )
    otlp_headers: tuple[str, ...] = _setting(
        (),
        "Telemetry",
        "Headers sent along, as `name=value`, separated by commas.",
        secret=True,
    )

    model_url: str = _setting(
        "",
        "Models",
        "OpenAI-compatible endpoint, such as `http://127.0.0.1:11434/v1` for Ollama; `omni doctor` "
        "checks that it answers.",
    )

    @property
    def run_dir(self) -> Path:
        return self.home / "run"

    @property
    def log_dir(self) -> Path:
        return self.home / "logs"

    @property
    def key_dir(self) -> Path:
        return self.home / "keys"

    @property
    def endpoints_file(self) -> Path:
        """Where the supervisor writes the addresses of the embedded servers, mode 0600."""
        return self.run_dir / "endpoints.json"

    @property
    def base_url(self) -> str:
        return (self.public_url or f"http://{self._url_host}:{self.port}").rstrip("/")

    @property
    def _url_host(self) -> str:
        if self.host in ("0.0.0.0", "::"):  # noqa: S104  (compared, never bound)
            return "127.0.0.1"
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def is_https(self) -> bool:
        return self.public_url.startswith("https://")

    def resolved_database_url(self) -> str:
        return self.database_url or self._embedded("database_url", "PostgreSQL")

    def resolved_redis_url(self) -> str:
        return self.redis_url or self._embedded("redis_url", "Redis")

    def resolved_broker_url(self) -> str:
        return self.broker_url or self.resolved_redis_url()

    def _embedded(self, key: str, what: str) -> str:
        try:
            value = json.loads(self.endpoints_file.read_text()).get(key, "")
        except (OSError, ValueError):
            value = ""
        if not value:
            raise ConfigError(
                f"The embedded {what} server of this installation is not known.",
                remedy=f"Run `make up` first, or set OMNI_{key.upper()}.",
            )
        return str(value)


def load(environ: Mapping[str, str] | None = None) -> Config:
    """Read the settings; a value that cannot be understood is a ConfigError naming it."""
    if environ is None:
        environ = os.environ
        from_file = dotenv_values(ROOT / ".env")
        environ = {**{k: v for k, v in from_file.items() if v is not None}, **os.environ}
    kinds = get_type_hints(Config)
    try:
        values = {
            spec.name: _parse(name, raw, kinds[spec.name])
            for spec in fields(Config)
            if (raw := environ.get(name := f"OMNI_{spec.name.upper()}", "").strip())
        }
        return _checked(Config(**values))
    except ConfigError as error:
        error.remedy = error.remedy or REMEDY
        raise


@functools.cache
def current() -> Config:
    """The settings of this process, read once."""
    return load()


def _parse(name: str, raw: str, kind: Any) -> Any:
    try:
        if kind is bool:
            return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}[
                raw.lower()
            ]
        if kind is int:
            return int(raw)
        if kind is Path:
            return Path(raw).expanduser().absolute()
        if kind == tuple[str, ...]:
            return tuple(part.strip() for part in raw.split(",") if part.strip())
    except (KeyError, ValueError):
        wanted = "yes or no" if kind is bool else "a whole number"
        raise ConfigError(f"{name} must be {wanted}, not {raw!r}.") from None
    return raw


_RANGES = {
    "port": (1, 65535),
    "web_workers": (1, 64),
    "worker_concurrency": (1, 256),
    "heartbeat_seconds": (1, 300),
    "workers_kept": (1, 10_000),
    "lease_seconds": (1, 600),
    "artifact_max_bytes": (1024, 1 << 40),
    "sweep_seconds": (1, 60),
    "mcp_check_seconds": (10, 86_400),
    "stream_heartbeat_seconds": (1, 300),
    "streams_per_user": (1, 10_000),
    "telemetry_file_bytes": (1 << 16, 1 << 40),
    "telemetry_queue": (100, 1_000_000),
    "trusted_proxies": (0, 10),
    "max_request_bytes": (1024, 1 << 32),
    "login_attempts": (1, 100),
    "login_cooldown_minutes": (1, 1440),
    "session_hours": (1, 8760),
    "token_max_days": (1, 3650),
    "idempotency_hours": (1, 720),
}
_CHOICES = {
    "log_level": ("DEBUG", "INFO", "WARNING", "ERROR"),
    "log_format": ("auto", "console", "json"),
    "artifact_store": ("disk", "s3"),
}
_HOST = r"(?:[\w-]+(?:\.[\w-]+)*|\[[0-9A-Fa-f:.]+\])"
_URLS = {
    "public_url": ("http", "https"),
    "database_url": ("postgresql", "postgres"),
    "redis_url": ("redis", "rediss"),
    "broker_url": ("redis", "rediss", "amqp", "amqps"),
    "email_url": ("smtp", "smtps"),
    "model_url": ("http", "https"),
    "artifact_endpoint": ("http", "https"),
    "otlp_endpoint": ("http", "https"),
}


def _checked(config: Config) -> Config:
    for name, (low, high) in _RANGES.items():
        if not low <= getattr(config, name) <= high:
            raise ConfigError(f"OMNI_{name.upper()} must be between {low} and {high}.")
    for name, choices in _CHOICES.items():
        if getattr(config, name) not in choices:
            raise ConfigError(f"OMNI_{name.upper()} must be one of {', '.join(choices)}.")
    for name in ("rate_anon", "rate_user"):
        if not re.fullmatch(r"[1-9][0-9]{0,8}/(s|sec|m|min|h|hour|d|day)", getattr(config, name)):
            raise ConfigError(f"OMNI_{name.upper()} must be like 60/min, 5/sec or 1000/hour.")
    for name, schemes in _URLS.items():
        _check_url(name, getattr(config, name), schemes)
    _check_doors(config)
    _check_transport(config)
    config_checks.check_artifacts(config)
    config_checks.check_telemetry(config)
    return config


def _check_doors(config: Config) -> None:
    for host in config.allowed_hosts:
        if not re.fullmatch(rf"\.?{_HOST}", host):
            raise ConfigError(
                f"OMNI_ALLOWED_HOSTS must list names such as omni.example.org, not {host!r}.",
                remedy="Leave out scheme and port; * is not accepted, because it allows any name.",
            )
    for origin in config.cors_origins:
        if not re.fullmatch(rf"https?://{_HOST}(:[0-9]{{1,5}})?", origin):
            raise ConfigError(
                f"OMNI_CORS_ORIGINS must list origins, not {origin!r}.",
                remedy="An origin has a scheme and a host, such as https://app.example.org.",
            )

    for place in config.egress_private:
        if not re.fullmatch(rf"{_HOST}:[0-9]{{1,5}}", place):
            raise ConfigError(
                f"OMNI_EGRESS_PRIVATE must list places such as 127.0.0.1:8080, not {place!r}.",
                remedy="Give each host with its port; networks and patterns are not accepted.",
            )


def _check_transport(config: Config) -> None:
    if config.debug and config.host not in LOOPBACK:
        raise ConfigError(
            "OMNI_DEBUG shows internals to every visitor, and OMNI_HOST is not a loopback address.",
            remedy="Switch one of them off.",
        )
    if config.is_https and not config.trusted_proxies:
        raise ConfigError(
            "OMNI_PUBLIC_URL is an https address, but OMNI_TRUSTED_PROXIES is 0: no request could "
            "be seen to arrive over TLS, and every answer would be another redirect.",
            remedy="Put a reverse proxy with TLS in front and set OMNI_TRUSTED_PROXIES=1.",
        )
    mail = urlsplit(config.email_url)
    if mail.scheme == "smtps" and "tls" in parse_qs(mail.query):
        raise ConfigError(
            "OMNI_EMAIL_URL is encrypted by smtps:// already; tls=1 belongs to smtp://."
        )


def _check_url(name: str, url: str, schemes: tuple[str, ...]) -> None:
    """The scheme, the host and the port; the rest may be a password and is never repeated."""
    if not url:
        return
    setting = f"OMNI_{name.upper()}"
    *first, last = (f"{scheme}://" for scheme in schemes)
    try:
        parts = urlsplit(url)
        port, host = parts.port, parts.hostname
    except ValueError:
        raise ConfigError(f"{setting} is not a valid address: its host or port is wrong.") from None
    if parts.scheme not in schemes:
        raise ConfigError(f"{setting} must start with {', '.join(first)} or {last}.")
    if not host or port == 0:
        raise ConfigError(f"{setting} names no host and port to connect to.")
