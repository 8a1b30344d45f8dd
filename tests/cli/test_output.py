"""What people and pipes see."""

from __future__ import annotations

import pytest

from omni.cli.text import clean
from tests.cli.conftest import Cli

SLUG = "a-project-with-quite-a-long-short-name"


@pytest.fixture
def wide(ada: Cli) -> Cli:
    if not any(row["slug"] == SLUG for row in ada.json("projects", "list")):
        about = "Words that take more room than a narrow terminal has to offer for them."
        ada("projects", "create", "Wide", "--slug", SLUG, "--description", about)
    return ada


@pytest.mark.req("CLI-1")
def test_a_pipe_gets_plain_columns(wide: Cli) -> None:
    result = wide("projects", "list", "--search", SLUG)
    header, row = result.stdout.splitlines()
    assert header.split() == ["Slug", "Name", "Description", "Created"]
    assert row.startswith(f"{SLUG}  Wide  Words that take more room")
    assert "\x1b" not in result.stdout + result.stderr
    assert result.stdout.isascii(), "no box characters"
    assert result.stderr == ""


@pytest.mark.req("CLI-1")
@pytest.mark.parametrize("columns", [30, 60, 100])
def test_no_line_is_wider_than_the_terminal(wide: Cli, columns: int) -> None:
    """Only a word that is longer than a line may be."""
    for arguments in (
        ("projects", "list", "--search", SLUG),
        ("roles",),
        ("audit", "list", "-n", "5"),
        ("tokens", "list"),
    ):
        shown = wide.terminal(*arguments, columns=columns)
        assert shown.code == 0
        for line in shown.text.splitlines():
            longest_word = max(map(len, line.split()), default=0)
            assert len(line) <= columns or longest_word > columns - 20, line


@pytest.mark.req("CLI-1")
def test_a_terminal_gets_colour_unless_it_is_unwanted(wide: Cli) -> None:
    arguments = ("projects", "list", "--search", SLUG)
    assert "\x1b[1m" in wide.terminal(*arguments, columns=160).raw
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        shown = wide.terminal("whoami", **env)
        assert "\x1b[" not in shown.raw
        assert "ada@example.org" in shown.raw


@pytest.mark.req("CLI-1")
def test_without_colour_a_terminal_gets_no_spinner(wide: Cli) -> None:
    shown = wide.terminal("projects", "list", columns=160, NO_COLOR="1", TERM="dumb")
    assert "Reading" not in shown.raw


@pytest.mark.req("CLI-1")
def test_times_are_local_and_json_is_utc(wide: Cli) -> None:
    made = wide.json("projects", "show", SLUG, TZ="Asia/Tokyo")["created_at"]
    assert made.endswith("Z")
    hour = int(made[11:13])
    shown = wide("projects", "show", SLUG, TZ="Asia/Tokyo").stdout
    created = next(line for line in shown.splitlines() if line.startswith("Created"))
    assert int(created.split()[2][:2]) == (hour + 9) % 24


@pytest.mark.req("CLI-1")
def test_foreign_text_cannot_control_the_terminal(ada: Cli) -> None:
    """A name with escape codes is refused; one from another server is shown, not obeyed."""
    evil = "Evil \x1b]0;owned\x07\x1b[2J name"
    refused = ada("projects", "create", evil, "--slug", "evil", code=8)
    assert "Control characters" in refused.stderr
    assert clean(evil) == "Evil �]0;owned��[2J name"


@pytest.mark.req("CLI-1")
def test_nothing_is_a_remark_not_a_row(ada: Cli) -> None:
    result = ada("projects", "list", "--search", "there is no such thing")
    assert result.stdout == ""
    assert "omni projects create" in result.stderr
    assert ada.json("projects", "list", "--search", "there is no such thing") == []


@pytest.mark.req("CLI-1")
def test_a_terminal_is_asked_before_something_is_lost(ada: Cli) -> None:
    ada("projects", "create", "Asked", "--slug", "asked")
    no = ada.terminal("projects", "archive", "asked", typed="n\n")
    assert no.code == 1
    assert "Nothing was changed" in no.text
    assert ada.json("projects", "show", "asked")["archived"] is False
    assert ada.terminal("projects", "archive", "asked", typed="\x03").code == 130
    assert ada.terminal("projects", "archive", "asked", typed="y\n").code == 0
    assert ada.json("projects", "show", "asked")["archived"] is True


def test_an_old_encoding_loses_signs_not_the_command(ada: Cli) -> None:
    result = ada("projects", "create", "Schön", "--slug", "schoen", PYTHONIOENCODING="ascii")
    assert "/projects/schoen/" in result.stdout
