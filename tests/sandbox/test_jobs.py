"""What a job gets and gives: input, files, variables, output, an end; nothing of another job."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import get_args

import psutil
import pytest

from omni.contracts.errors import InvalidInput
from omni.sandbox.job import Job, Limits, OutputFile, Result, Status, run, run_in
from omni.sandbox.meaning import CATEGORY, sentence
from omni.sandbox.zygote import Zygote
from tests.sandbox.conftest import Run

pytestmark = [pytest.mark.req("SBX-1"), pytest.mark.xdist_group("sandbox")]


def test_a_command_of_the_system_runs(zygote: Zygote) -> None:
    job = Job(("sh", "-c", "tr a-z A-Z; echo problem >&2; exit 3"), stdin=b"hello\n" * 50_000)
    result = run_in(zygote.open, job)
    assert (result.status, result.exit_code) == ("error", 3)
    assert result.stdout == b"HELLO\n" * 50_000
    assert result.stderr == b"problem\n"


def test_the_public_door_says_which_tier_it_used() -> None:
    result = run(Job(("python3", "-c", "print(6 * 7)")))
    assert (result.status, result.stdout) == ("ok", b"42\n")
    assert result.usage["tier"] == "namespaces"
    assert result.usage["wall_seconds"] > 0 and result.usage["memory_peak_bytes"] > 0


ORDINARY = b"""
import asyncio, ctypes, multiprocessing, socket, sqlite3, ssl, subprocess, tempfile
from multiprocessing import shared_memory

def square(number):
    return number * number

if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        assert pool.map(square, range(3)) == [0, 1, 4]
    assert asyncio.run(asyncio.sleep(0, "done")) == "done"
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"x")
    sqlite3.connect("a.db").execute("CREATE TABLE a (b)")
    assert ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 7)() == 7
    memory = shared_memory.SharedMemory(create=True, size=1000)
    memory.close(), memory.unlink()
    with socket.create_server(("127.0.0.1", 0)) as door:
        socket.create_connection(door.getsockname()).close()
    assert socket.gethostname() == "sandbox"
    said = subprocess.run(["sh", "-c", "echo a b | tr ' ' '-'"], capture_output=True, text=True)
    print(said.stdout.strip())
"""


def test_ordinary_programs_work(zygote: Zygote) -> None:
    """Processes, threads, shared memory, loopback, databases: the walls are not in their way."""
    limits = Limits(wall_seconds=90, cpu_seconds=60)
    job = Job(("python3", "main.py"), files={"main.py": ORDINARY}, limits=limits)
    result = run_in(zygote.open, job)
    assert (result.status, result.stdout) == ("ok", b"a-b\n"), result


def test_variables_are_the_jobs_own(run_python: Run) -> None:
    result = run_python("import os; print(sorted(os.environ.items()))", env={"GREETING": "hello"})
    said = result.stdout.decode()
    assert "('GREETING', 'hello')" in said
    names = {name for name, _ in eval(said)}
    assert names == {
        "GREETING", "PATH", "HOME", "TMPDIR", "LANG", "OUTPUT_DIR", "PYTHONDONTWRITEBYTECODE",
    }  # fmt: skip


@pytest.mark.req("SBX-3")
def test_files_go_in_and_come_out(run_python: Run, tmp_path: Path) -> None:
    (tmp_path / "given.bin").write_bytes(bytes(range(256)) * 1000)
    result = run_python(
        "import os, shutil\n"
        "os.makedirs('out/deep/er')\n"
        "shutil.copy('in/a.bin', 'out/deep/er/b.bin')\n"
        "open(os.environ['OUTPUT_DIR'] + '/note.txt', 'w').write(open('note').read())\n"
        "open('elsewhere', 'w').write('vanishes')\n",
        files={"in/a.bin": tmp_path / "given.bin", "note": "für dich".encode()},
    )
    assert result.status == "ok", result.stderr
    assert result.files == (
        OutputFile("deep/er/b.bin", bytes(range(256)) * 1000),
        OutputFile("note.txt", "für dich".encode()),
    )


@pytest.mark.req("SBX-3")
def test_only_plain_files_come_out(run_python: Run) -> None:
    """Links, pipes, sockets and strange names stay; nothing outside of the folder is reached."""
    result = run_python(
        "import os, socket\n"
        "os.chdir('out')\n"
        "os.symlink('/etc/passwd', 'link')\n"
        "os.symlink('/', 'top')\n"
        "os.mkfifo('pipe')\n"
        "socket.socket(socket.AF_UNIX).bind('door')\n"
        "open('two\\nlines', 'w').close()\n"
        "open(b'bad\\xff', 'w').close()\n"
        "open('..hidden', 'w').close()\n"
        "open('closed', 'w').close(); os.chmod('closed', 0)\n"
        "open('plain', 'w').write('x')\n"
    )
    assert result.status == "ok", result.stderr
    assert [file.name for file in result.files] == ["plain"]
    assert len(result.usage["skipped"]) == 8


@pytest.mark.req("SBX-3")
def test_a_folder_that_became_a_link_gives_nothing(run_python: Run) -> None:
    code = "import os\nos.rmdir('out')\nos.symlink('/etc', 'out')\n"
    result = run_python(code)
    assert (result.status, result.files) == ("ok", ())


@pytest.mark.req("SBX-3")
def test_files_that_come_out_are_bounded(run_python: Run) -> None:
    code = (
        "import os\n"
        "for n in range(20): open(f'out/{n:02}', 'wb').write(b'x' * 1000)\n"
        "os.makedirs('out/' + '/'.join('abcdefghijkl'))\n"
        "open('out/' + '/'.join('abcdefghijkl') + '/x', 'w').close()\n"
    )
    limits = Limits(wall_seconds=90, cpu_seconds=60, output_files=5)
    few = run_python(code, limits=limits)
    assert [file.name for file in few.files] == ["00", "01", "02", "03", "04"]
    limits = Limits(wall_seconds=90, cpu_seconds=60, output_files_bytes=3500)
    small = run_python(code, limits=limits)
    assert len(small.files) == 3 and small.usage["skipped"]


def test_a_command_that_does_not_exist_is_an_error(zygote: Zygote) -> None:
    result = run_in(zygote.open, Job(("no-such-program",)))
    assert (result.status, result.exit_code) == ("error", 127)
    assert b"not found" in result.stderr


@pytest.mark.req("SBX-4")
def test_a_signal_is_told(run_python: Run) -> None:
    result = run_python("import os; os.kill(os.getpid(), 11)")
    assert (result.status, result.exit_code) == ("signal", -11)


def test_jobs_share_nothing(zygote: Zygote) -> None:
    """Not files, not processes, not sockets, one after the other and side by side."""
    code = (
        "import os, socket, sys\n"
        "door = socket.create_server(('127.0.0.1', 8080))\n"
        "abstract = socket.socket(socket.AF_UNIX); abstract.bind('\\0same')\n"
        "found = [p for p in ('/tmp/mark', 'mark', '/dev/shm/mark') if os.path.exists(p)]\n"
        "for p in ('/tmp/mark', 'mark'): open(p, 'w').close()\n"
        "print(found, len([n for n in os.listdir('/proc') if n.isdigit()]))\n"
        "if os.fork() == 0: import time; time.sleep(60)\n"
    )
    job = Job(("python3", "-I", "-S", "-c", code), limits=Limits(wall_seconds=90, cpu_seconds=60))
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: run_in(zygote.open, job), range(12)))
    assert {(result.status, result.stdout) for result in results} == {("ok", b"[] 2\n")}


@pytest.mark.req("SBX-4")
def test_a_job_is_cancelled_with_all_it_started(zygote: Zygote) -> None:
    code = (
        "import os, sys, time\n"
        "for _ in range(3):\n"
        "    if os.fork() == 0: os.setsid(); break\n"
        "time.sleep(3600)\n"
    )
    mark = uuid.uuid4().hex

    def cancelled() -> bool:
        return len(alive(mark)) == 4

    job = Job(("python3", "-c", code, mark), limits=Limits(wall_seconds=90))
    result = run_in(zygote.open, job, cancelled=cancelled)
    assert (result.status, result.files) == ("cancelled", ())
    assert alive(mark) == []


def test_a_job_that_is_cancelled_before_does_not_start() -> None:
    def refuse(_: Job) -> None:
        raise AssertionError("a cell was opened")

    result = run_in(refuse, Job(("true",)), cancelled=lambda: True)  # type: ignore[arg-type]
    assert result.status == "cancelled"


def test_nothing_survives_a_job(zygote: Zygote) -> None:
    """Daemons that left their parents, their session and their output behind."""
    code = (
        "import os, time\n"
        "for _ in range(5):\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        if os.fork(): os._exit(0)\n"
        "        for number in range(3): os.close(number)\n"
        "        time.sleep(3600)\n"
    )
    mark = uuid.uuid4().hex
    result = run_in(zygote.open, Job(("python3", "-c", code, mark)))
    assert result.status == "ok"
    assert alive(mark) == []


def alive(mark: str) -> list[int]:
    """Processes of the machine with this word in their command, whatever namespace they are in."""
    found = []
    for process in psutil.process_iter():
        try:
            if mark in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


@pytest.mark.parametrize(
    "words",
    [
        {"command": ()},
        {"command": ("a\0b",)},
        {"command": ("true",), "files": {"../x": b""}},
        {"command": ("true",), "files": {"/x": b""}},
        {"command": ("true",), "files": {"a//b": b""}},
        {"command": ("true",), "files": {"out": b""}},
        {"command": ("true",), "files": {"a": b"xx"}, "limits": Limits(disk_bytes=1)},
        {"command": ("true",), "env": {"A=B": "x"}},
        {"command": ("true",), "workspace": Path("/no/such/folder")},
    ],
)
def test_nonsense_is_the_callers_mistake(words: dict[str, object], zygote: Zygote) -> None:
    with pytest.raises(InvalidInput):
        run_in(zygote.open, Job(**words))  # type: ignore[arg-type]


@pytest.mark.req("SBX-4")
def test_every_end_has_a_category_and_a_sentence() -> None:
    """Limits name the limit, so that nobody has to guess which one to raise."""
    said = {status: sentence(Result(status, 3), Limits()) for status in get_args(Status)}
    assert len(set(said.values())) == len(said)
    assert CATEGORY.keys() == said.keys() - {"ok"}
    assert said["memory_limit"] == "The program used more than 512 MB of memory."
