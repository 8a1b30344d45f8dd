"""Every command teaches itself, is documented, and starts fast."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from omni.cli.errors import ExitCode
from omni.cli.root import ENTRIES, root
from tests.cli.conftest import ROOT, Cli

DOCUMENT = " ".join((ROOT / "docs/cli.md").read_text().split())
HEAVY = ("django", "httpx", "pydantic", "rich", "psycopg", "cryptography", "celery", "redis")


def every_command() -> Iterator[tuple[str, click.Command]]:
    context = click.Context(root, info_name="omni")
    for name in ENTRIES:
        command = root.get_command(context, name)
        assert command is not None
        yield from with_verbs(name, command)


def with_verbs(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        for verb, each in command.commands.items():
            yield from with_verbs(f"{name} {verb}", each)


COMMANDS = dict(every_command())
LEAVES = {name: each for name, each in COMMANDS.items() if not isinstance(each, click.Group)}


@pytest.mark.req("CLI-1")
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example_of_itself(name: str) -> None:
    command = COMMANDS[name]
    context = click.Context(command, info_name=f"omni {name}")
    text = command.get_help(context)
    assert "Examples:" in text
    assert any(f"omni {name}" in line for line in command.examples)  # type: ignore[attr-defined]
    assert len(command.help or "") > 20


@pytest.mark.req("CLI-1")
@pytest.mark.parametrize("name", LEAVES)
def test_every_command_is_in_the_document(name: str) -> None:
    assert f"omni {name}" in DOCUMENT


@pytest.mark.req("CLI-1")
@pytest.mark.parametrize("name", LEAVES)
def test_every_command_that_shows_something_has_json(name: str) -> None:
    """Those without are a live display (`up`, `down`), a script, or Django's own commands."""
    options = {option for each in LEAVES[name].params for option in each.opts}
    assert ("--json" in options) == (name not in ("up", "down", "completion", "manage"))


def test_the_document_names_no_command_that_is_gone() -> None:
    named = set(re.findall(r"`omni ([a-z]+(?: [a-z][a-z-]+)?)", DOCUMENT))
    unknown = {each for each in named if each not in COMMANDS and each.split()[0] not in LEAVES}
    assert unknown == set()


def test_every_exit_code_is_in_the_document() -> None:
    assert [code for code in ExitCode if f"| {code.value} |" not in DOCUMENT] == []


def test_the_list_of_commands_says_what_the_commands_say() -> None:
    """The table exists so that help imports nothing; it must not drift."""
    for name, entry in ENTRIES.items():
        assert (COMMANDS[name].help or "").splitlines()[0] == entry.help


@pytest.mark.req("CLI-1")
@pytest.mark.parametrize("arguments", [["--help"], ["status"], ["projects", "list", "--help"]])
def test_help_and_status_load_nothing_heavy(alone: Cli, arguments: list[str]) -> None:
    script = (
        "import sys; from omni.cli.root import run; run(sys.argv[1:]);"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env=alone.env,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert result.stderr.strip() == "[]"


@pytest.mark.req("CLI-1")
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_that_says_how_to_install_it(alone: Cli, shell: str) -> None:
    script = alone("completion", shell).stdout
    assert "_OMNI_COMPLETE" in script
    assert script.startswith("# ")
    assert f"omni completion {shell}" in script


@pytest.mark.req("CLI-1")
def test_bash_completes_commands_and_choices(alone: Cli, tmp_path: Path) -> None:
    """The real shell, with the script it was given."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "omni").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m omni "$@"\n')
    (folder / "omni").chmod(0o755)
    (tmp_path / "script").write_text(alone("completion", "bash").stdout)

    def completed(*words: str) -> set[str]:
        line = " ".join(f"'{word}'" for word in words)
        ask = (
            f"source {tmp_path}/script; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1};"
            'compopt() { :; }; _omni_completion omni; printf "%s\\n" "${COMPREPLY[@]}"'
        )
        env = alone.env | {"PATH": f"{folder}:{alone.env['PATH']}"}
        done = subprocess.run(
            ["bash", "-c", ask], env=env, cwd=ROOT, capture_output=True, text=True, check=True
        )
        return set(done.stdout.split())

    assert completed("omni", "pro") == {"projects"}
    assert {"add-member", "archive"} <= completed("omni", "projects", "a")
    assert completed("omni", "tokens", "create", "x", "--scope", "wr") == {"write"}


@pytest.mark.req("CLI-1")
def test_a_slip_of_the_fingers_gets_a_suggestion(alone: Cli) -> None:
    assert "Did you mean `omni projects`?" in alone("projcts", code=2).stderr
    assert "Did you mean `omni tokens list`?" in alone("tokens", "lsit", code=2).stderr
    assert alone.problem("projects", "list", "--limit", "x", code=2)["category"] == "invalid"


def test_without_a_command_it_shows_help(alone: Cli) -> None:
    assert "omni up" in alone().stdout
    assert "Projects and their members." in alone("projects").stdout
