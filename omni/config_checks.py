"""Settings that only make sense together; each refusal names them and says what to do."""

from __future__ import annotations

import re
from typing import Protocol

from omni.contracts.errors import ConfigError

SINKS = ("jsonl", "stdout", "otlp")


class ArtifactSettings(Protocol):
    """What is looked at for the store of artifacts."""

    @property
    def artifact_store(self) -> str: ...
    @property
    def artifact_bucket(self) -> str: ...
    @property
    def artifact_prefix(self) -> str: ...
    @property
    def artifact_access_key(self) -> str: ...
    @property
    def artifact_secret_key(self) -> str: ...


class TelemetrySettings(Protocol):
    """What is looked at for the sinks."""

    @property
    def telemetry_sinks(self) -> tuple[str, ...]: ...
    @property
    def otlp_headers(self) -> tuple[str, ...]: ...


def check_artifacts(config: ArtifactSettings) -> None:
    if config.artifact_store == "s3" and not config.artifact_bucket:
        raise ConfigError(
            "OMNI_ARTIFACT_STORE is s3, but no bucket is named.",
            remedy="Set OMNI_ARTIFACT_BUCKET.",
        )
    if not re.fullmatch(r"([A-Za-z0-9][A-Za-z0-9._-]{1,253})?", config.artifact_bucket):
        raise ConfigError("OMNI_ARTIFACT_BUCKET must be a name of letters, digits, . - and _.")
    if not re.fullmatch(r"([\w-][\w.-]*(/[\w-][\w.-]*)*)?", config.artifact_prefix, re.ASCII):
        raise ConfigError(
            "OMNI_ARTIFACT_PREFIX must be like omni/artifacts, without a slash at its ends."
        )
    if bool(config.artifact_access_key) != bool(config.artifact_secret_key):
        raise ConfigError(
            "OMNI_ARTIFACT_ACCESS_KEY and OMNI_ARTIFACT_SECRET_KEY belong together; one is empty."
        )


def check_telemetry(config: TelemetrySettings) -> None:
    for name in config.telemetry_sinks:
        if name not in SINKS:
            raise ConfigError(f"OMNI_TELEMETRY_SINKS may list {', '.join(SINKS)}, not {name!r}.")
    if not all(re.fullmatch(r"[\w-]+=[^\r\n]+", each) for each in config.otlp_headers):
        raise ConfigError("OMNI_OTLP_HEADERS must list headers as name=value.")
