"""Starts an installation in a throw-away folder, measures it, prints a table."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from rich.console import Console
from rich.table import Table

from tests.bench import durable_table, load, policy_table, sandbox

ROOT = Path(__file__).resolve().parents[2]
PHASE = re.compile(r"(?:✓|ok)\s+(.+?)\s+(\d+(?:\.\d+)?) s\s*$")
PASSWORD = re.compile(r"[A-Za-z2-9]{5}(?:-[A-Za-z2-9]{5}){3}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Installation:
    """One run of the platform under its own supervisor."""

    def __init__(self, home: Path) -> None:
        self.port = free_port()
        self.home = home
        self.environment = {
            **os.environ,
            "OMNI_HOME": str(home),
            "OMNI_PORT": str(self.port),
            "OMNI_RATE_USER": "10000000/min",
            "OMNI_RATE_ANON": "10000000/min",
            "OMNI_LOG_LEVEL": "WARNING",
            "NO_COLOR": "1",
        }

    def command(self, *words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "omni.services", *words],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"`{' '.join(words)}` failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def up(self) -> tuple[dict[str, float], float]:
        start = time.perf_counter()
        text = self.command("up", "--detach")
        total = time.perf_counter() - start
        return {m[1]: float(m[2]) for m in map(PHASE.search, text.splitlines()) if m}, total

    def password(self) -> str:
        """Kept in a private file when there is no terminal to show it on."""
        kept = (self.home / "keys" / "first-password.txt").read_text()
        return str(PASSWORD.findall(kept)[0])

    def token(self) -> str:
        return (self.home / "keys" / "cli.token").read_text().strip()


@contextmanager
def bare_django() -> Iterator[int]:
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", "tests.bench.bare:application"]
    command += ["--port", str(port), "--log-level", "warning", "--no-access-log"]
    process = subprocess.Popen(command, cwd=ROOT)
    try:
        for _ in range(100):
            try:
                httpx.get(f"http://127.0.0.1:{port}/bare")
                break
            except httpx.TransportError:
                time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait()


def signed_in_cookie(installation: Installation) -> str:
    base = f"http://127.0.0.1:{installation.port}"
    with httpx.Client(base_url=base, follow_redirects=True) as client:
        page = client.get("/login")
        form = {
            "csrfmiddlewaretoken": client.cookies["omni_csrf"],
            "username": "admin@omni.local",
            "password": installation.password(),
        }
        page = client.post("/login", data=form, headers={"Referer": f"{base}/login"})
        page.raise_for_status()
        return f"omni_session={client.cookies['omni_session']}"


def measure(seconds: float) -> dict[str, object]:
    home = Path(tempfile.mkdtemp(prefix="omni-bench-"))
    installation = Installation(home)
    try:
        first, first_total = installation.up()
        installation.command("down")
        second, second_total = installation.up()
        cookie = {"Cookie": signed_in_cookie(installation)}
        bearer = {"Authorization": f"Bearer {installation.token()}"}
        targets = {
            "API project list": ("/api/projects", bearer),
            "/healthz": ("/healthz", {}),
            "/readyz": ("/readyz", {}),
            "page: sign-in": ("/login", {}),
            "page: dashboard": ("/", cookie),
            "page: projects": ("/projects/", cookie),
        }
        with bare_django() as port:
            load.run(port, "/bare", seconds=0.5)
            results = {"bare Django view": load.run(port, "/bare", seconds=seconds)}
            for name, (path, headers) in targets.items():
                load.run(installation.port, path, headers=headers, seconds=0.5)
                results[name] = load.run(installation.port, path, headers=headers, seconds=seconds)
        return {
            "first": first | {"total": first_total},
            "second": second | {"total": second_total},
            "http": results,
        }
    finally:
        installation.command("down")
        shutil.rmtree(home, ignore_errors=True)


def show(found: dict[str, object]) -> None:
    console = Console()
    first, second = found["first"], found["second"]
    assert isinstance(first, dict) and isinstance(second, dict)
    table = Table("phase", "first start", "second start", title="Start-up, seconds")
    for name in dict.fromkeys([*first, *second]):
        cells = [f"{part[name]:.2f}" if name in part else "–" for part in (first, second)]
        table.add_row(name, *cells)
    console.print(table)

    results = found["http"]
    assert isinstance(results, dict)
    floor = results["bare Django view"].rate
    table = Table(
        "target", "requests/s", "÷ bare", "p50 ms", "p99 ms", "statuses", title="HTTP, 8 clients"
    )
    for name, one in results.items():
        table.add_row(
            name,
            f"{one.rate:.0f}",
            f"{one.rate / floor:.2f}",
            f"{one.quantile(0.5) * 1000:.1f}",
            f"{one.quantile(0.99) * 1000:.1f}",
            " ".join(f"{status}×{count}" for status, count in sorted(one.statuses.items())),
        )
    console.print(table)
    console.print(
        "The floor is one Django view without middleware under the same uvicorn, in this run; "
        "clients and servers share the machine's cores."
    )


def as_json(found: dict[str, object]) -> str:
    results = found["http"]
    assert isinstance(results, dict)
    http = {
        name: {"rate": one.rate, "p50": one.quantile(0.5), "p99": one.quantile(0.99)}
        for name, one in results.items()
    }
    return json.dumps({**found, "http": http}, indent=2)


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("--seconds", type=float, default=4.0, help="per target")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure(options.seconds)
    if options.json:
        tables = {
            "runs": durable_table.measure(),
            "policy": policy_table.measure(),
            "sandbox": sandbox.measure(),
        }
        print(as_json({**found, **tables}))
        return
    show(found)
    durable_table.show(durable_table.measure())
    policy_table.show(policy_table.measure())
    sandbox.show(sandbox.measure())


if __name__ == "__main__":
    main()
