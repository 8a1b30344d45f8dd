"""A folder of the machine in a cell: as writable as was said, and no way out of it."""

from __future__ import annotations

import os
import shutil
from contextlib import nullcontext
from pathlib import Path

import pytest

from omni.sandbox.cell import workspace as inside
from omni.sandbox.cell.kernel import SetupFailed
from tests.sandbox.conftest import Run

pytestmark = [pytest.mark.req("SBX-1"), pytest.mark.xdist_group("sandbox")]

only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has folders to hand over")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Private, as every run's workspace is, below a folder that others may not enter."""
    place = tmp_path / "closed" / "workspace"
    place.mkdir(parents=True)
    place.parent.chmod(0o700)
    place.chmod(0o700)
    (place / "note.txt").write_text("from outside")
    (tmp_path / "closed" / "secret.txt").write_text("secret")
    return place


def test_it_can_be_read_but_not_changed(run_python: Run, folder: Path) -> None:
    result = run_python(
        "import os\n"
        "print(os.getcwd(), open('note.txt').read())\n"
        "for attempt in (lambda: open('new', 'w'), lambda: os.remove('note.txt'),\n"
        "                lambda: os.chmod('note.txt', 0o777), lambda: os.mkdir('sub')):\n"
        "    try: attempt(); print('escaped')\n"
        "    except OSError: pass\n",
        workspace=folder,
    )
    assert result.stdout == b"/workspace from outside\n", result
    assert os.listdir(folder) == ["note.txt"]


def test_what_is_made_there_belongs_to_the_platform(run_python: Run, folder: Path) -> None:
    result = run_python(
        "import os\n"
        "os.makedirs('made/deep', mode=0o700)\n"
        "open('made/deep/new.txt', 'w').write('from inside')\n"
        "os.chmod('made/deep/new.txt', 0o600)\n"
        "open('note.txt', 'a').write(' and inside')\n",
        workspace=folder,
        writable=True,
    )
    assert result.status == "ok", result.stderr
    assert (folder / "made/deep/new.txt").read_text() == "from inside"
    assert (folder / "note.txt").read_text() == "from outside and inside"
    owners = {path.lstat().st_uid for path in folder.rglob("*")}
    assert owners == {os.getuid()}
    shutil.rmtree(folder)


def test_links_lead_nowhere(run_python: Run, folder: Path) -> None:
    """Inside there is nothing of the machine to lead to; outside they are the reader's concern."""
    (folder / "up").symlink_to("../secret.txt")
    (folder / "absolute").symlink_to(folder.parent / "secret.txt")
    (folder / "passwd").symlink_to("/etc/passwd")
    result = run_python(
        "import os\n"
        "for name in ('up', 'absolute', '../secret.txt', '../closed/secret.txt'):\n"
        "    try: open(name); print('escaped', name)\n"
        "    except OSError: pass\n"
        "print('root:' in open('passwd').read())\n"
        "os.symlink('/etc/shadow', 'planted')\n",
        workspace=folder,
        writable=True,
    )
    assert (result.status, result.stdout) == ("ok", b"False\n"), result


def test_programs_there_gain_no_rights(run_python: Run, folder: Path) -> None:
    shutil.copy("/usr/bin/id", folder / "id")
    (folder / "id").chmod(0o4755)
    code = "import subprocess; print(subprocess.run(['./id', '-u'], capture_output=True).stdout)"
    result = run_python(code, workspace=folder)
    assert b"1000" in result.stdout, result


@only_root
def test_a_folder_of_somebody_else_stays_theirs(run_python: Run, folder: Path) -> None:
    """Root serves other people's folders too; what a job makes there is the owner's."""
    for path in (folder, folder / "note.txt"):
        os.chown(path, 4242, 4343)
    result = run_python("open('new.txt', 'w').write('x')", workspace=folder, writable=True)
    assert result.status == "ok", result.stderr
    facts = (folder / "new.txt").stat()
    assert (facts.st_uid, facts.st_gid) == (4242, 4343)


@only_root
@pytest.mark.parametrize("writable", [True, False])
def test_without_mapped_mounts_it_is_handed_over(writable: bool, folder: Path) -> None:
    """A file system that cannot show its files as another user's: they become that user's."""

    class NoMaps(inside.Users):
        def namespace(self, owner: int, group: int) -> int:
            raise SetupFailed("not supported")

    (folder / "sub").mkdir()
    (folder / "link").symlink_to(folder.parent / "secret.txt")
    request = {"workspace": str(folder), "writable": writable}
    tree = inside.open_workspace(request, NoMaps(4242))
    try:
        with pytest.raises(OSError) if not writable else nullcontext():
            os.close(os.open("note.txt", os.O_WRONLY, dir_fd=tree))
    finally:
        os.close(tree)
    assert {path.lstat().st_uid for path in (folder, *folder.rglob("*"))} == {4242}
    assert (folder.parent / "secret.txt").stat().st_uid == 0
