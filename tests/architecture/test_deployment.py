"""Production mode is clean by Django's own deployment checks, and models match their migrations."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def manage(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "omni.settings", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.req("SEC-1")
def test_the_deployment_checks_are_clean_in_production_mode() -> None:
    done = manage(
        *("check", "--deploy", "--fail-level", "WARNING"),
        OMNI_PUBLIC_URL="https://omni.example.org",
        OMNI_TRUSTED_PROXIES="1",
    )
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout


@pytest.mark.req("SEC-1")
@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("OMNI_PORT", "eighty", "OMNI_PORT must be a whole number"),
        ("OMNI_DEBUG", "maybe", "OMNI_DEBUG must be yes or no"),
        ("OMNI_LOG_FORMAT", "xml", "OMNI_LOG_FORMAT must be one of"),
        ("OMNI_PUBLIC_URL", "omni.example.org", "must start with http"),
        ("OMNI_DATABASE_URL", "mysql://localhost/x", "must start with postgresql://"),
    ],
)
def test_a_bad_setting_is_named_and_nothing_starts(name: str, value: str, words: str) -> None:
    done = manage("check", **{name: value})
    assert done.returncode != 0
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.req("SEC-1")
def test_debug_is_refused_on_a_reachable_address() -> None:
    done = manage("check", OMNI_DEBUG="1", OMNI_HOST="0.0.0.0")
    assert done.returncode != 0
    assert "OMNI_DEBUG" in done.stderr


@pytest.mark.req("OPS-3")
def test_models_and_migrations_agree() -> None:
    done = manage("makemigrations", "--check", "--dry-run")
    assert done.returncode == 0, done.stdout
