"""The first step of `make up`: an environment from the locks, or one clear sentence."""

from __future__ import annotations

import ast
import base64
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.services.installation import ROOT

pytestmark = pytest.mark.req("OPS-1")
SCRIPT = Path("omni/services/bootstrap.py")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Just enough of a checkout, in a folder with spaces, whose locks name one tiny package."""
    folder = tmp_path / "a check out"
    (folder / "omni/services").mkdir(parents=True)
    (folder / "tests").mkdir()
    for name in ("bootstrap.py", "installer.txt"):
        shutil.copy(ROOT / "omni/services" / name, folder / "omni/services" / name)
    (folder / "omni/__init__.py").touch()
    (folder / "omni/__main__.py").write_text("print('omni speaks')")
    (folder / "requirements.txt").write_text(lock_line(make_wheel(folder, "tiny")))
    (folder / "tests/requirements.txt").write_text(lock_line(make_wheel(folder, "tinytest")))
    return folder


def make_wheel(folder: Path, name: str) -> Path:
    files = {
        f"{name}.py": "",
        f"{name}-1.0.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{name}-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\n"
        "Root-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode()},\n"
        for path, text in files.items()
    ).replace("=,", ",")
    wheels = folder / "wheels"
    wheels.mkdir(exist_ok=True)
    with zipfile.ZipFile(wheels / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
        archive.writestr(f"{name}-1.0.dist-info/RECORD", record)
    return wheels / f"{name}-1.0-py3-none-any.whl"


def lock_line(wheel: Path) -> str:
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return f"{wheel.name.split('-')[0]}==1.0 --hash=sha256:{digest}\n"


def bootstrap(checkout: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    clean = {key: os.environ[key] for key in ("HOME", "LANG", "TMPDIR") if key in os.environ}
    clean |= {"PATH": str(tools(checkout)), "PYTHON": sys.executable, "PYTHONUTF8": "1"}
    return subprocess.run(
        [sys.executable, "-I", str(checkout / SCRIPT), *words],
        cwd="/",
        env={**clean, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )


def tools(checkout: Path) -> Path:
    """All that PATH offers here; above all no apt-get, so that no test changes the machine."""
    folder = checkout.parent / "bin"
    folder.mkdir(exist_ok=True)
    for name in ("sh", "env", "dirname", "readlink"):
        if not (folder / name).exists():
            (folder / name).symlink_to(shutil.which(name) or "/bin/false")
    return folder


def offline(checkout: Path) -> dict[str, str]:
    """The real installer, on a machine without a network that has the wheels."""
    uv = shutil.which("uv") or str(ROOT / ".venv-tools/bin/uv")
    if not os.access(uv, os.X_OK):
        pytest.skip("uv is not here")
    return {
        "PATH": f"{Path(uv).parent}:{tools(checkout)}",
        "UV_FIND_LINKS": str(checkout / "wheels"),
        "UV_OFFLINE": "1",
        "UV_NO_INDEX": "1",
    }


def test_the_environment_follows_the_locks_and_is_made_once(checkout: Path) -> None:
    """Install, then nothing to do; tests are added and stay; a changed lock is noticed."""
    env = offline(checkout)
    first = bootstrap(checkout, **env)
    assert first.returncode == 0, first.stdout
    assert "Packages (1)" in first.stdout
    python = checkout / ".venv/bin/python"
    said = subprocess.check_output([checkout / ".venv/bin/omni"], cwd="/", text=True)
    assert said == "omni speaks\n"

    again = bootstrap(checkout)
    assert (again.returncode, again.stdout) == (0, "")

    assert "Packages (2)" in bootstrap(checkout, "--tests", **env).stdout
    assert bootstrap(checkout).stdout == ""
    subprocess.run([python, "-c", "import tiny, tinytest"], check=True)

    with (checkout / "requirements.txt").open("a") as lock:
        lock.write("# changed\n")
    assert "Packages (2)" in bootstrap(checkout, **env).stdout


def test_a_moved_folder_still_finds_itself(checkout: Path) -> None:
    """The environment is linked to where the checkout is now."""
    env = offline(checkout)
    assert bootstrap(checkout, **env).returncode == 0
    moved = checkout.rename(checkout.with_name("some where else"))
    assert bootstrap(moved, **{**env, "UV_FIND_LINKS": str(moved / "wheels")}).returncode == 0
    code = "import omni; print(omni.__file__)"
    found = subprocess.check_output([moved / ".venv/bin/python", "-c", code], cwd="/", text=True)
    assert "some where else" in found


def refusal(done: subprocess.CompletedProcess[str], *words: str) -> None:
    assert done.returncode == 1, done.stdout
    assert "Traceback" not in done.stdout and "://" not in done.stdout
    for word in words:
        assert word in done.stdout, done.stdout


def test_no_network(checkout: Path) -> None:
    """Neither pip nor uv reaches an index: one sentence, and the index is not named."""
    dead = {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": "http://127.0.0.1:9/simple"}
    dead["PYTHON"] = os.path.realpath(sys.executable)
    refusal(bootstrap(checkout, **dead), "could not be downloaded", "network")
    env = {**offline(checkout), **dead, "UV_OFFLINE": "0", "UV_NO_INDEX": "0", "UV_FIND_LINKS": ""}
    refusal(bootstrap(checkout, **env, UV_HTTP_RETRIES="0"), "could not be downloaded")


def test_a_package_that_is_not_the_pinned_one(checkout: Path) -> None:
    """A wheel with another hash is never installed."""
    lock = checkout / "requirements.txt"
    lock.write_text(lock.read_text()[:-9] + "00000000\n")
    refusal(bootstrap(checkout, **offline(checkout)), "not the one that was pinned")


@pytest.fixture
def bare_python(tmp_path: Path) -> Path:
    """Debian's Python as it comes: neither pip nor ensurepip."""
    python = tmp_path / "python3.11"
    blind = "import sys; sys.modules.update(ensurepip=None)"
    python.write_text(
        "#!/bin/sh\n"
        'case "$1 $2" in "-m pip") exit 1;; esac\n'
        f'case "$3" in "import ensurepip"*) exec {sys.executable} -c "{blind}; $3";; esac\n'
        f'exec {sys.executable} "$@"\n'
    )
    python.chmod(0o755)
    return python


def in_script(checkout: Path, python: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Part of the script, on a machine whose commands are those of `tools`."""
    start = (
        f"import sys; sys.path.insert(0, {str(checkout / 'omni/services')!r}); import bootstrap\n"
    )
    return subprocess.run(
        [sys.executable, "-I", "-c", f"{start}python = {str(python)!r}\n{code}"],
        env={"PATH": str(tools(checkout)), "HOME": "/nonexistent"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_debians_wheel_serves_where_pip_is_missing(checkout: Path, bare_python: Path) -> None:
    """Nothing is installed on the machine: the wheel that Debian ships is run as it is."""
    wheels = checkout / "some wheels"
    wheels.mkdir()
    with zipfile.ZipFile(wheels / "pip-23.0-py3-none-any.whl", "w") as archive:
        archive.writestr("pip/__main__.py", "print('pip 23.0')")
    code = (
        f"bootstrap.DEBIANS_WHEELS = {str(wheels)!r}\n"
        "import subprocess; subprocess.call(bootstrap.find_pip(python))"
    )
    assert in_script(checkout, bare_python, code).stdout == "pip 23.0\n"


def test_without_pip_root_refreshes_the_package_list_first(
    checkout: Path, bare_python: Path, tmp_path: Path
) -> None:
    """On a fresh Debian nothing can be installed before `apt-get update`; both are shown."""
    wheels, story = tmp_path / "wheels", tmp_path / "story"
    apt = tools(checkout) / "apt-get"
    apt.write_text(f'#!/bin/sh\necho "$@" >> "{story}"\n')
    apt.chmod(0o755)
    code = (
        f"bootstrap.DEBIANS_WHEELS = {str(wheels)!r}; bootstrap.is_debians = lambda python: True\n"
        "bootstrap.os.geteuid = lambda: 0\n"
        "try: bootstrap.find_pip(python)\n"
        "except bootstrap.Problem as problem: print(problem.remedy)"
    )
    said = in_script(checkout, bare_python, code).stdout
    first, second = story.read_text().splitlines()
    assert first.endswith("update") and second.endswith("python3-pip-whl")
    assert "package list" in said and "Debian's pip" in said and "apt-get update &&" in said


def test_without_pip_an_ordinary_user_gets_the_command(checkout: Path, bare_python: Path) -> None:
    """One sentence, and the line to type."""
    code = (
        "bootstrap.DEBIANS_WHEELS = '/nowhere'; bootstrap.os.geteuid = lambda: 1000\n"
        "sys.exit(bootstrap.main([]))"
    )
    wanted = f"bootstrap.find_python = lambda: {str(bare_python)!r}\n"
    done = in_script(checkout, bare_python, wanted + code)
    refusal(done, "has no pip", "sudo apt-get update && sudo apt-get install -y python3-pip-whl")


def test_a_wrong_python(checkout: Path, tmp_path: Path) -> None:
    """The Python that was named is too old, or does not exist."""
    old = tmp_path / "python3.8"
    old.write_text("#!/bin/sh\necho 3 8\n")
    old.chmod(0o755)
    refusal(
        bootstrap(checkout, PYTHON=str(old)), "needs Python 3.11 or newer; found 3.8", "PYTHON="
    )
    refusal(bootstrap(checkout, PYTHON="/no/such/python"), "found none")


def test_an_old_python_can_read_the_script() -> None:
    """It must parse under 3.6 to reach its own sentence."""
    ast.parse((ROOT / SCRIPT).read_text(), feature_version=(3, 6))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_folder_of_somebody_else(checkout: Path) -> None:
    """An ordinary user in root's checkout gets the sentence, not a traceback."""
    place = Path(f"/tmp/omni locked {os.getpid()}")
    shutil.copytree(checkout, place)
    try:
        done = subprocess.run(
            ["/usr/bin/python3", "-I", place / SCRIPT],
            cwd="/",
            env={"PATH": str(tools(checkout)), "HOME": "/nonexistent", "PYTHONUTF8": "1"},
            user=65534,
            group=65534,
            extra_groups=[],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        refusal(done, "cannot be written by this user")
    finally:
        shutil.rmtree(place)


def test_make_teaches_and_works_before_the_first_start(tmp_path: Path) -> None:
    """`make` lists its targets; `make status` says what to do first."""
    folder = tmp_path / "fresh clone"
    folder.mkdir()
    shutil.copy(ROOT / "Makefile", folder)
    listing = subprocess.run(
        ["make"], cwd=folder, capture_output=True, text=True, check=True
    ).stdout
    for target in ("up", "down", "status", "logs", "reset", "test"):
        assert f"make {target}" in listing
    status = subprocess.run(["make", "status"], cwd=folder, capture_output=True, text=True)
    assert status.returncode != 0 and "make up" in status.stdout
    missing = subprocess.run(
        ["make", "up", "PYTHON=no-such-python"], cwd=folder, capture_output=True, text=True
    )
    assert missing.returncode != 0 and "no-such-python was not found" in missing.stderr
