"""Settings that cannot work are refused with one sentence that names them and keeps passwords."""

from __future__ import annotations

import pytest

from omni.config import load
from omni.contracts.errors import ConfigError

pytestmark = pytest.mark.req("SEC-1")


def settings(**values: str) -> dict[str, str]:
    return {f"OMNI_{name.upper()}": value for name, value in values.items()}


def test_a_store_in_a_bucket_needs_a_bucket() -> None:
    with pytest.raises(ConfigError, match="OMNI_ARTIFACT_STORE") as refused:
        load(settings(artifact_store="s3"))
    assert "OMNI_ARTIFACT_BUCKET" in refused.value.remedy
    assert load(settings(artifact_store="s3", artifact_bucket="omni")).artifact_path_style


def test_https_without_a_proxy_is_refused_because_it_would_redirect_forever() -> None:
    """Only a trusted proxy can say that a request came over TLS; both settings are named."""
    https = settings(public_url="https://omni.example.org")
    with pytest.raises(ConfigError, match=r"OMNI_PUBLIC_URL.*OMNI_TRUSTED_PROXIES"):
        load(https)
    assert load(https | settings(trusted_proxies="1")).is_https


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("public_url", "ftp://omni.example.org", "must start with http:// or https://"),
        ("public_url", "http://", "names no host"),
        ("database_url", "mysql://u:hunter2@h/x", "postgresql:// or postgres://"),
        ("database_url", "postgresql://u:hunter2@h:port/x", "host or port is wrong"),
        ("redis_url", "http://:hunter2@h", "redis:// or rediss://"),
        ("redis_url", "localhost:6379", "redis:// or rediss://"),
        ("broker_url", "sqs://u:hunter2@h", "redis://, rediss://, amqp:// or amqps://"),
        ("email_url", "mail.example.org", "smtp:// or smtps://"),
        ("email_url", "smtp://u:hunter2@h:99999", "host or port is wrong"),
        ("email_url", "smtps://u:hunter2@h?tls=1", "tls=1 belongs to smtp://"),
        ("model_url", "file:///etc/passwd", "http:// or https://"),
        ("allowed_hosts", "omni.example.org,*", "not '*'"),
        ("allowed_hosts", "https://omni.example.org", "omni.example.org"),
        ("allowed_hosts", "omni.example.org:8000", "omni.example.org:8000"),
        ("cors_origins", "app.example.org", "https://app.example.org"),
        ("cors_origins", "*", "not '*'"),
        ("cors_origins", "https://app.example.org/path", "/path"),
        ("egress_private", "127.0.0.1", "127.0.0.1:8080"),
        ("egress_private", "10.0.0.0/8", "networks"),
        ("egress_private", "http://127.0.0.1:80", "not 'http"),
        ("artifact_store", "tape", "one of disk, s3"),
        ("artifact_bucket", "../etc", "letters, digits"),
        ("artifact_prefix", "/a/../b", "without a slash"),
        ("artifact_endpoint", "s3.example.org", "http:// or https://"),
        ("artifact_secret_key", "hunter2", "OMNI_ARTIFACT_ACCESS_KEY"),
        ("telemetry_sinks", "jsonl,syslog", "not 'syslog'"),
        ("otlp_endpoint", "grpc://collector", "http:// or https://"),
        ("otlp_headers", "hunter2", "name=value"),
    ],
)
def test_a_setting_that_cannot_work_is_named(name: str, value: str, words: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load(settings(**{name: value}))
    said = f"{refused.value.message} {refused.value.remedy}"
    assert f"OMNI_{name.upper()}" in said and words in said
    assert "hunter2" not in said


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("public_url", "http://192.0.2.1:8000"),
        ("database_url", "postgresql://u:p%40@db.example.org/omni?sslmode=require"),
        ("redis_url", "rediss://:p@cache.example.org:6379/0"),
        ("broker_url", "amqp://u:p@queue.example.org/omni"),
        ("email_url", "smtp://u:p@mail.example.org:587?tls=1"),
        ("email_url", "smtps://u:p@mail.example.org"),
        ("allowed_hosts", "omni.example.org,.example.com,[::1],192.0.2.1"),
        ("cors_origins", "https://app.example.org,http://localhost:3000,http://[::1]:3000"),
    ],
)
def test_a_setting_that_works_is_taken(name: str, value: str) -> None:
    assert load(settings(**{name: value}))
