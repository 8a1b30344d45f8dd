"""A workspace: files below one folder, whatever paths and links others come up with."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omni.contracts.errors import NotFound, OmniError, PermissionDenied
from omni.sandbox.workspace import Entry, TooMuch, Workspace, parts_of

OUTSIDE = "outside the workspace"


@pytest.fixture
def files(tmp_path: Path) -> Workspace:
    (tmp_path / "secret.txt").write_text(OUTSIDE)
    root = tmp_path / "root"
    root.mkdir()
    return Workspace(root)


def test_what_is_written_is_read_and_listed(files: Workspace) -> None:
    files.write("notes/today.md", b"one")
    files.write("notes/today.md", b"two")
    files.write("a.txt", b"")
    assert files.read("notes//./today.md", max_bytes=10) == b"two"
    assert files.entries(depth=2) == [
        Entry("a.txt", "file", 0),
        Entry("notes", "folder", 0),
        Entry("notes/today.md", "file", 3),
    ]
    files.remove("a.txt")
    assert files.find("a.txt", max_bytes=10) is None
    assert not list(files.root.rglob("*.part"))


@pytest.mark.req("TOOL-7")
@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "a/../../secret.txt",
        "/etc/passwd",
        "~/secret.txt",
        "..\\secret.txt",
        "a\x00b",
        "..",
        "\ud800",
        "x" * 300,
        "/".join("a" * 40),
        "",
        ".",
    ],
)
def test_a_path_that_leads_out_is_refused(files: Workspace, path: str) -> None:
    for act in (
        lambda: files.read(path, max_bytes=100),
        lambda: files.write(path, b"x"),
        lambda: files.remove(path),
    ):
        with pytest.raises(PermissionDenied) as caught:
            act()
        assert caught.value.remedy


@pytest.mark.req("TOOL-7")
@pytest.mark.parametrize("target", ["../secret.txt", "/etc/passwd", ".."])
def test_no_link_is_followed(files: Workspace, target: str) -> None:
    os.symlink(target, files.root / "link")
    for path in ("link", "link/secret.txt"):
        with pytest.raises(PermissionDenied):
            files.read(path, max_bytes=100)
        with pytest.raises(PermissionDenied):
            files.write(path, b"gone")
    with pytest.raises(PermissionDenied):
        files.remove("link")
    assert files.entries() == [Entry("link", "link", 0)]
    assert (files.root.parent / "secret.txt").read_text() == OUTSIDE


@pytest.mark.req("TOOL-7")
def test_special_files_are_not_opened(files: Workspace) -> None:
    """A pipe without a writer would hold a worker for ever."""
    os.mkfifo(files.root / "pipe")
    with pytest.raises(PermissionDenied):
        files.read("pipe", max_bytes=10)
    with pytest.raises(PermissionDenied):
        files.write("pipe", b"x")
    (files.root / "folder").mkdir()
    with pytest.raises(PermissionDenied):
        files.read("folder", max_bytes=10)


def test_bounds_are_kept(files: Workspace) -> None:
    files.write("big", b"x" * 11)
    with pytest.raises(TooMuch):
        files.read("big", max_bytes=10)
    for number in range(5):
        files.write(f"f{number}", b"")
    with pytest.raises(TooMuch):
        files.entries(most=3)
    with pytest.raises(NotFound):
        files.read("nothing/here", max_bytes=10)


@given(st.text(max_size=80))
def test_a_path_is_refused_or_stays_below(path: str) -> None:
    try:
        parts = parts_of(path)
    except OmniError:
        return
    assert all(part not in ("", ".", "..") and "/" not in part and "\x00" not in part
               for part in parts)  # fmt: skip
