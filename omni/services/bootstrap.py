# ruff: noqa: UP006, UP031, UP035, UP045, S603, RUF005
"""Makes `.venv` from the hashed locks before anything else can run; run by the system's python3.

Only the standard library, and only syntax that Python 3.6 reads: a Python that is too old must
reach the sentence that says so.
"""

import errno
import fcntl
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from typing import Dict, List, NoReturn, Optional, Tuple

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VENV = os.path.join(ROOT, ".venv")
TOOLS = os.path.join(ROOT, ".venv-tools")
STAMP = os.path.join(VENV, "omni-stamp.json")
INSTALL_LOG = os.path.join(TOOLS, "install.log")
OLDEST = (3, 11)
OLDEST_UV = (0, 5)
CANDIDATES = ("python3.11", "python3.12", "python3.13", "python3")
ENOUGH_MB = 700
DEBIANS_WHEELS = "/usr/share/python-wheels"

# What an installer says, and what a person should hear instead.
EXPLANATIONS = (
    (
        r"No space left|disk quota",
        "The disk that holds {root} is full.",
        "Free at least 1 GB, then run the same command again.",
    ),
    (
        r"hash mismatch|DO NOT MATCH THE HASHES",
        "A downloaded package is not the one that was pinned.",
        "Try again; if it stays, something between you and the package index changes files.",
    ),
    (
        r"no wheels? (?:is |are )?(?:available |usable )?(?:for|with a)|doesn't have a source dist",
        "A pinned package does not exist for this platform or Python.",
        "Use Python 3.11 on Linux x86_64 or aarch64; choose it with `make up PYTHON=…`.",
    ),
    (
        r"dns error|resolve|connect|timed? ?out|unreachable|Failed to (?:fetch|download)|network"
        r"|No matching distribution|certificate|request failed",
        "The packages could not be downloaded: the package index does not answer.",
        "Check the network and HTTPS_PROXY, then run the same command again; nothing is lost.",
    ),
    (
        r"Permission denied|Read-only file system",
        "The folder {root} cannot be written by this user.",
        "Change its owner, or copy it to a folder of your own.",
    ),
)


class Problem(Exception):
    """A sentence and a remedy for the person at the terminal."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy


def main(argv: List[str]) -> int:
    # Root's servers run as another user, who must be able to read their programs.
    os.umask(0o022)
    try:
        prepare(with_tests="--tests" in argv)
    except Problem as problem:
        sys.stderr.write("\n  %s\n  %s\n" % (problem.message, problem.remedy))
        return 1
    except OSError as error:
        sys.stderr.write("\n  %s\n  %s\n" % explain_os_error(error))
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("\n  Interrupted; run the same command again to go on.\n")
        return 130
    return 0


def prepare(with_tests: bool) -> None:
    """Bring `.venv` in line with the locks; does nothing when its stamp says that it is."""
    known = read_stamp()
    with_tests = with_tests or bool(known.get("tests"))
    wanted = wanted_stamp(with_tests)
    if is_current(known, wanted):
        return
    lock = os.open(ROOT, os.O_RDONLY)
    try:
        # Two starts at once install once; the second finds the work done.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_current(read_stamp(), wanted):
            install(wanted, with_tests)
    finally:
        os.close(lock)


def install(wanted: Dict[str, str], with_tests: bool) -> None:
    require_room()
    began = time.time()
    sys.stdout.write("Preparing Omni in %s\n" % ROOT)
    python = find_python()
    uv = find_uv(python)
    if os.path.exists(STAMP):
        os.unlink(STAMP)
    if not venv_works():
        command = [uv, "venv", "--clear", "--no-project", "--python", python, VENV]
        run("Virtual environment", command)
    locks = [os.path.join(ROOT, "requirements.txt")]
    if with_tests:
        locks.append(os.path.join(ROOT, "tests", "requirements.txt"))
    label = "Packages (%d)" % count_packages(locks)
    run(label, [uv, "pip", "sync", "--python", venv_python(), "--require-hashes"] + locks)
    link_project()
    write_file(STAMP, json.dumps(wanted, indent=2) + "\n")
    sys.stdout.write("Prepared in %.1f s\n\n" % (time.time() - began))


# --- what is there, what is wanted ---------------------------------------------------------------


def venv_python() -> str:
    return os.path.join(VENV, "bin", "python")


def wanted_stamp(with_tests: bool) -> Dict[str, str]:
    stamp = {"root": ROOT, "requirements": digest(os.path.join(ROOT, "requirements.txt"))}
    if with_tests:
        stamp["tests"] = digest(os.path.join(ROOT, "tests", "requirements.txt"))
    return stamp


def is_current(known: Dict[str, str], wanted: Dict[str, str]) -> bool:
    return known == wanted and os.access(venv_python(), os.X_OK)


def digest(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except FileNotFoundError:
        raise Problem(
            "The file %s is missing." % path, "Get a complete copy of the repository."
        ) from None


def read_stamp() -> Dict[str, str]:
    try:
        with open(STAMP) as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def count_packages(locks: List[str]) -> int:
    names = set()
    for lock in locks:
        with open(lock) as file:
            names |= {line.split("==")[0] for line in file if re.match(r"[A-Za-z0-9]", line)}
    return len(names)


def venv_works() -> bool:
    version = python_version(venv_python())
    return version is not None and version >= OLDEST


def require_room() -> None:
    if not os.access(ROOT, os.W_OK):
        raise Problem(
            "The folder %s cannot be written by this user." % ROOT,
            "Change its owner, or copy it to a folder of your own.",
        )
    free = shutil.disk_usage(ROOT).free // 2**20
    if free < ENOUGH_MB:
        raise Problem(
            "Only %d MB are free on the disk that holds %s." % (free, ROOT),
            "Free at least 1 GB, then run the same command again.",
        )


# --- Python and uv -------------------------------------------------------------------------------


def find_python() -> str:
    """The interpreter for the environment: PYTHON= if given, else the first that is new enough."""
    chosen = os.environ.get("PYTHON", "")
    newest = None
    for name in [chosen] if chosen else CANDIDATES:
        path = shutil.which(name)
        version = python_version(path) if path else None
        if path and version and version >= OLDEST:
            return path
        newest = max(filter(None, [newest, version]), default=None)
    found = "found %s" % ".".join(map(str, newest)) if newest else "found none"
    raise Problem(
        "Omni needs Python 3.11 or newer; %s%s." % (found, " as " + chosen if chosen else ""),
        "Install it (Debian: `apt-get install python3`) or name it: `make up PYTHON=/path/to/it`.",
    )


def python_version(path: str) -> Optional[Tuple[int, ...]]:
    code = "import sys; print('%d %d' % sys.version_info[:2])"
    try:
        answer = subprocess.run(
            [path, "-I", "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=20
        )
        return tuple(int(part) for part in answer.stdout.split()) or None
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def find_uv(python: str) -> str:
    """From PATH or an earlier start, else the pinned one, fetched by pip into a folder of ours."""
    ours = os.path.join(TOOLS, "bin", "uv")
    for path in (shutil.which("uv"), ours):
        if path and uv_version(path) >= OLDEST_UV:
            return path
    pinned = os.path.join(ROOT, "omni", "services", "installer.txt")
    command = find_pip(python) + ["install", "--quiet", "--disable-pip-version-check"]
    command += ["--no-input", "--retries", "1", "--timeout", "20", "--upgrade", "--no-deps"]
    run("Installer", command + ["--require-hashes", "--target", TOOLS, "-r", pinned])
    return ours


def uv_version(path: str) -> Tuple[int, ...]:
    try:
        answer = subprocess.run(
            [path, "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=20
        )
        match = re.search(rb"(\d+)\.(\d+)", answer.stdout)
        return tuple(int(part) for part in match.groups()) if match else (0,)
    except (OSError, subprocess.SubprocessError):
        return (0,)


def find_pip(python: str) -> List[str]:
    """pip may be absent on Debian, which keeps it in packages of its own; root may fetch one."""
    pip = known_pip(python)
    if not pip and is_debians(python) and os.geteuid() == 0 and shutil.which("apt-get"):
        apt = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q"]
        # A fresh machine knows no packages yet, an old one only such that are gone.
        run("Debian's package list", apt + ["update"])
        run("Debian's pip", apt + ["install", "-y", "--no-install-recommends", "python3-pip-whl"])
        pip = known_pip(python)
    if pip:
        return pip
    raise Problem(
        "%s has no pip, which fetches the installer." % python,
        "Run `sudo apt-get update && sudo apt-get install -y python3-pip-whl`, "
        "or put the program `uv` on PATH; then run the same command again.",
    )


def known_pip(python: str) -> List[str]:
    """The pip of this Python, or one in a wheel: a zip file that runs without being installed."""
    own = [python, "-m", "pip"]
    if quietly(own + ["--version"]):
        return own
    for folder in (bundled_wheels(python), DEBIANS_WHEELS):
        for wheel in sorted(glob.glob(os.path.join(glob.escape(folder), "pip-*.whl")))[::-1]:
            packed = [python, os.path.join(wheel, "pip")]
            if quietly(packed + ["--version"]):
                return packed
    return []


def bundled_wheels(python: str) -> str:
    """Where Python keeps the pip of its ensurepip module; Debian leaves it out."""
    code = "import ensurepip, os; print(os.path.dirname(ensurepip.__file__))"
    try:
        answer = subprocess.check_output([python, "-I", "-c", code], stderr=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        return os.devnull
    return os.path.join(answer.decode().strip(), "_bundled")


def is_debians(python: str) -> bool:
    return os.path.dirname(os.path.realpath(python)) == "/usr/bin"


def quietly(command: List[str]) -> bool:
    nowhere = subprocess.DEVNULL
    return subprocess.call(command, stdout=nowhere, stderr=nowhere, stdin=nowhere) == 0


# --- the project itself --------------------------------------------------------------------------


def link_project() -> None:
    """An editable install by hand: works offline, and with spaces in the path."""
    site = subprocess.check_output(
        [venv_python(), "-I", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    )
    write_file(os.path.join(site.decode().strip(), "omni-checkout.pth"), ROOT + "\n")
    script = '#!/bin/sh\nexec "$(dirname "$(readlink -f "$0")")/python" -P -m omni "$@"\n'
    command = os.path.join(VENV, "bin", "omni")
    write_file(command, script)
    os.chmod(command, 0o755)  # noqa: S103  (a command for everybody who may enter the folder)


def write_file(path: str, text: str) -> None:
    with open(path + ".new", "w") as file:
        file.write(text)
    os.replace(path + ".new", path)


# --- running things with a display ---------------------------------------------------------------


def run(label: str, command: List[str]) -> None:
    """Run an installer behind one line with the time; its own words are only for the log."""
    began = time.time()
    done = threading.Event()
    with tempfile.TemporaryFile() as words:
        show = threading.Thread(target=spin, args=(label, began, done, words.fileno()))
        show.start()
        try:
            code = subprocess.call(
                command, stdin=subprocess.DEVNULL, stdout=words, stderr=words, env=environment()
            )
        finally:
            done.set()
            show.join()
        words.seek(0)
        said = words.read().decode("utf-8", "replace")
    sys.stdout.write("%s  %s %-24s%6.1f s\n" % (erase(), sign(code), label, time.time() - began))
    sys.stdout.flush()
    if code:
        fail(label, said)


def environment() -> Dict[str, str]:
    env = dict(os.environ, UV_PYTHON_DOWNLOADS="never", UV_NATIVE_TLS="1")
    env.pop("VIRTUAL_ENV", None)
    mirror = env.get("PIP_INDEX_URL") or pip_setting("global.index-url")
    if mirror and "UV_DEFAULT_INDEX" not in env and "UV_INDEX_URL" not in env:
        env["UV_DEFAULT_INDEX"] = mirror
    if not os.access(os.path.expanduser("~"), os.W_OK):
        env.setdefault("UV_CACHE_DIR", os.path.join(TOOLS, "cache"))
    return env


def pip_setting(name: str) -> str:
    """A mirror that this machine's pip was told to use is the one to use here."""
    pip = known_pip(sys.executable)
    if not pip:
        return ""
    command = pip + ["config", "get", name]
    answer = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return answer.stdout.decode().strip() if answer.returncode == 0 else ""


def spin(label: str, began: float, done: threading.Event, words: int) -> None:
    while sys.stdout.isatty() and not done.wait(0.1):
        spent = time.time() - began
        turn = "|/-\\"[int(spent * 8) % 4]
        status = "  %s %s  %.1f s  %s" % (turn, label, spent, activity(words))
        sys.stdout.write(erase() + status[:78])
        sys.stdout.flush()


def activity(words: int) -> str:
    """The package that the installer is busy with."""
    size = os.fstat(words).st_size
    lines = os.pread(words, 2000, max(0, size - 2000)).decode("utf-8", "replace").split("\n")
    steps = [line.strip() for line in lines if re.match(r" *(Downloading|Building|\+) \S", line)]
    return steps[-1] if steps else ""


def erase() -> str:
    return "\r\033[K" if sys.stdout.isatty() else ""


def sign(code: int) -> str:
    fancy = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    if fancy:
        return "\u2717" if code else "\u2713"
    return "x " if code else "ok"


def fail(label: str, said: str) -> NoReturn:
    os.makedirs(TOOLS, exist_ok=True)
    write_file(INSTALL_LOG, said)
    for pattern, message, remedy in EXPLANATIONS:
        if re.search(pattern, said, re.IGNORECASE):
            raise Problem(message.format(root=ROOT), remedy)
    raise Problem("The step \u201c%s\u201d failed." % label, "What it said is in %s." % INSTALL_LOG)


def explain_os_error(error: OSError) -> Tuple[str, str]:
    for numbers, words in (
        ((errno.ENOSPC, errno.EDQUOT), "No space left"),
        ((errno.EACCES, errno.EPERM, errno.EROFS), "Permission denied"),
    ):
        if error.errno in numbers:
            for pattern, message, remedy in EXPLANATIONS:
                if re.search(pattern, words):
                    return message.format(root=ROOT), remedy
    return ("The environment could not be prepared: %s" % error, "Correct that, then try again.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
