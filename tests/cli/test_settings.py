"""`omni settings`: what is in effect and why, without giving secrets away."""

from __future__ import annotations

from dataclasses import fields

import pytest

from omni.config import Config
from tests.cli.conftest import Cli


@pytest.mark.req("CLI-1")
def test_it_says_where_each_value_comes_from(alone: Cli) -> None:
    rows = {row["name"]: row for row in alone.json("settings", OMNI_LOG_LEVEL="DEBUG")}
    assert set(rows) == {f"OMNI_{spec.name.upper()}" for spec in fields(Config)}
    assert rows["OMNI_LOG_LEVEL"] == {
        "name": "OMNI_LOG_LEVEL",
        "value": "DEBUG",
        "source": "environment",
        "section": "Logs",
        "secret": False,
    }
    assert rows["OMNI_RATE_ANON"]["source"] == "default"


@pytest.mark.req("SEC-3")
def test_secret_settings_are_masked(alone: Cli) -> None:
    url = "postgresql://omni:hunter2secret@db.example.org:5433/omni?sslpassword=alsosecret"
    given = {"OMNI_DATABASE_URL": url, "OMNI_METRICS_TOKEN": "metricsecret"}
    for shown in (alone("settings", **given).stdout, alone("settings", "--json", **given).stdout):
        assert "secret@" not in shown
        assert "alsosecret" not in shown
        assert "metricsecret" not in shown
        assert "postgresql://omni:••••••••@db.example.org:5433/omni" in shown


@pytest.mark.req("CLI-1")
def test_the_page_of_documentation_is_the_same_on_every_machine(alone: Cli) -> None:
    """Neither the host's name, nor the environment, nor the folder may show."""
    first = alone("settings", "--markdown").stdout
    second = alone(
        "settings", "--markdown", OMNI_NODE_ID="elsewhere", OMNI_LOG_LEVEL="ERROR", TZ="Asia/Tokyo"
    ).stdout
    assert first == second
    assert alone.env["OMNI_HOME"] not in first
    for spec in fields(Config):
        assert f"`OMNI_{spec.name.upper()}`" in first
    assert "`OMNI_TOKEN`" in first


@pytest.mark.req("CLI-1")
def test_a_wrong_setting_is_named(alone: Cli) -> None:
    result = alone("settings", code=1, OMNI_PORT="lots")
    assert "OMNI_PORT must be a whole number" in result.stderr
