"""Secrets: into the platform by standard input or a hidden prompt, out of it never."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import psycopg
import pytest
from cryptography.fernet import Fernet

from tests.cli.conftest import OMNI, ROOT, Cli, Installation

VALUE = "correct horse battery staple 42"


@pytest.fixture
def project(ada: Cli) -> str:
    slug = f"vault-{time.time_ns()}"
    ada("projects", "create", "Vault", "--slug", slug)
    return slug


def read_back(installation: Installation, name: str, slug: str, key: str = "") -> str:
    """From the database itself: no command shows it. The key is the file's unless one is given."""
    home = Path(installation.env["OMNI_HOME"])
    query = (
        "SELECT ciphertext FROM tools_secret s JOIN registry_project p ON p.id = s.project_id"
        " WHERE s.name = %s AND p.slug = %s"
    )
    url = json.loads((home / "run/endpoints.json").read_text())["database_url"]
    with psycopg.connect(url) as connection:
        row = connection.execute(query, [name, slug]).fetchone()
    assert row is not None
    sealed = bytes(row[0])
    assert VALUE.encode() not in sealed
    (only,) = (key or (home / "keys/secrets.key").read_text()).split()
    return Fernet(only).decrypt(sealed).decode()


@pytest.mark.req("SEC-3")
def test_a_secret_is_set_listed_and_deleted_but_never_shown(
    ada: Cli, project: str, installation: Installation
) -> None:
    where = ("--project", project)
    said = ada("secrets", "set", "KEY", *where, "--description", "Deploys", input=f"{VALUE}\n")
    as_json = ada("secrets", "set", "KEY", *where, "--json", input=f"{VALUE}\n")
    row = json.loads(as_json.stdout)
    assert set(row) == {
        "name", "reference", "description", "set_by", "created_at", "updated_at", "last_used_at",
    }  # fmt: skip
    listed = ada("secrets", "list", *where)
    for result in (said, as_json, listed):
        assert VALUE not in result.stdout + result.stderr
    assert read_back(installation, "KEY", project) == VALUE, "without the final line break"
    ada("secrets", "delete", "KEY", *where, code=2)
    assert ada.json("secrets", "delete", "KEY", *where, "--yes")["deleted"] is True
    ada("secrets", "delete", "KEY", *where, "--yes", code=6)


@pytest.mark.req("SEC-3")
def test_the_prompt_shows_nothing(ada: Cli, project: str, installation: Installation) -> None:
    shown = ada.terminal("secrets", "set", "TYPED", "--project", project, typed=f"{VALUE}\n")
    assert shown.code == 0, shown.text
    assert VALUE not in shown.raw
    assert read_back(installation, "TYPED", project) == VALUE


@pytest.mark.req("SEC-3")
def test_a_value_is_never_taken_from_the_command_line(ada: Cli, project: str) -> None:
    for arguments in (("KEY", VALUE), ("KEY", "--value", VALUE), (f"KEY={VALUE}",)):
        result = ada(
            "secrets",
            "set",
            *arguments,
            "--project",
            project,
            input="x",
            code=2 if len(arguments) > 1 else 8,
        )
        assert result.returncode
    assert ada.json("secrets", "list", "--project", project) == []


@pytest.mark.req("SEC-3")
def test_the_process_list_shows_no_secret(ada: Cli, project: str) -> None:
    """Whoever else is on this machine can read every process's arguments."""
    child = subprocess.Popen(
        [*OMNI, "secrets", "set", "KEY", "--project", project],
        env=ada.env, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    arguments = Path(f"/proc/{child.pid}/cmdline").read_bytes().decode()
    child.communicate(VALUE.encode(), timeout=120)
    assert child.returncode == 0
    assert VALUE not in arguments
    assert ada.env["OMNI_TOKEN"] not in arguments


@pytest.mark.req("SEC-3")
@pytest.mark.parametrize("value", ["", "\n"])
def test_an_empty_secret_is_refused(ada: Cli, project: str, value: str) -> None:
    result = ada("secrets", "set", "KEY", "--project", project, input=value, code=8)
    assert "cannot be empty" in result.stderr


@pytest.mark.req("SEC-3")
def test_secrets_of_the_platform_are_for_operators(omni: Cli, ada: Cli) -> None:
    omni("secrets", "set", "SHARED", input=VALUE)
    assert [row["name"] for row in omni.json("secrets", "list")] == ["SHARED"]
    ada("secrets", "list", code=5)
    ada("secrets", "set", "SHARED", input="mine", code=5)
    omni("secrets", "delete", "SHARED", "--yes")


@pytest.mark.req("SEC-3")
def test_rotation_reseals_everything_and_drops_the_old_key(
    omni: Cli, ada: Cli, project: str, installation: Installation
) -> None:
    """The running web server goes on with the new key; the old one is gone from the file."""
    keys = Path(installation.env["OMNI_HOME"]) / "keys/secrets.key"
    ada("secrets", "set", "OLD", "--project", project, input=VALUE)
    before = keys.read_text().split()
    omni("secrets", "rotate-key", code=2)
    result = omni.json("secrets", "rotate-key", "--yes")
    after = keys.read_text().split()
    assert result["resealed"] >= 1
    assert result["dropped"] == len(before)
    assert len(after) == 1
    assert not set(before) & set(after)
    assert read_back(installation, "OLD", project) == VALUE
    ada("secrets", "set", "NEW", "--project", project, input=VALUE)
    assert read_back(installation, "NEW", project) == VALUE
    assert keys.stat().st_mode & 0o777 == 0o600
    again = omni("secrets", "rotate-key", "--yes")
    assert not set(after) & set((again.stdout + again.stderr).split())


@pytest.mark.req("SEC-3")
def test_rotation_with_keys_from_the_environment(
    omni: Cli, ada: Cli, project: str, installation: Installation
) -> None:
    """The file is not touched; everything is sealed with the first key of the list."""
    keys = Path(installation.env["OMNI_HOME"]) / "keys/secrets.key"
    ada("secrets", "set", "KEPT", "--project", project, input=VALUE)
    (old,) = keys.read_text().split()
    new = Fernet.generate_key().decode()
    given = {"OMNI_SECRET_KEYS": f"{new},{old}"}
    result = omni("secrets", "rotate-key", "--yes", **given)
    assert "remove every key but the first" in result.stderr
    assert keys.read_text().split() == [old]
    assert read_back(installation, "KEPT", project, new) == VALUE
    # Back to the file for the tests that follow.
    omni("secrets", "rotate-key", "--yes", OMNI_SECRET_KEYS=f"{old},{new}")
    assert read_back(installation, "KEPT", project) == VALUE


@pytest.mark.req("CLI-1")
def test_rotation_needs_the_database(alone: Cli) -> None:
    assert "omni up" in alone("secrets", "rotate-key", "--yes", code=1).stderr.replace(
        "make", "omni"
    )
    assert not os.path.exists(Path(alone.env["OMNI_HOME"]) / "keys/secrets.key")
