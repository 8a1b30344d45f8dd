"""`make test`: the linters beside pytest, both readable, pytest's closing line last."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time

PYTHON = sys.executable
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
LINTERS = {
    "ruff check": [PYTHON, "-m", "ruff", "check", "."],
    "ruff format": [PYTHON, "-m", "ruff", "format", "--check", "."],
    "migrations": [PYTHON, "manage.py", "makemigrations", "--check", "--dry-run"],
    "import-linter": [PYTHON, "-c", "from importlinter.cli import lint_imports_command as c; c()"],
    "mypy": [PYTHON, "-m", "mypy"],
}


def main(arguments: list[str]) -> int:
    if arguments == ["--only-lint"]:
        failed, report = lint()
        print(report)
        return 1 if failed else 0
    browser = find_browser() or install_browser()
    if not browser and os.environ.get("CI", "").lower() in ("1", "true", "yes"):
        print("Chromium is missing and could not be installed; with CI=true its tests must run.")
        return 1
    linting = Linting()
    linting.start()
    code, closing_line = pytest(arguments, browser=bool(browser))
    linting.join()
    print(f"\n{linting.report}\n")
    if not browser:
        print("The browser part did not run: there is no Chromium. `apt-get install chromium`\n")
    print(closing_line, end="", flush=True)
    return 1 if linting.failed or code else 0


class Linting(threading.Thread):
    """Runs while pytest does; its report is held back so that the two do not mix."""

    failed = True
    report = "The linters did not finish."

    def run(self) -> None:
        self.failed, self.report = lint()


def lint() -> tuple[bool, str]:
    """Every linter, also after one failed; says only what went wrong."""
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.typing_settings"}
    lines, failed = [], False
    for name, command in LINTERS.items():
        began = time.monotonic()
        result = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env
        )
        verdict = "failed" if result.returncode else "ok"
        lines.append(f"  {name:<16}{verdict:<8}{time.monotonic() - began:5.1f} s")
        if result.returncode:
            failed = True
            lines.append(result.stdout.rstrip())
    return failed, "\n".join(lines)


def pytest(arguments: list[str], *, browser: bool) -> tuple[int, str]:
    """Its output as it comes, except for the closing line, which is kept for the end."""
    command = [PYTHON, "-m", "pytest", "-n", "2", "--dist", "loadgroup", *arguments]
    if not browser:
        command += ["-m", "not browser"]
    if sys.stdout.isatty():
        command += ["--color=yes"]
    held = ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(held, end="", flush=True)
            held = line
    return process.returncode, held


def find_browser() -> str:
    return next(filter(None, map(shutil.which, BROWSERS)), "")


def install_browser() -> str:
    """Debian's own, where we may; pages are then tested in the browser that people have."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return ""
    print("Installing Debian's chromium for the browser tests …", flush=True)
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-y", "--no-install-recommends", "chromium"]
    for command in (install, ["apt-get", "update"], install):
        quiet = subprocess.DEVNULL
        subprocess.run(command, env=env, stdout=quiet, stderr=quiet, stdin=quiet)
        if found := find_browser():
            return found
    return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
