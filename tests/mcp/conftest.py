"""All servers in one process, started once, and what reaches them."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.tools.mcp.target import Target, Transport

ROOT = Path(__file__).resolve().parents[2]


class Servers:
    """Addresses of the friendly server and of each hostile one."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.pair = f"127.0.0.1:{port}"

    def url(self, path: str) -> str:
        return f"http://{self.pair}{path}"

    def target(self, path: str, transport: Transport = "streamable_http", **more: Any) -> Target:
        more.setdefault("allow_private", frozenset({self.pair}))
        return Target("tested", transport, url=self.url(path), **more)

    def hostile(self, way: str) -> Target:
        return self.target(f"/hostile/{way}")

    def evolve(self, *tools: dict[str, Any]) -> int:
        """Give the changing server these definitions; how often it was called so far."""
        body = json.dumps(tools).encode()
        request = urllib.request.Request(self.url("/evolve"), body, method="PUT")
        with urllib.request.urlopen(request, timeout=30) as answer:
            return int(answer.read())


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    command = [sys.executable, "-m", "tests.mcp"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Servers(int(process.stdout.readline()))
        finally:
            process.kill()


@pytest.fixture
def register(project: Any, administrator: Any, servers: Servers) -> Callable[..., Any]:
    """Puts one of the servers into Apollo; an operator allows its private address."""
    from apps.tools.services.mcp_servers import add_server

    def make(path: str = "/mcp", *, slug: str = "tested", **more: Any) -> Any:
        more.setdefault("transport", "streamable_http")
        more.setdefault("allowed_private", [servers.pair])
        return add_server(
            actor=administrator, project=project, slug=slug, url=servers.url(path),
            as_operator=True, **more,
        )  # fmt: skip

    return make
