"""The commands for the installation on this machine, against one that `omni up` started."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, Installation


@pytest.mark.req("OPS-1")
def test_up_ends_with_where_to_go(installation: Installation) -> None:
    for address in ("/", "/admin/", "/api/docs/"):
        assert installation.url + address in installation.output
    assert "admin@omni.local" in installation.output


@pytest.mark.req("CLI-1")
def test_status_names_every_process(omni: Cli, installation: Installation) -> None:
    status = omni.json("status")
    assert status["running"] is True
    assert status["url"] == installation.url
    assert {each["name"] for each in status["processes"]} == {
        "postgres", "redis", "web", "worker", "beat",
    }  # fmt: skip
    assert re.search(r"^web +running +\d+", omni("status").stdout, re.MULTILINE)


@pytest.mark.req("CLI-1")
def test_a_second_up_says_that_it_runs(omni: Cli) -> None:
    assert "already running" in omni("up", code=7).stdout


@pytest.mark.req("CLI-1")
def test_logs_by_name_or_all(omni: Cli) -> None:
    assert omni("logs", "web", "-n", "2").stdout.count("\n") == 2
    everything = omni("logs", "-n", "2").stdout
    assert {"web", "worker", "beat"} <= {line.split()[0] for line in everything.splitlines()}
    lines = [json.loads(line) for line in omni("logs", "worker", "--json").stdout.splitlines()]
    assert {each["process"] for each in lines} == {"worker"}
    assert "Known logs" in omni("logs", "nothing", code=6).stderr


@pytest.mark.req("SEC-3")
def test_logs_hold_no_password_of_the_first_start(omni: Cli, installation: Installation) -> None:
    """Without a terminal it goes into a private file, and nowhere else."""
    kept = Path(omni.env["OMNI_HOME"]) / "keys" / "first-password.txt"
    password = re.search(r"[A-Za-z2-9]{5}(?:-[A-Za-z2-9]{5}){3}", kept.read_text())
    assert password is not None
    assert kept.stat().st_mode & 0o077 == 0
    assert password[0] not in installation.output + omni("logs", "-n", "10000").stdout


@pytest.mark.req("CLI-1")
def test_doctor_finds_this_installation_well(omni: Cli) -> None:
    findings = omni.json("doctor")
    assert {"name", "status", "detail", "remedy"} == set(findings[0])
    assert [each for each in findings if each["status"] == "fail"] == []
    shown = omni("doctor").stdout
    assert "✓ PostgreSQL" in shown
    assert " 0 to mend." in shown


@pytest.mark.req("CLI-1")
def test_doctor_fails_with_a_remedy(alone: Cli) -> None:
    result = alone("doctor", code=1, OMNI_DATABASE_URL="postgresql://nobody@127.0.0.1:1/none")
    assert re.search(r"^✗ PostgreSQL", result.stdout, re.MULTILINE)
    assert "→ Check OMNI_DATABASE_URL" in result.stdout
    assert "1 to mend" in result.stdout


@pytest.mark.req("CLI-1")
def test_reset_refuses_while_it_runs_and_asks_otherwise(omni: Cli, alone: Cli) -> None:
    assert "running" in omni("reset", "--yes", code=7).stderr
    home = Path(alone.env["OMNI_HOME"])
    assert alone.json("reset", "--yes") == {"home": str(home), "deleted": []}
    (home / "logs").mkdir(parents=True)
    (home / "omni-home.txt").write_text("")
    assert "add --yes" in alone("reset", code=2).stderr
    assert alone.terminal("reset", typed="n\n").code == 1
    assert (home / "logs").exists()
    assert set(alone.json("reset", "--yes")["deleted"]) == {"logs", "run"}
    assert not home.exists()


@pytest.mark.req("CLI-1")
def test_down_is_harmless_when_nothing_runs(alone: Cli) -> None:
    assert "not running" in alone("down").stdout


@pytest.mark.req("CLI-1")
def test_logs_before_the_first_start(alone: Cli) -> None:
    assert "never started" in alone("logs").stderr


@pytest.mark.req("CLI-1")
def test_manage_passes_everything_on(omni: Cli, alone: Cli) -> None:
    assert "changepassword" in omni("manage", "help").stdout
    assert "no planned" in omni("manage", "migrate", "--plan").stdout.lower()
    omni("manage", "nothing", code=1)
    assert "make up" in alone("manage", "check", code=1).stderr


@pytest.mark.req("CLI-1", "SEC-1")
def test_the_folder_it_is_called_from_is_not_searched_for_code(tmp_path: Path) -> None:
    """A stranger's `omni/` folder must not run with the administrator's token."""
    (tmp_path / "omni").mkdir()
    (tmp_path / "omni" / "__init__.py").write_text("raise SystemExit('hijacked')")
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [root / "bin" / "omni", "--version"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0 and "hijacked" not in done.stderr, done.stderr
